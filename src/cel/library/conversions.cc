// int(x), string(x) and their like.

#include <array>

#include "base/utf8.h"
#include "cel/library/library.h"
#include "cel/library/time.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

Value same(Args args) { return args[0]; }

Value cannot(const Value& value, const TypeRef& to) {
  return Value::error("type conversion error from '" + type_name(value) + "' to '" + to->name() +
                      "'");
}

Value to_bool(Args args) {
  static constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
  static constexpr std::array<std::string_view, 6> kFalse = {"0",     "f",     "F",
                                                             "FALSE", "false", "False"};
  for (const std::string_view each : kTrue) {
    if (args[0].as_string() == each) return Value::boolean(true);
  }
  for (const std::string_view each : kFalse) {
    if (args[0].as_string() == each) return Value::boolean(false);
  }
  return cannot(args[0], types::boolean());
}

Value to_bytes(Args args) { return Value::bytes(args[0].as_string()); }

Value to_double(Args args) {
  switch (args[0].kind()) {
    case Kind::kInt: return Value::floating(static_cast<double>(args[0].as_int()));
    case Kind::kUint: return Value::floating(static_cast<double>(args[0].as_uint()));
    default:
      if (const auto number = parse_double(args[0].as_string())) return Value::floating(*number);
      return cannot(args[0], types::floating());
  }
}

Value to_duration(Args args) {
  if (args[0].is(Kind::kString)) {
    if (const auto parsed = parse_duration(args[0].as_string())) return Value::duration(*parsed);
  }
  return cannot(args[0], types::duration());
}

Value to_int(Args args) {
  const Value& value = args[0];
  switch (value.kind()) {
    case Kind::kDouble:
      if (const auto number = checked_int(value.as_double())) return Value::integer(*number);
      return Value::error("integer overflow");
    case Kind::kDuration: return Value::integer(value.as_duration());
    case Kind::kTimestamp: return Value::integer(value.as_timestamp().seconds);
    case Kind::kUint:
      if (value.as_uint() >> 63 != 0) return Value::error("integer overflow");
      return Value::integer(static_cast<std::int64_t>(value.as_uint()));
    default:
      if (const auto number = parse_int(value.as_string())) return Value::integer(*number);
      return cannot(value, types::integer());
  }
}

Value to_uint(Args args) {
  const Value& value = args[0];
  switch (value.kind()) {
    case Kind::kDouble:
      if (const auto number = checked_uint(value.as_double())) {
        return Value::unsigned_integer(*number);
      }
      return Value::error("unsigned integer overflow");
    case Kind::kInt:
      if (value.as_int() < 0) return Value::error("unsigned integer overflow");
      return Value::unsigned_integer(static_cast<std::uint64_t>(value.as_int()));
    default:
      if (const auto number = parse_uint(value.as_string())) {
        return Value::unsigned_integer(*number);
      }
      return cannot(value, types::unsigned_integer());
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Value to_string(Args args) {
  const Value& value = args[0];
  switch (value.kind()) {
    case Kind::kBytes:
      if (!is_utf8(value.as_bytes())) {
        return Value::error("invalid UTF-8 in bytes, cannot convert to string");
      }
      return Value::string(value.as_bytes());
    case Kind::kDuration: return Value::string(seconds_text(value.as_duration()) + "s");
    case Kind::kTimestamp: return Value::string(rfc3339_text(value.as_timestamp()));
    default: return Value::string(value_text(value));
  }
}

Value to_timestamp(Args args) {
  if (args[0].is(Kind::kInt)) return timestamp_or_error({args[0].as_int(), 0, 0});
  if (const auto parsed = parse_timestamp(args[0].as_string())) return timestamp_or_error(*parsed);
  return cannot(args[0], types::timestamp());
}

Value to_type(Args args) { return Value::type(type_of(args[0])); }

}  // namespace

void add_conversions(FunctionTable& table) {
  table.add("type(A) -> type(A)", "type");
  table.for_all("type", Trait::kNone, to_type);

  table.add("bool(bool) -> bool", "bool_to_bool", same);
  table.add("bool(string) -> bool", "string_to_bool", to_bool);

  table.add("bytes(bytes) -> bytes", "bytes_to_bytes", same);
  table.add("bytes(string) -> bytes", "string_to_bytes", to_bytes);

  table.add("double(double) -> double", "double_to_double", same);
  table.add("double(int) -> double", "int64_to_double", to_double);
  table.add("double(string) -> double", "string_to_double", to_double);
  table.add("double(uint) -> double", "uint64_to_double", to_double);

  table.add("duration(duration) -> duration", "duration_to_duration", same);
  table.add("duration(string) -> duration", "string_to_duration", to_duration);

  table.add("dyn(A) -> dyn", "to_dyn");
  table.for_all("dyn", Trait::kNone, same);

  table.add("int(int) -> int", "int64_to_int64", same);
  table.add("int(double) -> int", "double_to_int64", to_int);
  table.add("int(duration) -> int", "duration_to_int64", to_int);
  table.add("int(string) -> int", "string_to_int64", to_int);
  table.add("int(timestamp) -> int", "timestamp_to_int64", to_int);
  table.add("int(uint) -> int", "uint64_to_int64", to_int);

  table.add("string(string) -> string", "string_to_string", same);
  table.add("string(bool) -> string", "bool_to_string", to_string);
  table.add("string(bytes) -> string", "bytes_to_string", to_string);
  table.add("string(double) -> string", "double_to_string", to_string);
  table.add("string(duration) -> string", "duration_to_string", to_string);
  table.add("string(int) -> string", "int64_to_string", to_string);
  table.add("string(timestamp) -> string", "timestamp_to_string", to_string);
  table.add("string(uint) -> string", "uint64_to_string", to_string);

  table.add("timestamp(timestamp) -> timestamp", "timestamp_to_timestamp", same);
  table.add("timestamp(int) -> timestamp", "int64_to_timestamp", to_timestamp);
  table.add("timestamp(string) -> timestamp", "string_to_timestamp", to_timestamp);

  table.add("uint(uint) -> uint", "uint64_to_uint64", same);
  table.add("uint(double) -> uint", "double_to_uint64", to_uint);
  table.add("uint(int) -> uint", "int64_to_uint64", to_uint);
  table.add("uint(string) -> uint", "string_to_uint64", to_uint);
}

}  // namespace berth::cel
