#include "config/go_values.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "wire/json_text.h"

namespace berth::config {
namespace {

std::unexpected<Error> complain(std::string_view function, std::string_view text,
                                std::string_view what) {
  return fail(ErrorKind::kInvalid,
              fmt::format("strconv.{}: parsing {}: {}", function, go_quoted(text), what));
}
std::unexpected<Error> bad_syntax(std::string_view function, std::string_view text) {
  return complain(function, text, "invalid syntax");
}
std::unexpected<Error> out_of_range(std::string_view function, std::string_view text) {
  return complain(function, text, "value out of range");
}

// Underscores stand between digits, or between a base's prefix and the first digit.
bool underscores_stand_well(std::string_view text) {
  char before = '^';
  bool hex = false;
  if (text.size() >= 2 && text[0] == '0' && std::string_view("xob").contains(lower_case(text[1]))) {
    before = '0';  // a prefix counts as a digit
    hex = lower_case(text[1]) == 'x';
    text.remove_prefix(2);
  }
  for (const char c : text) {
    const bool digit = is_digit(c) || (hex && lower_case(c) >= 'a' && lower_case(c) <= 'f');
    if (c == '_') {
      if (before != '0') return false;
      before = '_';
    } else if (digit) {
      before = '0';
    } else {
      if (before == '_') return false;
      before = '!';
    }
  }
  return before != '_';
}

enum class Outcome : std::uint8_t { kFine, kSyntax, kRange };

// Digits without a sign.
Outcome read_digits(std::string_view text, int base, std::uint64_t& out) {
  std::string digits(text);
  if (base == 0) {
    if (!underscores_stand_well(text)) return Outcome::kSyntax;
    std::erase(digits, '_');
    base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
      const char prefix = lower_case(digits[1]);
      base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : 8;
      const bool letter = prefix == 'x' || prefix == 'b' || prefix == 'o';
      digits.erase(0, letter ? 2 : 1);
    }
  }
  if (digits.empty()) return Outcome::kSyntax;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out, base);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    return Outcome::kSyntax;
  }
  return error == std::errc() ? Outcome::kFine : Outcome::kRange;
}

// Eight groups of sixteen bits, the longest run of zeros as "::".
std::string ipv6_text(const std::array<unsigned char, 16>& bytes) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = bytes[2 * i] * 256U + bytes[2 * i + 1];
  std::size_t run_begin = 8, run_size = 1;
  for (std::size_t i = 0; i < 8;) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > run_size) run_begin = i, run_size = end - i;
    i = std::max(end, i + 1);
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == run_begin) {
      out += "::";
      i += run_size - 1;
      continue;
    }
    if (!out.empty() && !out.ends_with(':')) out += ':';
    out += fmt::format("{:x}", groups[i]);
  }
  return out;
}

std::unexpected<Error> csv_error(std::size_t column, std::string_view what) {
  return fail(ErrorKind::kInvalid,
              fmt::format("parse error on line 1, column {}: {}", column, what));
}

}  // namespace

Result<bool> parse_bool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return bad_syntax("ParseBool", text);
}

Result<std::int64_t> parse_int(std::string_view text, int base, int bits) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  std::uint64_t magnitude = 0;
  const Outcome outcome = read_digits(digits, base, magnitude);
  if (outcome == Outcome::kSyntax) return bad_syntax("ParseInt", text);
  const std::uint64_t limit = std::uint64_t{1} << (bits - 1);
  if (outcome == Outcome::kRange || magnitude > limit || (!negative && magnitude == limit)) {
    return out_of_range("ParseInt", text);
  }
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

Result<std::uint64_t> parse_uint(std::string_view text, int base, int bits) {
  std::uint64_t value = 0;
  const Outcome outcome = read_digits(text, base, value);
  if (outcome == Outcome::kSyntax) return bad_syntax("ParseUint", text);
  const bool too_big = bits < 64 && (value >> bits) != 0;
  if (outcome == Outcome::kRange || too_big) return out_of_range("ParseUint", text);
  return value;
}

