// Optional values; what macros and devices need; and functions that are only declared.

#include "cel/library/library.h"
#include "cel/syntax.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

// Empty, 0, false or null.
bool is_zero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull: return true;
    case Kind::kBool: return !value.as_bool();
    case Kind::kInt: return value.as_int() == 0;
    case Kind::kUint: return value.as_uint() == 0;
    case Kind::kDouble: return value.as_double() == 0;
    case Kind::kString: return value.as_string().empty();
    case Kind::kBytes: return value.as_bytes().empty();
    case Kind::kDuration: return value.as_duration() == 0;
    case Kind::kTimestamp:  // the first of January of the year 1
      return value.as_timestamp().seconds == -62'135'596'800 &&
             value.as_timestamp().nanoseconds == 0;
    case Kind::kList: return value.as_list().empty();
    case Kind::kMap: return value.as_map().size() == 0;
    default: return false;
  }
}

Value some(Args args) { return Value::some(args[0]); }
Value some_unless_zero(Args args) {
  return is_zero(args[0]) ? Value::none() : Value::some(args[0]);
}
Value none(Args) { return Value::none(); }
Value value_of(Args args) {
  const auto& inner = args[0].as_optional().value;
  return inner ? *inner : Value::error("optional.none() dereference");
}
Value has_value(Args args) { return Value::boolean(args[0].as_optional().value != nullptr); }

Value first(Args args) {
  const List& list = args[0].as_list();
  return list.empty() ? Value::none() : Value::some(list[0]);
}
Value last(Args args) {
  const List& list = args[0].as_list();
  return list.empty() ? Value::none() : Value::some(list[list.size() - 1]);
}

Value unwrap(Args args) {
  const List& list = args[0].as_list();
  std::vector<Value> items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is(Kind::kOptional)) {
      return Value::error("value " + value_text(list[i]) + " is not optional");
    }
    if (const auto& inner = list[i].as_optional().value) items.push_back(*inner);
  }
  return Value::list(std::move(items));
}

Value includes(Args args) {
  if (!args[0].is(Kind::kList)) return Value::boolean(equal_to(args[0], args[1]).is_true());
  const List& list = args[0].as_list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (equal_to(list[i], args[1]).is_true()) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Value insert(const Value& into, const Value& key, const Value& value) {
  if (std::string wrong = unhashable(key); !wrong.empty()) return Value::fatal(std::move(wrong));
  if (into.as_map().find(key) != nullptr) {
    return Value::error("insert failed: key " + value_text(key) + " already exists");
  }
  if (into.as_map().growing) {
    into.shared_map()->set(key, value);
    return into;
  }
  auto copy = std::make_shared<Map>();
  for (const Map::Entry& entry : into.as_map().entries()) copy->set(entry.key, entry.value);
  copy->set(key, value);
  return Value::map(std::move(copy));
}

Value insert_value(Args args) { return insert(args[0], args[1], args[2]); }
Value insert_map(Args args) {
  Value into = args[0];
  for (const Map::Entry& entry : args[1].as_map().entries()) {
    into = insert(into, entry.key, entry.value);
    if (into.is_error()) return into;
  }
  return into;
}

}  // namespace

void add_optionals(FunctionTable& table) {
  table.add("optional.of(V) -> optional(V)", "optional_of", some);
  table.add("optional.ofNonZeroValue(V) -> optional(V)", "optional_ofNonZeroValue",
            some_unless_zero);
  table.add("optional.none() -> optional(V)", "optional_none", none);
  table.add("optional(V)::value() -> V", "optional_value", value_of);
  table.add("optional(V)::hasValue() -> bool", "optional_hasValue", has_value);
  table.add("optional(V)::or(optional(V)) -> optional(V)", "optional_or_optional");
  table.add("optional(V)::orValue(V) -> V", "optional_orValue_value");
  table.add("_?._(dyn, string) -> optional(V)", "select_optional_field");
  table.add("_[?_](list(V), int) -> optional(V)", "list_optindex_optional_int");
  table.add("_[?_](optional(list(V)), int) -> optional(V)", "optional_list_optindex_optional_int");
  table.add("_[?_](map(K, V), K) -> optional(V)", "map_optindex_optional_value");
  table.add("_[?_](optional(map(K, V)), K) -> optional(V)", "optional_map_optindex_optional_value");
  table.add("_[_](optional(list(V)), int) -> optional(V)", "optional_list_index_int");
  table.add("_[_](optional(map(K, V)), K) -> optional(V)", "optional_map_index_value");
  table.add("list(V)::last() -> optional(V)", "list_last", last);
  table.add("list(V)::first() -> optional(V)", "list_first", first);
  table.add("optional.unwrap(list(optional(V))) -> list(V)", "optional_unwrap", unwrap);
  table.add("list(optional(V))::unwrapOpt() -> list(V)", "optional_unwrapOpt", unwrap);
}

void add_devices(FunctionTable& table) {
  table.add("cel.@mapInsert(map(K, V), K, V) -> map(K, V)", "@mapInsert_map_key_value",
            insert_value);
  table.add("cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)", "@mapInsert_map_map", insert_map);
  table.add("dyn::includes(dyn) -> bool", "list_includes_dyn_dyn", includes);
}

void add_authorization(FunctionTable& table) {
  const std::string prefix = "kubernetes.authorization.";
  const std::string authorizer = prefix + "Authorizer";
  const std::string path = prefix + "PathCheck";
  const std::string group = prefix + "GroupCheck";
  const std::string resource = prefix + "ResourceCheck";
  const std::string decision = prefix + "Decision";
  table.add(authorizer + "::path(string) -> " + path, "authorizer_path");
  table.add(authorizer + "::group(string) -> " + group, "authorizer_group");
  table.add(authorizer + "::serviceAccount(string, string) -> " + authorizer,
            "authorizer_serviceaccount");
  table.add(group + "::resource(string) -> " + resource, "groupcheck_resource");
  table.add(resource + "::subresource(string) -> " + resource, "resourcecheck_subresource");
  table.add(resource + "::namespace(string) -> " + resource, "resourcecheck_namespace");
  table.add(resource + "::name(string) -> " + resource, "resourcecheck_name");
  table.add(path + "::check(string) -> " + decision, "pathcheck_check");
  table.add(resource + "::check(string) -> " + decision, "resourcecheck_check");
  table.add(decision + "::errored() -> bool", "decision_errored");
  table.add(decision + "::error() -> string", "decision_error");
  table.add(decision + "::allowed() -> bool", "decision_allowed");
  table.add(decision + "::reason() -> string", "decision_reason");
  table.add(resource + "::fieldSelector(string) -> " + resource, "authorizer_fieldselector");
  table.add(resource + "::labelSelector(string) -> " + resource, "authorizer_labelselector");
}

}  // namespace berth::cel
