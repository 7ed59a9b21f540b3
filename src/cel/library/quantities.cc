// Quantities and versions.

#include <cmath>
#include <optional>

#include "cel/library/library.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

const Quantity& quantity_of(const Value& value) { return *value.as_quantity().quantity; }

int order(Args args) {
  const auto by = quantity_of(args[0]) <=> quantity_of(args[1]);
  return by < 0 ? -1 : by > 0 ? 1 : 0;
}

Value to_quantity(Args args) {
  auto parsed = Quantity::parse(args[0].as_string());
  if (!parsed) return Value::error(parsed.error().message);
  return Value::quantity(std::move(*parsed));
}
Value is_quantity(Args args) {
  return Value::boolean(Quantity::parse(args[0].as_string()).has_value());
}
Value quantity_sign(Args args) { return Value::integer(quantity_of(args[0]).sign()); }
Value quantity_greater(Args args) { return Value::boolean(order(args) > 0); }
Value quantity_less(Args args) { return Value::boolean(order(args) < 0); }
Value quantity_compare(Args args) { return Value::integer(order(args)); }

// The number, if it is a whole one that 64 bits hold.
std::optional<std::int64_t> whole(const Quantity& quantity) {
  const std::int64_t value = quantity.value();
  if (quantity != Quantity::of(value)) return std::nullopt;
  return value;
}

// From the canonical form: digits, and a power of ten or a multiple of 1024.
double approximate(const Quantity& quantity) {
  if (const auto value = whole(quantity)) return static_cast<double>(*value);
  const std::string text = quantity.to_string();
  const std::size_t end = text.find_first_not_of("+-0123456789.");
  const double digits = parse_double(text.substr(0, end)).value_or(0);
  if (end == std::string::npos) return digits;
  const std::string suffix = text.substr(end);
  if (suffix[0] == 'e' || (suffix[0] == 'E' && suffix.size() > 1 && suffix[1] != 'i')) {
    return digits * std::pow(10, static_cast<double>(parse_int(suffix.substr(1)).value_or(0)));
  }
  static constexpr std::string_view kDecimal = "num kMGTPE";
  static constexpr std::string_view kBinary = "KMGTPE";
  if (suffix.size() == 2) {
    return digits * std::pow(1024, static_cast<double>(kBinary.find(suffix[0]) + 1));
  }
  return digits * std::pow(10, 3 * static_cast<double>(kDecimal.find(suffix[0])) - 9);
}

Value quantity_float(Args args) { return Value::floating(approximate(quantity_of(args[0]))); }
Value quantity_is_integer(Args args) {
  return Value::boolean(quantity_of(args[0]).as_int64().has_value());
}
Value quantity_integer(Args args) {
  const auto value = quantity_of(args[0]).as_int64();
  if (!value) return Value::error("cannot convert value to integer");
  return Value::integer(*value);
}

Quantity second(const Value& value) {
  return value.is(Kind::kInt) ? Quantity::of(value.as_int()) : quantity_of(value);
}
Value quantity_add(Args args) {
  Quantity sum = quantity_of(args[0]);
  sum += second(args[1]);
  return Value::quantity(std::move(sum), true);
}
Value quantity_subtract(Args args) {
  Quantity difference = quantity_of(args[0]);
  difference -= second(args[1]);
  return Value::quantity(std::move(difference), true);
}

Result<Semver> parse_version(Args args) {
  const bool normalize = args.size() == 2 && args[1].as_bool();
  return normalize ? Semver::parse_normalized(args[0].as_string())
                   : Semver::parse(args[0].as_string());
}
Value to_semver(Args args) {
  auto parsed = parse_version(args);
  if (!parsed) return Value::error(parsed.error().message);
  return Value::semver(std::move(*parsed));
}
Value is_semver(Args args) { return Value::boolean(parse_version(args).has_value()); }

int version_order(Args args) { return compare(args[0].as_semver(), args[1].as_semver()); }
Value version_greater(Args args) { return Value::boolean(version_order(args) > 0); }
Value version_less(Args args) { return Value::boolean(version_order(args) < 0); }
Value version_compare(Args args) { return Value::integer(version_order(args)); }
Value major(Args args) {
  return Value::integer(static_cast<std::int64_t>(args[0].as_semver().major));
}
Value minor(Args args) {
  return Value::integer(static_cast<std::int64_t>(args[0].as_semver().minor));
}
Value patch(Args args) {
  return Value::integer(static_cast<std::int64_t>(args[0].as_semver().patch));
}

}  // namespace

void add_quantities(FunctionTable& table) {
  table.add("quantity(string) -> quantity", "string_to_quantity", to_quantity);
  table.add("isQuantity(string) -> bool", "is_quantity_string", is_quantity);
  table.add("sign(quantity) -> int", "quantity_sign", quantity_sign);
  table.add("quantity::isGreaterThan(quantity) -> bool", "quantity_is_greater_than",
            quantity_greater);
  table.add("quantity::isLessThan(quantity) -> bool", "quantity_is_less_than", quantity_less);
  table.add("quantity::compareTo(quantity) -> int", "quantity_compare_to", quantity_compare);
  table.add("quantity::asApproximateFloat() -> double", "quantity_get_float", quantity_float);
  table.add("quantity::asInteger() -> int", "quantity_get_int", quantity_integer);
  table.add("quantity::isInteger() -> bool", "quantity_is_integer", quantity_is_integer);
  table.add("quantity::add(quantity) -> quantity", "quantity_add", quantity_add);
  table.add("quantity::add(int) -> quantity", "quantity_add_int", quantity_add);
  table.add("quantity::sub(quantity) -> quantity", "quantity_sub", quantity_subtract);
  table.add("quantity::sub(int) -> quantity", "quantity_sub_int", quantity_subtract);
}

void add_semver(FunctionTable& table) {
  table.add("semver(string) -> semver", "string_to_semver", to_semver);
  table.add("semver(string, bool) -> semver", "string_bool_to_semver", to_semver);
  table.add("isSemver(string) -> bool", "is_semver_string", is_semver);
  table.add("isSemver(string, bool) -> bool", "is_semver_string_bool", is_semver);
  table.add("semver::isGreaterThan(semver) -> bool", "semver_is_greater_than", version_greater);
  table.add("semver::isLessThan(semver) -> bool", "semver_is_less_than", version_less);
  table.add("semver::compareTo(semver) -> int", "semver_compare_to", version_compare);
  table.add("semver::major() -> int", "semver_major", major);
  table.add("semver::minor() -> int", "semver_minor", minor);
  table.add("semver::patch() -> int", "semver_patch", patch);
}

}  // namespace berth::cel
