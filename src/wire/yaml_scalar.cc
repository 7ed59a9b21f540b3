#include "wire/yaml_scalar.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/go_quote.h"
#include "wire/json_text.h"

namespace berth {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

YamlScalar string_of(std::string_view text) { return {YamlType::kString, std::string(text)}; }

std::optional<YamlScalar> resolve_word(std::string_view text) {
  struct Words {
    YamlType type;
    std::string_view json;
    std::array<std::string_view, 5> words;
  };
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr Words kWords[] = {
      {YamlType::kNull, "null", {"~", "null", "Null", "NULL"}},
      {YamlType::kBool, "true", {"y", "Y", "yes", "Yes", "YES"}},
      {YamlType::kBool, "true", {"true", "True", "TRUE"}},
      {YamlType::kBool, "true", {"on", "On", "ON"}},
      {YamlType::kBool, "false", {"n", "N", "no", "No", "NO"}},
      {YamlType::kBool, "false", {"false", "False", "FALSE"}},
      {YamlType::kBool, "false", {"off", "Off", "OFF"}},
      {YamlType::kFloat, "NaN", {".nan", ".NaN", ".NAN"}},
      {YamlType::kFloat, "+Inf", {".inf", ".Inf", ".INF"}},
      {YamlType::kFloat, "+Inf", {"+.inf", "+.Inf", "+.INF"}},
      {YamlType::kFloat, "-Inf", {"-.inf", "-.Inf", "-.INF"}},
  };
  if (text.empty()) return YamlScalar{YamlType::kNull, "null"};
  if (text.size() > 5) return std::nullopt;
  for (const Words& row : kWords) {
    for (const std::string_view word : row.words) {
      if (text != word) continue;
      YamlScalar scalar{row.type, std::string(row.json)};
      if (row.json == "+Inf") scalar.number = kInfinity;
      if (row.json == "-Inf") scalar.number = -kInfinity;
      if (row.json == "NaN") scalar.number = std::numeric_limits<double>::quiet_NaN();
      return scalar;
    }
  }
  return std::nullopt;
}

// Digits of a base that may be named by a prefix: 0x, 0o, 0b, or a leading 0 for octal.
std::optional<std::uint64_t> parse_magnitude(std::string_view digits) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    switch (digits[1]) {
      case 'x':
      case 'X': base = 16; break;
      case 'b':
      case 'B': base = 2; break;
      default: base = 8;
    }
    const bool named = base != 8 || digits[1] == 'o' || digits[1] == 'O';
    digits.remove_prefix(named ? 2 : 1);
  }
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<YamlScalar> resolve_int(std::string_view plain) {
  const bool negative = plain.starts_with('-');
  const bool sign = negative || plain.starts_with('+');
  const auto magnitude = parse_magnitude(plain.substr(sign ? 1 : 0));
  if (!magnitude) return std::nullopt;
  constexpr std::uint64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();
  if (negative) {
    if (*magnitude > kMaxInteger + 1) return std::nullopt;
    return YamlScalar{YamlType::kInt, *magnitude == 0 ? "0" : fmt::format("-{}", *magnitude)};
  }
  if (*magnitude <= kMaxInteger) return YamlScalar{YamlType::kInt, fmt::format("{}", *magnitude)};
  if (sign) return std::nullopt;
  return YamlScalar{YamlType::kUint, fmt::format("{}", *magnitude)};
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - from;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  const std::size_t whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<YamlScalar> resolve_float(std::string_view plain) {
  if (!looks_like_float(plain)) return std::nullopt;
  if (plain.starts_with('+')) plain = plain.substr(1);
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Too large stays text, as in Go; too small is zero.
    value = std::strtod(std::string(plain).c_str(), nullptr);
    if (std::isinf(value)) return std::nullopt;
  } else if (error != std::errc() || end != plain.data() + plain.size()) {
    return std::nullopt;
  }
  return YamlScalar{YamlType::kFloat, go_float(value), value};
}

