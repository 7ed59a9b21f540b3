#include "wire/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/keyed_hash.h"
#include "base/utf8.h"

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

// Walks over JSON without keeping anything but the keys of the open objects.
class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_(text) {}

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') break;
    }
  }
  bool at_end() const { return at_ == text_.size(); }
  std::size_t position() const { return at_; }
  std::size_t line() const { return line_; }

  bool object(std::size_t depth) {
    if (depth > kMaxNesting || !take('{')) return false;
    boost::unordered_flat_set<std::string_view, TextHash> keys;
    skip_space();
    if (take('}')) return true;
    do {
      skip_space();
      const std::size_t begin = at_;
      if (!string()) return false;
      const std::string_view key = text_.substr(begin, at_ - begin);
      // Two ways to write one key: left to the slow road.
      if (key.find('\\') != key.npos || !keys.insert(key).second) return false;
      skip_space();
      if (!take(':') || !value(depth)) return false;
      skip_space();
    } while (take(','));
    return take('}');
  }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  std::size_t digits() {
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - from;
  }

  bool value(std::size_t depth) {
    skip_space();
    if (at_end()) return false;
    switch (text_[at_]) {
      case '{': return object(depth + 1);
      case '[': return array(depth + 1);
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

  bool array(std::size_t depth) {
    if (depth > kMaxNesting || !take('[')) return false;
    skip_space();
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
      skip_space();
    } while (take(','));
    return take(']');
  }

  bool number() {
    take('-');
    const bool zero = at_ < text_.size() && text_[at_] == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (take('.') && digits() == 0) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (digits() == 0) return false;
    }
    return true;
  }

  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return false;
      if (c == '\\') {
        if (!escape()) return false;
      } else if (c < 0x80) {
        ++at_;
      } else {
        const std::size_t length = utf8_length(text_.substr(at_));
        if (length == 0) return false;
        at_ += length;
      }
    }
    return false;
  }

  std::optional<std::uint32_t> hex4() {
    std::uint32_t code = 0;
    if (at_ + 4 > text_.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(&text_[at_], &text_[at_] + 4, code, 16);
    if (error != std::errc() || end != &text_[at_] + 4) return std::nullopt;
    at_ += 4;
    return code;
  }

  bool escape() {
    ++at_;
    if (at_end()) return false;
    const char c = text_[at_++];
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    const auto code = hex4();
    if (!code) return false;
    if (*code < 0xD800 || *code > 0xDFFF) return true;
    // Half a pair is no character.
    if (*code > 0xDBFF || !take('\\') || !take('u')) return false;
    const auto low = hex4();
    return low && *low >= 0xDC00 && *low <= 0xDFFF;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

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
  JsonChecker checker(text);
  std::vector<JsonSlice> objects;
  for (checker.skip_space(); !checker.at_end(); checker.skip_space()) {
    const std::size_t begin = checker.position();
    const std::size_t line = checker.line();
    if (!checker.object(1)) return std::nullopt;
    objects.push_back({text.substr(begin, checker.position() - begin), line});
  }
  return objects;
}

}  // namespace berth
