#include "cel/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/ascii.h"
#include "base/utf8.h"

namespace berth::cel {

namespace {

constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

}  // namespace

std::optional<std::int64_t> lossless_int(double value) {
  const auto whole = checked_int(value);
  if (!whole || static_cast<double>(*whole) != value) return std::nullopt;
  return whole;
}

std::optional<std::uint64_t> lossless_uint(double value) {
  const auto whole = checked_uint(value);
  if (!whole || static_cast<double>(*whole) != value) return std::nullopt;
  return whole;
}

std::optional<std::int64_t> checked_int(double value) {
  if (!std::isfinite(value) || value <= -kTwo63 || value >= kTwo63) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::uint64_t> checked_uint(double value) {
  if (!std::isfinite(value) || value < 0 || value >= kTwo64) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::optional<std::int64_t> parse_int(std::string_view text, int base) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_uint(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (rest.starts_with('+') || negative) rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  const std::string lower = lower_case(rest);
  if (lower == "inf" || lower == "infinity") {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  if (lower == "nan") {
    if (rest.size() != text.size()) return std::nullopt;
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (lower[0] != '.' && (lower[0] < '0' || lower[0] > '9')) return std::nullopt;
  std::chars_format format = std::chars_format::general;
  std::string_view digits = lower;
  if (digits.starts_with("0x")) {
    // Go wants the exponent of a hexadecimal number.
    if (digits.find('p') == std::string_view::npos) return std::nullopt;
    digits.remove_prefix(2);
    format = std::chars_format::hex;
  }
  double value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, format);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Too small is 0; too large is an error.
    const auto exponent = digits.find_first_of("ep");
    const bool tiny = (exponent != std::string_view::npos && exponent + 1 < digits.size() &&
                       digits[exponent + 1] == '-') ||
                      digits.starts_with("0.");
    if (!tiny) return std::nullopt;
    value = 0;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

std::string shortest(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> buffer{};
  const auto scientific = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                        std::chars_format::scientific);
  const std::string_view text(buffer.data(),
                              static_cast<std::size_t>(scientific.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  const auto exponent = parse_int(text.substr(e + 1));
  if (!exponent || *exponent < -4 || *exponent >= 6) return std::string(text);
  return shortest_fixed(value);
}

std::string shortest_fixed(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 512> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return {buffer.data(), end.ptr};
}

std::size_t count_runes(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    text.remove_prefix(length == 0 ? 1 : length);
    ++count;
  }
  return count;
}

std::u32string runes(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto [rune, length] = first_rune(text);
    result += rune;
    text.remove_prefix(length);
  }
  return result;
}

std::string from_runes(std::u32string_view runes) {
  std::string text;
  text.reserve(runes.size());
  for (const char32_t rune : runes) append_rune(text, rune);
  return text;
}

}  // namespace berth::cel
