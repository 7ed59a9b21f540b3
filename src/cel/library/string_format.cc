#include "cel/library/string_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "base/utf8.h"
#include "cel/cost.h"
#include "cel/library/time.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

constexpr int kDigits = 6;
constexpr std::size_t kLongestFormatted = std::size_t{64} * 1024 * 1024;

std::unexpected<Error> wrong_format(std::string text) {
  return fail(ErrorKind::kInvalid, std::move(text));
}

Result<std::string> element(const Value& value);

// Strings inside of lists and maps are literals.
std::string as_literal(const Value& value, std::string text) {
  switch (value.kind()) {
    case Kind::kString: return go_quoted(text);
    case Kind::kBytes: return "b" + go_quoted(text);
    case Kind::kDouble: return std::isfinite(value.as_double()) ? text : go_quoted(text);
    default: return text;
  }
}

Result<std::string> list_text(const List& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ", ";
    auto each = element(list[i]);
    if (!each) return each;
    text += as_literal(list[i], std::move(*each));
    if (text.size() > kLongestFormatted) return fail(ErrorKind::kInternal, "");
  }
  return text + "]";
}

Result<std::string> map_text(const Map& map) {
  std::vector<std::string> entries;
  for (const Map::Entry& entry : map.entries()) {
    const Kind kind = entry.key.kind();
    if (kind != Kind::kString && kind != Kind::kBool && kind != Kind::kInt && kind != Kind::kUint) {
      return wrong_format("no formatting function for map key of type " + type_name(entry.key));
    }
    auto value = element(entry.value);
    if (!value) return value;
    entries.push_back(as_literal(entry.key, value_text(entry.key)) + ":" +
                      as_literal(entry.value, std::move(*value)));
  }
  std::sort(entries.begin(), entries.end());
  std::string text = "{";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) text += ", ";
    text += entries[i];
  }
  return text + "}";
}

std::string fixed(double value, int precision) {
  std::array<char, 1100> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, std::min(precision, 700));
  return {buffer.data(), end.ptr};
}

// As text without quotes: the verb %s, and what stands inside of lists and maps.
Result<std::string> plain(const Value& value) {
  switch (value.kind()) {
    case Kind::kList: return list_text(value.as_list());
    case Kind::kMap: return map_text(value.as_map());
    case Kind::kNull: return "null";
    case Kind::kBytes: return value.as_bytes();
    case Kind::kDuration: return seconds_text(value.as_duration()) + "s";
    case Kind::kTimestamp: return rfc3339_text(value.as_timestamp());
    case Kind::kType: return value.as_type()->name();
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString: return value_text(value);
    default: return wrong_format(wrong_argument('s', type_name(value)));
  }
}

Result<std::string> element(const Value& value) {
  switch (value.kind()) {
    case Kind::kTimestamp:
      return "timestamp(" + go_quoted(rfc3339_text(value.as_timestamp())) + ")";
    case Kind::kDuration:
      return "duration(" + go_quoted(seconds_text(value.as_duration()) + "s") + ")";
    case Kind::kDouble:
      if (std::isnan(value.as_double())) return "NaN";
      if (std::isinf(value.as_double())) return value.as_double() > 0 ? "+Inf" : "-Inf";
      return fixed(value.as_double(), kDigits);
    case Kind::kList:
    case Kind::kMap:
    case Kind::kNull:
    case Kind::kBytes:
    case Kind::kType:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kString: return plain(value);
    default: return wrong_format("no formatting function for " + type_name(value));
  }
}

// In English the thousands are set apart.
std::string grouped(std::string text) {
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  std::size_t at = std::min(text.find('.'), text.size());
  while (at > begin + 3) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string special_double(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "∞" : "-∞";
}

// "1.234568×10⁰³", as English readers are given it.
std::string scientific(double value) {
  std::array<char, 1100> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, kDigits);
  const std::string text(buffer.data(), end.ptr);
  const std::size_t e = text.find('e');
  static constexpr std::array<const char*, 10> kRaised = {"⁰", "¹", "²", "³", "⁴",
                                                          "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result = text.substr(0, e) + "×10";
  for (const char c : text.substr(e + 1)) {
    if (c == '-') result += "⁻";
    if (is_digit(c)) result += kRaised[static_cast<std::size_t>(c - '0')];
  }
  return result;
}

Result<std::string> floating(const Value& value, const FormatClause& clause) {
  double number = 0;
  if (value.is(Kind::kDouble)) {
    number = value.as_double();
  } else if (value.is(Kind::kString) &&
             (value.as_string() == "NaN" || value.as_string() == "Infinity" ||
              value.as_string() == "-Infinity")) {
    number = *parse_double(value.as_string());
  } else {
    return wrong_format(wrong_argument(clause.verb, type_name(value)));
  }
  const int precision = clause.precision < 0 ? kDigits : clause.precision;
  const bool finite = std::isfinite(number);
  if (clause.verb == 'f') {
    return finite ? grouped(fixed(number, precision)) : special_double(number);
  }
  // Parity: what should be the precision of %e is its width.
  std::string text = finite ? scientific(number) : special_double(number);
  const auto width = static_cast<std::size_t>(std::min(precision, 1000));
  if (const std::size_t length = count_runes(text); length < width) {
    text.insert(0, width - length, ' ');
  }
  return text;
}

std::string in_base(std::uint64_t value, bool negative, int base) {
  std::array<char, 66> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, base);
  return (negative ? "-" : "") + std::string(buffer.data(), end.ptr);
}

