// Operators, and what is declared for the sake of the checker only: the evaluator has steps of its
// own for logic, equality and access.

#include <array>
#include <limits>

#include "cel/library/library.h"
#include "cel/library/time.h"
#include "cel/numbers.h"
#include "cel/syntax.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

Value int_overflow() { return Value::error("integer overflow"); }
Value uint_overflow() { return Value::error("unsigned integer overflow"); }

Value not_negation(Args args) {
  if (!args[0].is(Kind::kBool)) return error_or_no_overload(args[0]);
  return Value::boolean(!args[0].as_bool());
}

Value not_strictly_false(Args args) {
  return args[0].is(Kind::kBool) ? args[0] : Value::boolean(true);
}

Value add_to_list(const Value& left, const Value& right) {
  if (!right.is(Kind::kList)) return error_or_no_overload(right);
  const std::shared_ptr<List>& list = left.shared_list();
  if (list->growing) {
    const std::size_t count = right.as_list().size();  // it may be the list itself
    for (std::size_t i = 0; i < count; ++i) list->append(right.as_list()[i]);
    return left;
  }
  if (list->empty()) return right;
  if (right.as_list().empty()) return left;
  // What grows must not be seen growing.
  std::shared_ptr<List> other = right.shared_list();
  if (other->growing) {
    other = std::make_shared<List>(*other);
    other->growing = false;
  }
  return Value::list(List::sum(list, std::move(other)));
}

Value add(Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.is(Kind::kDuration) || left.is(Kind::kTimestamp)) return add_time(left, right);
  if (left.is(Kind::kList)) return add_to_list(left, right);
  if (left.kind() != right.kind()) return error_or_no_overload(right);
  switch (left.kind()) {
    case Kind::kInt: {
      std::int64_t sum = 0;
      if (__builtin_add_overflow(left.as_int(), right.as_int(), &sum)) return int_overflow();
      return Value::integer(sum);
    }
    case Kind::kUint: {
      std::uint64_t sum = 0;
      if (__builtin_add_overflow(left.as_uint(), right.as_uint(), &sum)) return uint_overflow();
      return Value::unsigned_integer(sum);
    }
    case Kind::kDouble: return Value::floating(left.as_double() + right.as_double());
    case Kind::kString: return Value::string(left.as_string() + right.as_string());
    case Kind::kBytes: return Value::bytes(left.as_bytes() + right.as_bytes());
    default: return no_such_overload();
  }
}

Value subtract(Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.is(Kind::kDuration) || left.is(Kind::kTimestamp)) return subtract_time(left, right);
  if (left.kind() != right.kind()) return error_or_no_overload(right);
  switch (left.kind()) {
    case Kind::kInt: {
      std::int64_t difference = 0;
      if (__builtin_sub_overflow(left.as_int(), right.as_int(), &difference)) return int_overflow();
      return Value::integer(difference);
    }
    case Kind::kUint:
      if (right.as_uint() > left.as_uint()) return uint_overflow();
      return Value::unsigned_integer(left.as_uint() - right.as_uint());
    default: return Value::floating(left.as_double() - right.as_double());
  }
}

Value multiply(Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.kind() != right.kind()) return error_or_no_overload(right);
  switch (left.kind()) {
    case Kind::kInt: {
      std::int64_t product = 0;
      if (__builtin_mul_overflow(left.as_int(), right.as_int(), &product)) return int_overflow();
      return Value::integer(product);
    }
    case Kind::kUint: {
      std::uint64_t product = 0;
      if (__builtin_mul_overflow(left.as_uint(), right.as_uint(), &product)) return uint_overflow();
      return Value::unsigned_integer(product);
    }
    default: return Value::floating(left.as_double() * right.as_double());
  }
}

Value divide(Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.kind() != right.kind()) return error_or_no_overload(right);
  switch (left.kind()) {
    case Kind::kInt:
      if (right.as_int() == 0) return Value::error("division by zero");
      if (left.as_int() == kSmallest && right.as_int() == -1) return int_overflow();
      return Value::integer(left.as_int() / right.as_int());
    case Kind::kUint:
      if (right.as_uint() == 0) return Value::error("division by zero");
      return Value::unsigned_integer(left.as_uint() / right.as_uint());
    default: return Value::floating(left.as_double() / right.as_double());
  }
}

