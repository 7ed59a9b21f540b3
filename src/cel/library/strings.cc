// The extended functions of strings. Positions count code points.

#include <algorithm>

#include "cel/cost.h"
#include "cel/library/library.h"
#include "cel/library/string_format.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

// Nothing longer is made: its reader would cost more than any evaluation may.
constexpr std::size_t kLongest = std::size_t{64} * 1024 * 1024;

Value out_of_range(std::int64_t index) {
  return Value::error("index out of range: " + std::to_string(index));
}

Value char_at(Args args) {
  const std::u32string text = runes(args[0].as_string());
  const std::int64_t index = args[1].as_int();
  if (index < 0 || index > static_cast<std::int64_t>(text.size())) return out_of_range(index);
  return Value::string(
      from_runes(std::u32string_view(text).substr(static_cast<std::size_t>(index), 1)));
}

Value index_of(Args args) {
  const std::int64_t offset = args.size() == 3 ? args[2].as_int() : 0;
  if (offset < 0) return out_of_range(offset);
  const std::u32string text = runes(args[0].as_string());
  if (args[1].as_string().empty())
    return Value::integer(std::min(offset, static_cast<std::int64_t>(text.size())));
  if (offset >= static_cast<std::int64_t>(text.size())) return Value::integer(-1);
  const std::size_t at = text.find(runes(args[1].as_string()), static_cast<std::size_t>(offset));
  return Value::integer(at == std::u32string::npos ? -1 : static_cast<std::int64_t>(at));
}

Value last_index_of(Args args) {
  const std::u32string text = runes(args[0].as_string());
  const auto length = static_cast<std::int64_t>(text.size());
  const std::u32string part = runes(args[1].as_string());
  if (part.empty() && args.size() == 2) return Value::integer(length);
  if (args.size() == 2 && args[0].as_string().size() < args[1].as_string().size()) {
    return Value::integer(-1);
  }
  const std::int64_t offset = args.size() == 3 ? args[2].as_int() : length - 1;
  if (offset < 0) return out_of_range(offset);
  if (part.empty()) return Value::integer(std::min(offset, length));
  if (offset >= length || part.size() > text.size()) return Value::integer(-1);
  const std::size_t at = text.rfind(part, static_cast<std::size_t>(offset));
  return Value::integer(at == std::u32string::npos ? -1 : static_cast<std::int64_t>(at));
}

Value with_case(Args args, char first, char last, int shift) {
  std::string text = args[0].as_string();
  for (char& c : text) {
    if (c >= first && c <= last) c = static_cast<char>(c + shift);
  }
  return Value::string(std::move(text));
}
Value lower_ascii(Args args) { return with_case(args, 'A', 'Z', 'a' - 'A'); }
Value upper_ascii(Args args) { return with_case(args, 'a', 'z', 'A' - 'a'); }

Value replace(Args args) {
  const std::string& text = args[0].as_string();
  const std::string& from = args[1].as_string();
  const std::string& to = args[2].as_string();
  std::int64_t left = args.size() == 4 ? args[3].as_int() : -1;
  std::string result;
  std::size_t at = 0;
  // Nothing is found before each character and at the end.
  const auto next = [&](std::size_t begin) {
    if (!from.empty()) return text.find(from, begin);
    return begin <= text.size() ? begin : std::string::npos;
  };
  for (std::size_t found = next(0); found != std::string::npos && left != 0; --left) {
    result.append(text, at, found - at);
    result += to;
    if (result.size() > kLongest) return cost_limit_exceeded();
    at = found + from.size();
    if (!from.empty()) {
      found = next(at);
      continue;
    }
    if (found >= text.size()) break;
    std::size_t length = 1;
    while (found + length < text.size() && (text[found + length] & 0xC0) == 0x80) ++length;
    found += length;
  }
  return Value::string(result.append(text, at));
}

