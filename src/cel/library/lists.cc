// Functions of lists, and lists as sets.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "cel/cost.h"
#include "cel/functions.h"
#include "cel/library/library.h"
#include "cel/syntax.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

// No list may become longer: it would cost more than any evaluation may.
constexpr std::int64_t kLongestList = 1'000'000;
// Upstream's limit for lists.range().
constexpr std::int64_t kLongestRange = 1'000'000;

struct Element {
  const char* signature;  // its type in one
  const char* name;       // in the ids of Kubernetes' overloads
  const char* type_name;  // in the ids of the language's
};
constexpr std::array<Element, 8> kComparable = {
    {{"int", "int", "int"},
     {"uint", "uint", "uint"},
     {"double", "double", "double"},
     {"bool", "bool", "bool"},
     {"duration", "duration", "google.protobuf.Duration"},
     {"timestamp", "timestamp", "google.protobuf.Timestamp"},
     {"string", "string", "string"},
     {"bytes", "bytes", "bytes"}}};

Value is_sorted(Args args) {
  const List& list = args[0].as_list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!is_comparable(list[i])) return error_or_no_overload(list[i]);
    if (i == 0) continue;
    const Value order = compare(list[i - 1], list[i]);
    if (order.is(Kind::kInt) && order.as_int() > 0) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value sum(const List& list, Value total) {
  const Function& add = *functions().find(operators::kAdd);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!has_trait(list[i], Trait::kAdd)) return error_or_no_overload(list[i]);
    const std::array<Value, 2> both = {total, list[i]};
    total = call_function(add, nullptr, both);
    if (total.is_error()) return total;
  }
  return total;
}
Value sum_int(Args args) { return sum(args[0].as_list(), Value::integer(0)); }
Value sum_uint(Args args) { return sum(args[0].as_list(), Value::unsigned_integer(0)); }
Value sum_double(Args args) { return sum(args[0].as_list(), Value::floating(0)); }
Value sum_duration(Args args) { return sum(args[0].as_list(), Value::duration(0)); }

Value extreme(const List& list, const char* name, std::int64_t preferred) {
  if (list.empty()) return Value::error(std::string(name) + " called on empty list");
  Value best = list[0];
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!is_comparable(list[i])) return error_or_no_overload(list[i]);
    const Value order = compare(best, list[i]);
    if (order.is(Kind::kInt) && order.as_int() == preferred) best = list[i];
  }
  return best;
}
Value minimum(Args args) { return extreme(args[0].as_list(), "min", 1); }
Value maximum(Args args) { return extreme(args[0].as_list(), "max", -1); }

Value list_index_of(Args args) {
  const List& list = args[0].as_list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (equal_to(list[i], args[1]).is_true()) return Value::integer(static_cast<std::int64_t>(i));
  }
  return Value::integer(-1);
}
Value last_list_index_of(Args args) {
  const List& list = args[0].as_list();
  for (std::size_t i = list.size(); i-- > 0;) {
    if (equal_to(list[i], args[1]).is_true()) return Value::integer(static_cast<std::int64_t>(i));
  }
  return Value::integer(-1);
}

Value slice(Args args) {
  const List& list = args[0].as_list();
  const std::int64_t begin = args[1].as_int();
  const std::int64_t end = args[2].as_int();
  const std::string cannot =
      "cannot slice(" + std::to_string(begin) + ", " + std::to_string(end) + "), ";
  if (begin < 0 || end < 0) return Value::error(cannot + "negative indexes not supported");
  if (begin > end) {
    return Value::error(cannot + "start index must be less than or equal to end index");
  }
  if (end > static_cast<std::int64_t>(list.size())) {
    return Value::error(cannot + "list is length " + std::to_string(list.size()));
  }
  std::vector<Value> items;
  for (std::int64_t i = begin; i < end; ++i) items.push_back(list[static_cast<std::size_t>(i)]);
  return Value::list(std::move(items));
}

bool flatten(const List& list, std::int64_t depth, std::vector<Value>& items) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (static_cast<std::int64_t>(items.size()) > kLongestList) return false;
    if (!list[i].is(Kind::kList) || depth == 0) {
      items.push_back(list[i]);
    } else if (!flatten(list[i].as_list(), depth - 1, items)) {
      return false;
    }
  }
  return true;
}

Value flatten(Args args) {
  const bool deep = args.size() == 2;
  if (!args[0].is(Kind::kList) || (deep && !args[1].is(Kind::kInt))) {
    if (args[0].is_error()) return args[0];
    return Value::error("no such overload: " + type_name(args[0]) + ".flatten(" +
                        (deep ? type_name(args[1]) : "") + ")");
  }
  const std::int64_t depth = deep ? args[1].as_int() : 1;
  if (depth < 0) return Value::error("level must be non-negative");
  std::vector<Value> items;
  if (!flatten(args[0].as_list(), depth, items)) return cost_limit_exceeded();
  return Value::list(std::move(items));
}