std::optional<std::string> decode_binary(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    int digit = -1;
    if (c >= 'A' && c <= 'Z') digit = c - 'A';
    if (c >= 'a' && c <= 'z') digit = c - 'a' + 26;
    if (c >= '0' && c <= '9') digit = c - '0' + 52;
    if (c == '+') digit = 62;
    if (c == '/') digit = 63;
    if (c == '=') {
      ++padding;
      continue;
    }
    if (digit < 0 || padding > 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if (++count == 4) {
      for (const int shift : {16, 8, 0}) out.push_back(static_cast<char>(bits >> shift & 0xFF));
      bits = 0;
      count = 0;
    }
  }
  if (count == 0 && padding == 0) return out;
  if (count < 2 || static_cast<std::size_t>(count) + padding != 4) return std::nullopt;
  if (count == 2) out.push_back(static_cast<char>(bits >> 4 & 0xFF));
  if (count == 3) {
    out.push_back(static_cast<char>(bits >> 10 & 0xFF));
    out.push_back(static_cast<char>(bits >> 2 & 0xFF));
  }
  return out;
}

std::string_view tag_of(YamlType type) {
  switch (type) {
    case YamlType::kNull: return "!!null";
    case YamlType::kBool: return "!!bool";
    case YamlType::kInt:
    case YamlType::kUint: return "!!int";
    case YamlType::kFloat: return "!!float";
    case YamlType::kString: return "!!str";
  }
  return "";
}

}  // namespace

YamlScalar resolve_plain(std::string_view text) {
  if (auto word = resolve_word(text)) return *std::move(word);
  const char first = text[0];
  if (first == '.') {
    if (auto number = resolve_float(text)) return *std::move(number);
  } else if (first == '+' || first == '-' || (first >= '0' && first <= '9')) {
    std::string plain;
    for (const char c : text)
      if (c != '_') plain.push_back(c);
    if (auto number = resolve_int(plain)) return *std::move(number);
    if (auto number = resolve_float(plain)) return *std::move(number);
  }
  return string_of(text);
}

Result<YamlScalar> resolve_tagged(std::string_view tag, std::string_view text) {
  if (!tag.starts_with(kTagPrefix)) return string_of(text);
  const std::string_view name = tag.substr(kTagPrefix.size());
  if (name == "binary") {
    auto bytes = decode_binary(text);
    if (!bytes) return fail(ErrorKind::kInvalid, "!!binary value contains invalid base64 data");
    return YamlScalar{YamlType::kString, *std::move(bytes)};
  }
  if (name != "int" && name != "float" && name != "bool" && name != "null") return string_of(text);

  YamlScalar scalar = resolve_plain(text);
  const std::string_view found = tag_of(scalar.type);
  if (found.substr(2) == name) return scalar;
  if (name == "float" && scalar.type == YamlType::kInt) {
    scalar.type = YamlType::kFloat;
    scalar.number = std::strtod(scalar.json.c_str(), nullptr);
    scalar.json = go_float(scalar.number);
    return scalar;
  }
  return fail(ErrorKind::kInvalid,
              fmt::format("cannot decode {} `{}` as a !!{}", found, text.substr(0, 80), name));
}

Result<std::string> yaml_key(const YamlScalar& scalar) {
  switch (scalar.type) {
    case YamlType::kNull: return fail(ErrorKind::kInvalid, "unsupported map key: null");
    case YamlType::kUint:
      return fail(ErrorKind::kInvalid, fmt::format("unsupported map key: {}", scalar.json));
    case YamlType::kFloat:
      if (scalar.json == "+Inf") return ".inf";
      if (scalar.json == "-Inf") return "-.inf";
      if (scalar.json == "NaN") return ".nan";
      return go_float_general(static_cast<float>(scalar.number));
    default: return scalar.json;
  }
}

std::string shown_key(const YamlScalar& scalar) {
  return scalar.type == YamlType::kString ? go_quoted(scalar.json) : scalar.json;
}

}  // namespace berth
