// Characters of ASCII, whatever the locale: what HTTP, Kubernetes names and numbers are made of.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace berth {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = lower_case(c);
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