Result<float> parse_float(std::string_view text) {
  std::string word = lower_case(text);
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.erase(0, 1);
  const float sign = negative ? -1.0F : 1.0F;
  if (word == "inf" || word == "infinity") return sign * std::numeric_limits<float>::infinity();
  if (word == "nan") return std::numeric_limits<float>::quiet_NaN();
  auto format = std::chars_format::general;
  if (!underscores_stand_well(word)) return bad_syntax("ParseFloat", text);
  if (word.starts_with("0x")) {
    if (!word.contains('p')) return bad_syntax("ParseFloat", text);
    word.erase(0, 2);
    format = std::chars_format::hex;
  }
  std::erase(word, '_');
  // from_chars takes words like "inf" and a second sign; numbers begin with a digit or a point.
  if (word.empty() || !std::string_view("0123456789abcdef.").contains(word.front()) ||
      (format == std::chars_format::general && word.front() >= 'a')) {
    return bad_syntax("ParseFloat", text);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, format);
  if (error == std::errc::invalid_argument || end != word.data() + word.size()) {
    return bad_syntax("ParseFloat", text);
  }
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = word.find_first_of("ep");
    const bool tiny = exponent != std::string::npos && word[exponent + 1] == '-';
    if (!tiny) return out_of_range("ParseFloat", text);
    return sign * 0.0F;
  }
  float narrow = 0;
  const auto narrow_error =
      std::from_chars(word.data(), word.data() + word.size(), narrow, format).ec;
  if (narrow_error == std::errc::result_out_of_range) {
    if (std::abs(value) > 1) return out_of_range("ParseFloat", text);
    narrow = 0;
  }
  return sign * narrow;
}

Result<std::string> parse_ip(std::string_view text) {
  const std::string word(text);
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET, word.c_str(), bytes.data()) == 1) return word;
  if (inet_pton(AF_INET6, word.c_str(), bytes.data()) != 1) {
    return fail(ErrorKind::kInvalid, "no IP address");
  }
  constexpr std::array<unsigned char, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) {
    return fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
  }
  return ipv6_text(bytes);
}

Result<std::vector<std::string>> read_csv(std::string_view text) {
  constexpr std::string_view kBareQuote = "bare \" in non-quoted-field";
  constexpr std::string_view kBadQuote = "extraneous or missing \" in quoted-field";
  while (text.starts_with('\n') || text.starts_with("\r\n")) {
    text.remove_prefix(text.find('\n') + 1);  // empty lines do not count
  }
  if (text.empty()) return fail(ErrorKind::kInvalid, "EOF");
  std::vector<std::string> fields;
  std::size_t at = 0;
  while (true) {
    if (at >= text.size() || text[at] != '"') {
      const std::size_t end = std::min(text.find_first_of(",\n", at), text.size());
      std::string_view field = text.substr(at, end - at);
      const bool line_ends = end == text.size() || text[end] == '\n';
      if (line_ends && field.ends_with('\r') && end < text.size()) field.remove_suffix(1);
      if (const std::size_t quote = field.find('"'); quote != std::string_view::npos) {
        return csv_error(at + quote + 1, kBareQuote);
      }
      fields.emplace_back(field);
      if (line_ends) return fields;
      at = end + 1;
      continue;
    }
    std::string field;
    ++at;
    while (true) {
      const std::size_t quote = text.find('"', at);
      if (quote == std::string_view::npos) return csv_error(text.size() + 1, kBadQuote);
      field += text.substr(at, quote - at);
      at = quote + 1;
      if (at >= text.size() || text[at] != '"') break;
      field += '"';
      ++at;
    }
    fields.push_back(std::move(field));
    const std::string_view rest = text.substr(at);
    if (rest.empty() || rest.starts_with('\n') || rest.starts_with("\r\n")) return fields;
    if (!rest.starts_with(',')) return csv_error(at, kBadQuote);
    ++at;
  }
}

std::string write_csv(const std::vector<std::string>& fields) {
  std::string out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    const std::string& field = fields[i];
    const bool quotes = field == "\\." || field.find_first_of(",\"\r\n") != std::string::npos ||
                        field.starts_with(' ') || field.starts_with('\t');
    if (!quotes) {
      out += field;
      continue;
    }
    out += '"';
    for (const char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
    out += '"';
  }
  return out;
}

}  // namespace berth::config