Result<std::string> whole(const Value& value, const FormatClause& clause) {
  const int base = clause.verb == 'b' ? 2 : clause.verb == 'o' ? 8 : clause.verb == 'd' ? 10 : 16;
  std::string text;
  if (value.is(Kind::kInt)) {
    const bool negative = value.as_int() < 0;
    const auto bits = static_cast<std::uint64_t>(value.as_int());
    text = in_base(negative ? ~bits + 1 : bits, negative, base);
  } else if (value.is(Kind::kUint)) {
    text = in_base(value.as_uint(), false, base);
  } else if (value.is(Kind::kBool) && base == 2) {
    text = value.as_bool() ? "1" : "0";
  } else if (base == 16 && (value.is(Kind::kString) || value.is(Kind::kBytes))) {
    const std::string& octets = value.is(Kind::kString) ? value.as_string() : value.as_bytes();
    for (const char c : octets) {
      const auto octet = static_cast<unsigned char>(c);
      text += "0123456789abcdef"[octet >> 4];
      text += "0123456789abcdef"[octet & 0xF];
    }
  } else {
    return wrong_format(wrong_argument(clause.verb, type_name(value)));
  }
  if (clause.verb == 'X') {
    for (char& c : text) {
      if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
    }
  }
  return text;
}

Result<FormatClause> read_clause(std::string_view& format) {
  FormatClause clause;
  if (format.starts_with('.')) {
    std::size_t end = 1;
    while (end < format.size() && is_digit(format[end])) ++end;
    if (end >= format.size()) {
      return wrong_format(
          "could not parse formatting clause: error while parsing precision: could not find end of "
          "precision specifier");
    }
    const auto precision = parse_int(format.substr(1, end - 1));
    if (!precision || *precision > 1'000'000) {
      return wrong_format(
          "could not parse formatting clause: error while parsing precision: error while "
          "converting "
          "precision to integer: strconv.Atoi: parsing " +
          go_quoted(format.substr(1, end - 1)) + ": invalid syntax");
    }
    clause.precision = static_cast<int>(*precision);
    format.remove_prefix(end);
  }
  clause.verb = format[0];
  if (std::string_view("sdfebxXo").find(clause.verb) == std::string_view::npos) {
    std::string shown;
    append_rune(shown, static_cast<unsigned char>(clause.verb));
    return wrong_format("could not parse formatting clause: unrecognized formatting clause \"" +
                        shown + "\"");
  }
  format.remove_prefix(1);
  return clause;
}

}  // namespace

std::string wrong_argument(char verb, std::string_view type) {
  const std::string given = ", was given " + std::string(type);
  switch (verb) {
    case 's':
      return "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
             "types, durations, and timestamps" +
             given;
    case 'd': return "decimal clause can only be used on integers" + given;
    case 'f': return "fixed-point clause can only be used on doubles" + given;
    case 'e': return "scientific clause can only be used on doubles" + given;
    case 'b': return "only integers and bools can be formatted as binary" + given;
    case 'o': return "octal clause can only be used on integers" + given;
    default: return "only integers, byte buffers, and strings can be formatted as hex" + given;
  }
}

Result<std::size_t> read_format(std::string_view format, std::size_t arguments, std::string& text,
                                const WriteClause& write) {
  std::size_t used = 0;
  while (!format.empty()) {
    if (format[0] != '%') {
      text += format[0];
      format.remove_prefix(1);
      continue;
    }
    format.remove_prefix(1);
    if (format.starts_with('%')) {
      text += '%';
      format.remove_prefix(1);
      continue;
    }
    if (used >= arguments) return wrong_format("index " + std::to_string(used) + " out of range");
    if (format.empty()) return wrong_format("unexpected end of string");
    auto clause = read_clause(format);
    if (!clause) return fail(clause.error());
    clause->argument = used++;
    auto written = write(*clause);
    if (!written) {
      if (written.error().kind == ErrorKind::kInternal) return fail(written.error());
      return wrong_format("error during formatting: " + written.error().message);
    }
    text += *written;
    if (text.size() > kLongestFormatted) return fail(ErrorKind::kInternal, "");
  }
  return used;
}

Value format_string(std::span<const Value> args) {
  const List& values = args[1].as_list();
  std::string text;
  const auto used =
      read_format(args[0].as_string(), values.size(), text, [&](const FormatClause& clause) {
        const Value& value = values[clause.argument];
        if (clause.verb == 's') return plain(value);
        if (clause.verb == 'f' || clause.verb == 'e') return floating(value, clause);
        return whole(value, clause);
      });
  if (used) return Value::string(std::move(text));
  if (used.error().kind == ErrorKind::kInternal) return cost_limit_exceeded();
  return Value::error(used.error().message);
}

}  // namespace berth::cel
