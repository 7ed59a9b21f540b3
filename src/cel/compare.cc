// Equality and order of values.

#include <cmath>

#include "cel/cost.h"
#include "cel/library/named_formats.h"
#include "cel/library/url.h"
#include "cel/value.h"

namespace berth::cel {

namespace {

// How many elements may be compared for one comparison. Lists that hold the same list twice, level
// by level, have more than any machine can visit.
struct Budget {
  std::int64_t left = 2'000'000;
};

Value equal(const Value& left, const Value& right, Budget& budget);

int sign(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

int compare_numbers(double a, std::int64_t b) {
  if (a < -9223372036854775808.0) return -1;
  if (a > 9223372036854775807.0) return 1;
  return sign(a, static_cast<double>(b));
}

int compare_numbers(double a, std::uint64_t b) {
  if (a < 0) return -1;
  if (a > 18446744073709551615.0) return 1;
  return sign(a, static_cast<double>(b));
}

int compare_numbers(std::int64_t a, std::uint64_t b) {
  if (a < 0 || b >> 63 != 0) return -1;
  return sign(static_cast<std::uint64_t>(a), b);
}

bool is_number(const Value& value) {
  return value.is(Kind::kInt) || value.is(Kind::kUint) || value.is(Kind::kDouble);
}

bool is_nan(const Value& value) { return value.is(Kind::kDouble) && std::isnan(value.as_double()); }

// Both are numbers, neither is NaN.
int compare_numbers(const Value& a, const Value& b) {
  if (a.is(Kind::kInt)) {
    if (b.is(Kind::kInt)) return sign(a.as_int(), b.as_int());
    if (b.is(Kind::kUint)) return compare_numbers(a.as_int(), b.as_uint());
    return -compare_numbers(b.as_double(), a.as_int());
  }
  if (a.is(Kind::kUint)) {
    if (b.is(Kind::kUint)) return sign(a.as_uint(), b.as_uint());
    if (b.is(Kind::kInt)) return -compare_numbers(b.as_int(), a.as_uint());
    return -compare_numbers(b.as_double(), a.as_uint());
  }
  if (b.is(Kind::kDouble)) return sign(a.as_double(), b.as_double());
  if (b.is(Kind::kInt)) return compare_numbers(a.as_double(), b.as_int());
  return compare_numbers(a.as_double(), b.as_uint());
}

Value equal_lists(const List& a, const List& b, Budget& budget) {
  if (a.size() != b.size()) return Value::boolean(false);
  Value error;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Value same = equal(a[i], b[i], budget);
    if (same.is_false() || same.is_fatal()) return same;
    // Parity: an error of comparing two elements counts as equal, unless the list is a sum.
    if (same.is_error() && !error.is_error() && a.is_sum()) error = same;
  }
  return error.is_error() ? error : Value::boolean(true);
}

Value equal_maps(const Map& a, const Map& b, Budget& budget) {
  if (a.size() != b.size()) return Value::boolean(false);
  for (const Map::Entry& entry : a.entries()) {
    const Value* other = b.find_or_default(entry.key);
    if (other == nullptr) return Value::boolean(false);
    const Value same = equal(entry.value, *other, budget);
    if (same.is_false() || same.is_fatal()) return same;
  }
  return Value::boolean(true);
}

Value equal_to(const Value& left, const Value& right, Budget& budget) {
  if (--budget.left < 0) return cost_limit_exceeded();
  const bool same_kind = left.kind() == right.kind();
  switch (left.kind()) {
    case Kind::kError: return left;
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      return Value::boolean(is_number(right) && !is_nan(left) && !is_nan(right) &&
                            compare_numbers(left, right) == 0);
    case Kind::kOptional: {
      if (!same_kind) return Value::boolean(false);
      const auto& a = left.as_optional().value;
      const auto& b = right.as_optional().value;
      if (!a || !b) return Value::boolean(!a && !b);
      return equal_to(*a, *b, budget);
    }
    // Parity: these refuse to be compared with anything else.
    case Kind::kQuantity:
      if (!same_kind || right.as_quantity().computed) return error_or_no_overload(right);
      return Value::boolean(*left.as_quantity().quantity == *right.as_quantity().quantity);
    case Kind::kSemver:
      if (!same_kind) return error_or_no_overload(right);
      return Value::boolean(compare(left.as_semver(), right.as_semver()) == 0);
    case Kind::kUrl:
      if (!same_kind) return error_or_no_overload(right);
      return Value::boolean(left.as_url().text() == right.as_url().text());
    case Kind::kIp:
      if (!same_kind) return error_or_no_overload(right);
      return Value::boolean(left.as_ip() == right.as_ip());
    case Kind::kCidr:
      if (!same_kind) return error_or_no_overload(right);
      return Value::boolean(left.as_cidr() == right.as_cidr());
    case Kind::kFormat:
      if (!same_kind) return error_or_no_overload(right);
      return Value::boolean(left.as_format().name == right.as_format().name);
    default: break;
  }
  if (!same_kind) return Value::boolean(false);
  switch (left.kind()) {
    case Kind::kNull: return Value::boolean(true);
    case Kind::kBool: return Value::boolean(left.as_bool() == right.as_bool());
    case Kind::kString: return Value::boolean(left.as_string() == right.as_string());
    case Kind::kBytes: return Value::boolean(left.as_bytes() == right.as_bytes());
    case Kind::kDuration: return Value::boolean(left.as_duration() == right.as_duration());
    case Kind::kTimestamp:
      return Value::boolean(left.as_timestamp().seconds == right.as_timestamp().seconds &&
                            left.as_timestamp().nanoseconds == right.as_timestamp().nanoseconds);
    case Kind::kType: return Value::boolean(left.as_type()->name() == right.as_type()->name());
    case Kind::kList: return equal_lists(left.as_list(), right.as_list(), budget);
    case Kind::kMap: return equal_maps(left.as_map(), right.as_map(), budget);
    default: return Value::boolean(false);
  }
}

Value equal(const Value& left, const Value& right, Budget& budget) {
  if (left.is(Kind::kNull) || right.is(Kind::kNull)) {
    return Value::boolean(left.kind() == right.kind());
  }
  return equal_to(left, right, budget);
}

}  // namespace

Value equal(const Value& left, const Value& right) {
  Budget budget;
  return equal(left, right, budget);
}

Value equal_to(const Value& left, const Value& right) {
  Budget budget;
  return equal_to(left, right, budget);
}

bool contains(const List& list, const Value& value) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (equal_to(value, list[i]).is_true()) return true;
  }
  return false;
}

