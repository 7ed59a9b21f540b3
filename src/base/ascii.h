// Characters of ASCII, whatever the locale: what HTTP, Kubernetes names and numbers are made of.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace berth {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_lower_case(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper_case(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_lower_case(c) || is_upper_case(c); }
constexpr bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

// The value of a hexadecimal digit; -1 if it is none.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char lower_case(char c) {
  return is_upper_case(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = lower_case(c);
  return lower;
}

// "preEnqueue" for "PreEnqueue".
inline std::string lower_first(std::string_view text) {
  std::string lower(text);
  if (!lower.empty()) lower.front() = lower_case(lower.front());
  return lower;
}

inline bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower_case(x) == lower_case(y); });
}

// Without leading and trailing characters of `space`.
constexpr std::string_view trimmed(std::string_view text, std::string_view space = " \t\n\v\f\r") {
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

}  // namespace berth