Value split(Args args) {
  const std::string& text = args[0].as_string();
  const std::string& separator = args[1].as_string();
  const std::int64_t limit = args.size() == 3 ? args[2].as_int() : -1;
  std::vector<Value> parts;
  if (limit == 0) return Value::list(std::move(parts));
  const auto full = [&] {
    return limit > 0 && static_cast<std::int64_t>(parts.size()) + 1 >= limit;
  };
  std::size_t at = 0;
  if (separator.empty()) {
    while (at < text.size() && !full()) {
      std::size_t length = 1;
      while (at + length < text.size() && (text[at + length] & 0xC0) == 0x80) ++length;
      parts.push_back(Value::string(text.substr(at, length)));
      at += length;
    }
    if (at < text.size()) parts.push_back(Value::string(text.substr(at)));
    return Value::list(std::move(parts));
  }
  while (!full()) {
    const std::size_t found = text.find(separator, at);
    if (found == std::string::npos) break;
    parts.push_back(Value::string(text.substr(at, found - at)));
    at = found + separator.size();
  }
  parts.push_back(Value::string(text.substr(at)));
  return Value::list(std::move(parts));
}

Value substring(Args args) {
  const std::u32string text = runes(args[0].as_string());
  const auto length = static_cast<std::int64_t>(text.size());
  const std::int64_t begin = args[1].as_int();
  const std::int64_t end = args.size() == 3 ? args[2].as_int() : length;
  if (args.size() == 3 && begin > end) {
    return Value::error("invalid substring range. start: " + std::to_string(begin) +
                        ", end: " + std::to_string(end));
  }
  if (begin < 0 || begin > length) return out_of_range(begin);
  if (end < 0 || end > length) return out_of_range(end);
  return Value::string(from_runes(std::u32string_view(text).substr(
      static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))));
}

bool is_space(char32_t rune) {
  if (rune < 0x80) return rune == ' ' || (rune >= '\t' && rune <= '\r');
  return rune == 0x85 || rune == 0xA0 || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) ||
         rune == 0x2028 || rune == 0x2029 || rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

Value trim(Args args) {
  const std::u32string text = runes(args[0].as_string());
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (begin < end && is_space(text[begin])) ++begin;
  while (end > begin && is_space(text[end - 1])) --end;
  return Value::string(from_runes(std::u32string_view(text).substr(begin, end - begin)));
}

Value quote(Args args) {
  static constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\\\"";
  static constexpr std::string_view kTo = "abfnrtv\\\"";
  std::string result = "\"";
  for (const char c : args[0].as_string()) {
    if (const auto at = kFrom.find(c); at != std::string_view::npos) {
      result += '\\';
      result += kTo[at];
    } else {
      result += c;
    }
  }
  return Value::string(result + '"');
}

Value join(Args args) {
  const List& list = args[0].as_list();
  const std::string separator = args.size() == 2 ? args[1].as_string() : "";
  std::string result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) result += separator;
    if (!list[i].is(Kind::kString)) {
      return Value::error("join: invalid input: " + value_text(list[i]));
    }
    result += list[i].as_string();
    if (result.size() > kLongest) return cost_limit_exceeded();
  }
  return Value::string(std::move(result));
}

}  // namespace

void add_strings(FunctionTable& table) {
  table.add("string::charAt(int) -> string", "string_char_at_int", char_at);
  table.add("string::indexOf(string) -> int", "string_index_of_string", index_of);
  table.add("string::indexOf(string, int) -> int", "string_index_of_string_int", index_of);
  table.add("string::lastIndexOf(string) -> int", "string_last_index_of_string", last_index_of);
  table.add("string::lastIndexOf(string, int) -> int", "string_last_index_of_string_int",
            last_index_of);
  table.add("string::lowerAscii() -> string", "string_lower_ascii", lower_ascii);
  table.add("string::replace(string, string) -> string", "string_replace_string_string", replace);
  table.add("string::replace(string, string, int) -> string", "string_replace_string_string_int",
            replace);
  table.add("string::split(string) -> list(string)", "string_split_string", split);
  table.add("string::split(string, int) -> list(string)", "string_split_string_int", split);
  table.add("string::substring(int) -> string", "string_substring_int", substring);
  table.add("string::substring(int, int) -> string", "string_substring_int_int", substring);
  table.add("string::trim() -> string", "string_trim", trim);
  table.add("string::upperAscii() -> string", "string_upper_ascii", upper_ascii);
  table.add("string::format(list(dyn)) -> string", "string_format", format_string);
  table.add("strings.quote(string) -> string", "strings_quote", quote);
  table.add("list(string)::join() -> string", "list_join", join);
  table.add("list(string)::join(string) -> string", "list_join_string", join);
}

}  // namespace berth::cel