Value modulo(Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.kind() != right.kind()) return error_or_no_overload(right);
  if (left.is(Kind::kInt)) {
    if (right.as_int() == 0) return Value::error("modulus by zero");
    if (left.as_int() == kSmallest && right.as_int() == -1) return int_overflow();
    return Value::integer(left.as_int() % right.as_int());
  }
  if (right.as_uint() == 0) return Value::error("modulus by zero");
  return Value::unsigned_integer(left.as_uint() % right.as_uint());
}

Value negate(Args args) {
  switch (args[0].kind()) {
    case Kind::kInt:
      if (args[0].as_int() == kSmallest) return int_overflow();
      return Value::integer(-args[0].as_int());
    case Kind::kDouble: return Value::floating(-args[0].as_double());
    case Kind::kDuration:
      if (args[0].as_duration() == kSmallest) return Value::error("duration overflow");
      return Value::duration(-args[0].as_duration());
    default: return no_such_overload();
  }
}

// The order as a number, or the error of comparing.
template <typename Test>
Value ordered(Args args, Test test) {
  const Value order = compare(args[0], args[1]);
  return order.is_error() ? order : Value::boolean(test(order.as_int()));
}
Value less(Args args) {
  return ordered(args, [](std::int64_t order) { return order < 0; });
}
Value less_equals(Args args) {
  return ordered(args, [](std::int64_t order) { return order <= 0; });
}
Value greater(Args args) {
  return ordered(args, [](std::int64_t order) { return order > 0; });
}
Value greater_equals(Args args) {
  return ordered(args, [](std::int64_t order) { return order >= 0; });
}

Value in(Args args) {
  const Value& container = args[1];
  if (container.is(Kind::kList)) return Value::boolean(contains(container.as_list(), args[0]));
  if (container.is(Kind::kMap)) {
    if (std::string wrong = unhashable(args[0]); !wrong.empty() && container.as_map().size() > 0) {
      return Value::fatal(std::move(wrong));
    }
    return Value::boolean(container.as_map().find(args[0]) != nullptr);
  }
  return error_or_no_overload(container);
}

Value size(Args args) {
  switch (args[0].kind()) {
    case Kind::kString:
      return Value::integer(static_cast<std::int64_t>(count_runes(args[0].as_string())));
    case Kind::kBytes: return Value::integer(static_cast<std::int64_t>(args[0].as_bytes().size()));
    case Kind::kList: return Value::integer(static_cast<std::int64_t>(args[0].as_list().size()));
    default: return Value::integer(static_cast<std::int64_t>(args[0].as_map().size()));
  }
}

struct Ordered {
  const char* name;
  const char* left;
  const char* right;
};
constexpr std::array<Ordered, 14> kOrdered = {{{"bool", "bool", "bool"},
                                               {"int64", "int", "int"},
                                               {"int64_double", "int", "double"},
                                               {"int64_uint64", "int", "uint"},
                                               {"uint64", "uint", "uint"},
                                               {"uint64_double", "uint", "double"},
                                               {"uint64_int64", "uint", "int"},
                                               {"double", "double", "double"},
                                               {"double_int64", "double", "int"},
                                               {"double_uint64", "double", "uint"},
                                               {"string", "string", "string"},
                                               {"bytes", "bytes", "bytes"},
                                               {"timestamp", "timestamp", "timestamp"},
                                               {"duration", "duration", "duration"}}};

void add_order(FunctionTable& table, const char* name, const std::string& id, Implementation call) {
  for (const Ordered& each : kOrdered) {
    table.add(std::string(name) + "(" + each.left + ", " + each.right + ") -> bool",
              id + "_" + each.name);
  }
  table.for_all(name, Trait::kCompare, call);
}

