#include "wire/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/utf8.h"
#include "wire/json_scanner.h"

namespace berth {
namespace {

// The fewest decimal digits that tell a number apart: 0.d1d2d3… * 10^point.
struct Digits {
  bool negative = false;
  std::string digits;
  int point = 0;
};

template <typename Float>
Digits shortest_digits(Float value) {
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific).ptr;
  std::string_view rest(text, static_cast<std::size_t>(end - text));
  Digits out;
  out.negative = rest.starts_with('-');
  if (out.negative) rest.remove_prefix(1);
  const std::size_t e = rest.find('e');
  for (const char c : rest.substr(0, e))
    if (c != '.') out.digits.push_back(c);
  std::string_view exponent = rest.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int power = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  out.point = power + 1;
  return out;
}

std::string positional(const Digits& number) {
  std::string out = number.negative ? "-" : "";
  if (number.point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-number.point), '0');
    return out + number.digits;
  }
  const auto whole = static_cast<std::size_t>(number.point);
  if (number.digits.size() <= whole) {
    out += number.digits;
    out.append(whole - number.digits.size(), '0');
    return out;
  }
  return out + number.digits.substr(0, whole) + '.' + number.digits.substr(whole);
}

std::string scientific(const Digits& number, int exponent_digits) {
  const int power = number.point - 1;
  std::string mantissa = number.digits.substr(0, 1);
  if (number.digits.size() > 1) mantissa += '.' + number.digits.substr(1);
  return fmt::format("{}{}e{}{:0{}}", number.negative ? "-" : "", mantissa, power < 0 ? '-' : '+',
                     std::abs(power), exponent_digits);
}

// How many characters at the beginning of `text` stand for themselves.
std::size_t plain_length(std::string_view text) {
  const auto odd = std::ranges::find_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x80 || c == '"' || c == '\\';
  });
  return static_cast<std::size_t>(odd - text.begin());
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    // Nearly all text is plain: it goes in one piece.
    const std::size_t plain = plain_length(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    std::size_t taken = 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (taken = utf8_length(text); taken > 0) {
          out.append(text.substr(0, taken));
        } else {
          taken = 1;
          out += "\\ufffd";
        }
    }
    text.remove_prefix(taken);
  }
  out.push_back('"');
}

std::string go_float(double value) {
  const double size = std::abs(value);
  const Digits digits = shortest_digits(value);
  if (size != 0 && (size < 1e-6 || size >= 1e21)) return scientific(digits, 1);
  return value == 0 ? (digits.negative ? "-0" : "0") : positional(digits);
}

std::string go_float_general(float value) {
  const Digits digits = shortest_digits(value);
  if (value == 0) return digits.negative ? "-0" : "0";
  const int power = digits.point - 1;
  return power < -4 || power >= 6 ? scientific(digits, 2) : positional(digits);
}

std::optional<std::vector<JsonSlice>> split_json_objects(std::string_view text) {
  JsonScanner json(text);
  std::vector<JsonSlice> objects;
  for (json.skip_space(); !json.at_end(); json.skip_space()) {
    const std::size_t begin = json.position();
    const std::size_t line = json.line();
    if (!json.object(1)) return std::nullopt;
    objects.push_back({text.substr(begin, json.position() - begin), line});
  }
  return objects;
}

}  // namespace berth