bool is_comparable(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kDuration:
    case Kind::kTimestamp: return true;
    default: return false;
  }
}

Value compare(const Value& left, const Value& right) {
  if (is_nan(left)) return Value::error("NaN values cannot be ordered");
  if (is_number(left) && is_number(right)) {
    if (is_nan(right)) return Value::error("NaN values cannot be ordered");
    return Value::integer(compare_numbers(left, right));
  }
  if (left.kind() != right.kind()) return error_or_no_overload(right);
  switch (left.kind()) {
    case Kind::kBool: return Value::integer(sign(left.as_bool(), right.as_bool()));
    case Kind::kString: return Value::integer(sign(left.as_string().compare(right.as_string()), 0));
    case Kind::kBytes: return Value::integer(sign(left.as_bytes().compare(right.as_bytes()), 0));
    case Kind::kDuration: return Value::integer(sign(left.as_duration(), right.as_duration()));
    case Kind::kTimestamp: {
      const auto& a = left.as_timestamp();
      const auto& b = right.as_timestamp();
      if (a.seconds != b.seconds) return Value::integer(sign(a.seconds, b.seconds));
      return Value::integer(sign(a.nanoseconds, b.nanoseconds));
    }
    default: return no_such_overload();
  }
}

}  // namespace berth::cel