void add_arithmetic(FunctionTable& table) {
  table.add("_+_(bytes, bytes) -> bytes", "add_bytes");
  table.add("_+_(double, double) -> double", "add_double");
  table.add("_+_(duration, duration) -> duration", "add_duration_duration");
  table.add("_+_(duration, timestamp) -> timestamp", "add_duration_timestamp");
  table.add("_+_(timestamp, duration) -> timestamp", "add_timestamp_duration");
  table.add("_+_(int, int) -> int", "add_int64");
  table.add("_+_(list(A), list(A)) -> list(A)", "add_list");
  table.add("_+_(string, string) -> string", "add_string");
  table.add("_+_(uint, uint) -> uint", "add_uint64");
  table.for_all("_+_", Trait::kAdd, add);

  table.add("_/_(double, double) -> double", "divide_double");
  table.add("_/_(int, int) -> int", "divide_int64");
  table.add("_/_(uint, uint) -> uint", "divide_uint64");
  table.for_all("_/_", Trait::kDivide, divide);

  table.add("_%_(int, int) -> int", "modulo_int64");
  table.add("_%_(uint, uint) -> uint", "modulo_uint64");
  table.for_all("_%_", Trait::kModulo, modulo);

  table.add("_*_(double, double) -> double", "multiply_double");
  table.add("_*_(int, int) -> int", "multiply_int64");
  table.add("_*_(uint, uint) -> uint", "multiply_uint64");
  table.for_all("_*_", Trait::kMultiply, multiply);

  table.add("-_(double) -> double", "negate_double");
  table.add("-_(int) -> int", "negate_int64");
  table.for_all("-_", Trait::kNegate, negate);

  table.add("_-_(double, double) -> double", "subtract_double");
  table.add("_-_(duration, duration) -> duration", "subtract_duration_duration");
  table.add("_-_(int, int) -> int", "subtract_int64");
  table.add("_-_(timestamp, duration) -> timestamp", "subtract_timestamp_duration");
  table.add("_-_(timestamp, timestamp) -> duration", "subtract_timestamp_timestamp");
  table.add("_-_(uint, uint) -> uint", "subtract_uint64");
  table.for_all("_-_", Trait::kSubtract, subtract);
}

}  // namespace

void add_operators(FunctionTable& table) {
  table.add("_?_:_(bool, A, A) -> A", "conditional");
  table.add("_&&_(bool, bool) -> bool", "logical_and");
  table.add("_||_(bool, bool) -> bool", "logical_or");
  table.add("!_(bool) -> bool", "logical_not");
  table.for_all("!_", Trait::kNone, not_negation);
  table.add("@not_strictly_false(bool) -> bool", "not_strictly_false", not_strictly_false);
  table.at(operators::kNotStrictlyFalse).non_strict = true;
  table.add("_==_(A, A) -> bool", "equals");
  table.add("_!=_(A, A) -> bool", "not_equals");

  add_arithmetic(table);
  add_order(table, operators::kLess, "less", less);
  add_order(table, operators::kLessEquals, "less_equals", less_equals);
  add_order(table, operators::kGreater, "greater", greater);
  add_order(table, operators::kGreaterEquals, "greater_equals", greater_equals);

  table.add("_[_](list(A), int) -> A", "index_list");
  table.add("_[_](map(A, B), A) -> B", "index_map");
  table.add("@in(A, list(A)) -> bool", "in_list");
  table.add("@in(A, map(A, B)) -> bool", "in_map");
  table.for_all(operators::kIn, Trait::kNone, in);

  table.add("size(bytes) -> int", "size_bytes");
  table.add("bytes::size() -> int", "bytes_size");
  table.add("size(list(A)) -> int", "size_list");
  table.add("list(A)::size() -> int", "list_size");
  table.add("size(map(A, B)) -> int", "size_map");
  table.add("map(A, B)::size() -> int", "map_size");
  table.add("size(string) -> int", "size_string");
  table.add("string::size() -> int", "string_size");
  table.for_all("size", Trait::kSize, size);
}

}  // namespace berth::cel