// In the order of their keys.
Value sort_by_keys(Args args) {
  const List& list = args[0].as_list();
  const List& keys = args[1].as_list();
  if (list.size() != keys.size()) {
    return Value::error(
        "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but "
        "got " +
        std::to_string(list.size()) + " and " + std::to_string(keys.size()) +
        " elements respectively");
  }
  if (list.empty()) return args[0];
  if (!is_comparable(keys[0])) return Value::error("list elements must be comparable");
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].kind() != keys[0].kind()) {
      return Value::error("list elements must have the same type");
    }
  }
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // NaN has no place in an order; it stays where it is found.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Value by = compare(keys[a], keys[b]);
    if (by.is(Kind::kInt) && by.as_int() != 0) return by.as_int() < 0;
    return a < b;
  });
  std::vector<Value> items;
  for (const std::size_t i : order) items.push_back(list[i]);
  return Value::list(std::move(items));
}

Value sort(Args args) {
  const std::array<Value, 2> both = {args[0], args[0]};
  return sort_by_keys(both);
}

Value range(Args args) {
  const std::int64_t count = args[0].as_int();
  if (count < 0)
    return Value::error(fmt::format("lists.range: size must be non-negative, got {}", count));
  if (count > kLongestRange)
    return Value::error(
        fmt::format("lists.range: size {} exceeds maximum allowed ({})", count, kLongestRange));
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) items.push_back(Value::integer(i));
  return Value::list(std::move(items));
}

Value reverse(Args args) {
  const List& list = args[0].as_list();
  std::vector<Value> items;
  for (std::size_t i = list.size(); i-- > 0;) items.push_back(list[i]);
  return Value::list(std::move(items));
}

Value distinct(Args args) {
  const List& list = args[0].as_list();
  if (list.empty()) return args[0];
  // Each with each would cost more than an evaluation may.
  if (list.size() > 1000) return cost_limit_exceeded();
  std::vector<Value> items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool seen = std::any_of(items.begin(), items.end(), [&](const Value& item) {
      return equal_to(list[i], item).is_true();
    });
    if (!seen) items.push_back(list[i]);
  }
  return Value::list(std::move(items));
}

bool contains_all(const List& list, const List& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (!contains(list, part[i])) return false;
  }
  return true;
}

bool too_large(const List& a, const List& b) { return a.size() * b.size() > 4'000'000; }

Value sets_contains(Args args) {
  const List& a = args[0].as_list();
  const List& b = args[1].as_list();
  if (too_large(a, b)) return cost_limit_exceeded();
  return Value::boolean(contains_all(a, b));
}
Value sets_equivalent(Args args) {
  const List& a = args[0].as_list();
  const List& b = args[1].as_list();
  if (too_large(a, b)) return cost_limit_exceeded();
  return Value::boolean(contains_all(a, b) && contains_all(b, a));
}
Value sets_intersects(Args args) {
  const List& a = args[0].as_list();
  const List& b = args[1].as_list();
  if (too_large(a, b)) return cost_limit_exceeded();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (contains(b, a[i])) return Value::boolean(true);
  }
  return Value::boolean(false);
}

}  // namespace

void add_list_statistics(FunctionTable& table) {
  for (const Element& each : kComparable) {
    const std::string list = std::string("list(") + each.signature + ")::";
    const std::string id = std::string("list_") + each.name;
    table.add(list + "isSorted() -> bool", id + "_is_sorted_bool", is_sorted);
    table.add(list + "max() -> " + each.signature, id + "_max_" + each.name, maximum);
    table.add(list + "min() -> " + each.signature, id + "_min_" + each.name, minimum);
  }
  table.add("list(int)::sum() -> int", "list_int_sum_int", sum_int);
  table.add("list(uint)::sum() -> uint", "list_uint_sum_uint", sum_uint);
  table.add("list(double)::sum() -> double", "list_double_sum_double", sum_double);
  table.add("list(duration)::sum() -> duration", "list_duration_sum_duration", sum_duration);
  table.add("list(A)::indexOf(A) -> int", "list_a_index_of_int", list_index_of);
  table.add("list(A)::lastIndexOf(A) -> int", "list_a_last_index_of_int", last_list_index_of);
}

void add_sets(FunctionTable& table) {
  table.add("sets.contains(list(T), list(T)) -> bool", "list_sets_contains_list", sets_contains);
  table.add("sets.equivalent(list(T), list(T)) -> bool", "list_sets_equivalent_list",
            sets_equivalent);
  table.add("sets.intersects(list(T), list(T)) -> bool", "list_sets_intersects_list",
            sets_intersects);
}

void add_lists(FunctionTable& table) {
  table.add("list(T)::slice(int, int) -> list(T)", "list_slice", slice);
  table.add("list(list(T))::flatten() -> list(T)", "list_flatten", flatten);
  table.add("list(dyn)::flatten(int) -> list(dyn)", "list_flatten_int", flatten);
  table.at("flatten").unguarded = true;
  for (const Element& each : kComparable) {
    const std::string list = std::string("list(") + each.signature + ")";
    const std::string id = std::string("list_") + each.type_name;
    table.add(list + "::sort() -> " + list, id + "_sort");
    table.add("list(T)::@sortByAssociatedKeys(" + list + ") -> list(T)",
              id + "_sortByAssociatedKeys");
  }
  table.for_all("sort", Trait::kList, sort);
  table.for_all(operators::kSortByKeys, Trait::kList, sort_by_keys);
  table.add("lists.range(int) -> list(int)", "lists_range", range);
  table.add("list(T)::reverse() -> list(T)", "list_reverse", reverse);
  table.add("list(T)::distinct() -> list(T)", "list_distinct", distinct);
}

}  // namespace berth::cel
