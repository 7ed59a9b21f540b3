#include "memapi/crd_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/go_quote.h"
#include "cel/numbers.h"
#include "memapi/crd_formats.h"
#include "memapi/json_edit.h"
#include "memapi/json_lookup.h"

namespace berth::memapi {
namespace {

using Kind = JsonValue::Kind;

std::string shown(const JsonValue& value) {
  if (value.kind == Kind::kString) return go_quoted(value.text);
  if (value.kind == Kind::kNumber) return value.text;
  JsonValue sorted = value;
  sort_members(sorted);
  return to_json(sorted);
}

bool is_integral(const std::string& number) {
  const double value = std::strtod(number.c_str(), nullptr);
  return std::isfinite(value) && std::floor(value) == value;
}

// As errors call the type of a value.
std::string_view type_name(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "boolean";
    case Kind::kNumber:
      return value.text.find_first_of(".eE") == std::string::npos ? "integer" : "number";
    case Kind::kString: return "string";
    case Kind::kArray: return "array";
    case Kind::kObject: return "object";
  }
  return "";
}

bool has_type(const JsonValue& value, const CrdSchema& schema) {
  const std::string_view type = type_name(value);
  const bool whole = value.kind == Kind::kNumber && is_integral(value.text);
  if (schema.int_or_string) return type == "string" || whole;
  if (schema.type == "integer") return whole;
  if (schema.type == "number") return value.kind == Kind::kNumber;
  return schema.type.empty() || schema.type == type;
}

// A limit as Go prints the number.
std::string limit_text(const std::string& number) {
  return cel::shortest(std::strtod(number.c_str(), nullptr));
}

class Validation {
 public:
  std::vector<FieldProblem> problems;

  // `old` is what was at the same place before, null if there was nothing, or nobody knows.
  void check(const JsonValue& value, const JsonValue* old, const CrdSchema& schema, bool root,
             const std::string& path) {
    // Parity: what was stored before may stay.
    if (old != nullptr && equal(value, *old)) return;
    if (value.is_null()) {
      if (!schema.nullable && !schema.preserves_unknown) wrong_type(path, schema, "null");
      return;
    }
    if (!has_type(value, schema)) {
      wrong_type(path, schema, type_name(value));
      return;
    }
    check_enumeration(value, schema, path);
    switch (value.kind) {
      case Kind::kString: check_string(value, schema, path); break;
      case Kind::kNumber: check_number(value, schema, path); break;
      case Kind::kArray: check_array(value, old, schema, path); break;
      case Kind::kObject: check_object(value, old, schema, root, path); break;
      default: break;
    }
    check_combinations(value, schema, root, path);
  }

 private:
  static std::string child(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  }
  static std::string place(const std::string& path) { return path.empty() ? "<nil>" : path; }

  void invalid(const std::string& path, const JsonValue& value, std::string_view what) {
    problems.push_back(
        FieldProblem::invalid(place(path), shown(value), fmt::format("{} in body {}", path, what)));
  }

  void wrong_type(const std::string& path, const CrdSchema& schema, std::string_view found) {
    const std::string type = schema.int_or_string ? "integer,string" : schema.type;
    problems.push_back({"FieldValueTypeInvalid",
                        fmt::format("Invalid value: {}: {} in body must be of type {}: {}",
                                    go_quoted(found), path, type, go_quoted(found)),
                        place(path)});
  }

  void too_long(const std::string& path, std::string_view reason, std::string message) {
    problems.push_back({std::string(reason), std::move(message), place(path)});
  }

  void too_many(const std::string& path, std::size_t count, std::int64_t most) {
    too_long(path, "FieldValueTooMany",
             fmt::format("Too many: {}: must have at most {} {}", count, most,
                         most == 1 ? "item" : "items"));
  }

  void check_enumeration(const JsonValue& value, const CrdSchema& schema, const std::string& path) {
    if (!schema.has_enumeration) return;
    const auto same = [&](const JsonValue& one) { return equal(one, value); };
    if (std::ranges::any_of(schema.enumeration, same)) return;
    std::string values;
    for (const JsonValue& one : schema.enumeration) {
      if (!values.empty()) values += ", ";
      values += go_quoted(one.kind == Kind::kString ? one.text : to_json(one));
    }
    problems.push_back(FieldProblem::not_supported(place(path), shown(value), values));
  }

  void check_string(const JsonValue& value, const CrdSchema& schema, const std::string& path) {
    const auto length = static_cast<std::int64_t>(cel::count_runes(value.text));
    if (schema.max_length && length > *schema.max_length) {
      too_long(path, "FieldValueTooLong",
               fmt::format("Too long: may not be more than {} {}", *schema.max_length,
                           *schema.max_length == 1 ? "byte" : "bytes"));
    }
    if (schema.min_length && length < *schema.min_length)
      invalid(path, value, fmt::format("should be at least {} chars long", *schema.min_length));
    if (schema.pattern && !schema.pattern->matches(value.text))
      invalid(path, value, fmt::format("should match '{}'", schema.pattern_text));
    if (!schema.format.empty() && !has_format(value.text, schema.format)) {
      problems.push_back({"FieldValueTypeInvalid",
                          fmt::format("Invalid value: {0}: {1} in body must be of type {2}: {0}",
                                      go_quoted(value.text), path, schema.format),
                          place(path)});
    }
  }

  void check_number(const JsonValue& value, const CrdSchema& schema, const std::string& path) {
    const double number = std::strtod(value.text.c_str(), nullptr);
    const auto parsed = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
    if (schema.maximum) {
      const double most = parsed(*schema.maximum);
      if (schema.exclusive_maximum && number >= most)
        invalid(path, value, fmt::format("should be less than {}", limit_text(*schema.maximum)));
      if (!schema.exclusive_maximum && number > most)
        invalid(path, value,
                fmt::format("should be less than or equal to {}", limit_text(*schema.maximum)));
    }
    if (schema.minimum) {
      const double least = parsed(*schema.minimum);
      if (schema.exclusive_minimum && number <= least)
        invalid(path, value, fmt::format("should be greater than {}", limit_text(*schema.minimum)));
      if (!schema.exclusive_minimum && number < least)
        invalid(path, value,
                fmt::format("should be greater than or equal to {}", limit_text(*schema.minimum)));
    }
    if (schema.multiple_of) {
      const double factor = parsed(*schema.multiple_of);
      const double quotient = factor != 0 ? number / factor : 0;
      if (factor > 0 && std::floor(quotient) != quotient)
        invalid(path, value,
                fmt::format("should be a multiple of {}", limit_text(*schema.multiple_of)));
    }
    if (schema.format == "int32" && is_integral(value.text) && std::abs(number) > 2147483647.0 &&
        number != -2147483648.0) {
      invalid(path, value, fmt::format("must be of type int32: {}", go_quoted(value.text)));
    }
  }

  void check_array(const JsonValue& value, const JsonValue* old, const CrdSchema& schema,
                   const std::string& path) {
    const auto count = static_cast<std::int64_t>(value.items.size());
    if (schema.min_items && count < *schema.min_items)
      invalid(path, JsonValue::of_int(count),
              fmt::format("should have at least {} items", *schema.min_items));
    if (schema.max_items && count > *schema.max_items)
      too_many(path, value.items.size(), *schema.max_items);
    if (schema.unique_items) check_unique(value, path);
    if (!schema.items) return;
    const FormerItems former(old, schema);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      check(value.items[i], former.of(value.items[i]), *schema.items, false,
            fmt::format("{}[{}]", path, i));
    }
  }

  void check_unique(const JsonValue& value, const std::string& path) {
    std::set<std::string> seen;
    for (const JsonValue& item : value.items) {
      if (seen.insert(comparable_text(item)).second) continue;
      invalid(path, value, "shouldn't contain duplicates");
      return;
    }
  }

  void check_object(const JsonValue& value, const JsonValue* old, const CrdSchema& schema,
                    bool root, const std::string& path) {
    const auto count = static_cast<std::int64_t>(value.members.size());
    if (schema.min_properties && count < *schema.min_properties)
      invalid(path, JsonValue::of_int(count),
              fmt::format("should have at least {} properties", *schema.min_properties));
    if (schema.max_properties && count > *schema.max_properties)
      too_many(path, value.members.size(), *schema.max_properties);
    for (const std::string& name : schema.required) {
      if (value.find(name) == nullptr)
        problems.push_back(FieldProblem::required(child(path, name)));
    }
    const bool whole = root || schema.embedded;
    for (const JsonMember& member : value.members) {
      if (whole && member.name == "metadata") continue;
      const CrdSchema* of = schema.member(member.name);
      if (of == nullptr) continue;
      const JsonValue* before = old != nullptr ? old->find(member.name) : nullptr;
      check(member.value, before, *of, false, child(path, member.name));
    }
    if (schema.embedded) check_embedded(value, path);
  }

  void check_embedded(const JsonValue& value, const std::string& path) {
    for (const std::string_view name : {"apiVersion", "kind"}) {
      if (text_at(value, name).empty())
        problems.push_back(FieldProblem::required(child(path, name), "must not be empty"));
    }
  }

  // Problems with a part of a schema that has no name of its own.
  std::vector<FieldProblem> problems_of(const JsonValue& value, const CrdSchema& schema, bool root,
                                        const std::string& path) {
    Validation apart;
    apart.check(value, nullptr, schema, root, path);
    return std::move(apart.problems);
  }

  void take(std::vector<FieldProblem> more) {
    for (FieldProblem& problem : more) problems.push_back(std::move(problem));
  }

  void combination(std::string_view path, std::string_view what) {
    problems.push_back(
        FieldProblem::invalid("<nil>", "\"\"", fmt::format("{} {}", go_quoted(path), what)));
  }

  void check_combinations(const JsonValue& value, const CrdSchema& schema, bool root,
                          const std::string& path) {
    if (!schema.any_of.empty()) {
      std::vector<FieldProblem> first;
      bool fits = false;
      for (const auto& one : schema.any_of) {
        auto found = problems_of(value, *one, root, path);
        fits = fits || found.empty();
        if (first.empty()) first = std::move(found);
      }
      if (!fits) {
        combination(path, "must validate at least one schema (anyOf)");
        take(std::move(first));
      }
    }
    if (!schema.one_of.empty()) {
      std::vector<FieldProblem> first;
      std::size_t fitting = 0;
      for (const auto& one : schema.one_of) {
        auto found = problems_of(value, *one, root, path);
        fitting += found.empty() ? 1 : 0;
        if (first.empty()) first = std::move(found);
      }
      if (fitting == 0) {
        combination(path, "must validate one and only one schema (oneOf). Found none valid");
        take(std::move(first));
      } else if (fitting > 1) {
        combination(path, fmt::format("must validate one and only one schema (oneOf). Found {} "
                                      "valid alternatives",
                                      fitting));
      }
    }
    if (!schema.all_of.empty()) {
      std::vector<FieldProblem> all;
      for (const auto& one : schema.all_of) {
        for (FieldProblem& problem : problems_of(value, *one, root, path))
          all.push_back(std::move(problem));
      }
      if (!all.empty()) {
        take(std::move(all));
        combination(path, "must validate all the schemas (allOf)");
      }
    }
    if (schema.none_of && problems_of(value, *schema.none_of, root, path).empty())
      combination(path, "must not validate the schema (not)");
  }

 public:
  // Items of a list map as they were, by their keys. Items of other lists have no former state.
  class FormerItems {
   public:
    FormerItems(const JsonValue* old, const CrdSchema& schema) : schema_(schema) {
      if (!is_array(old) || schema.list_type != "map") return;
      for (const JsonValue& item : old->items) by_keys_.emplace(keys_of(item), &item);
    }
    const JsonValue* of(const JsonValue& item) const {
      if (by_keys_.empty()) return nullptr;
      const auto found = by_keys_.find(keys_of(item));
      return found == by_keys_.end() ? nullptr : found->second;
    }

   private:
    std::string keys_of(const JsonValue& item) const {
      std::string keys;
      for (const std::string& key : schema_.list_keys) {
        const JsonValue* value = at(item, key);
        keys += value != nullptr ? comparable_text(*value) + "\n" : "\n";
      }
      return keys;
    }
    const CrdSchema& schema_;
    std::map<std::string, const JsonValue*> by_keys_;
  };
};

// ---- lists that are sets or maps, and rules -----------------------------------------------------

void check_lists(const JsonValue& value, const CrdSchema& schema, const std::string& path,
                 std::vector<FieldProblem>& problems) {
  if (value.kind == Kind::kObject) {
    for (const JsonMember& member : value.members) {
      const CrdSchema* of = schema.member(member.name);
      if (of == nullptr) continue;
      const bool named = schema.properties.contains(member.name);
      check_lists(member.value, *of,
                  !named         ? fmt::format("{}[{}]", path, member.name)
                  : path.empty() ? member.name
                                 : path + "." + member.name,
                  problems);
    }
    return;
  }
  if (value.kind != Kind::kArray) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string here = fmt::format("{}[{}]", path, i);
    JsonValue identity = value.items[i];
    if (schema.list_type == "map") {
      identity = JsonValue::object();
      for (const std::string& key : schema.list_keys) {
        if (const JsonValue* found = at(value.items[i], key)) identity.add(key, *found);
      }
    }
    if (!schema.list_type.empty() && schema.list_type != "atomic" &&
        !seen.insert(comparable_text(identity)).second) {
      problems.push_back(
          {"FieldValueDuplicate", fmt::format("Duplicate value: {}", shown(identity)), here});
    }
    if (schema.items) check_lists(value.items[i], *schema.items, here, problems);
  }
}

class RuleWalk {
 public:
  explicit RuleWalk(std::vector<FieldProblem>& problems) : problems_(problems) {}

  // False: the budget is used up.
  bool walk(const JsonValue& value, const JsonValue* old, const CrdSchema& schema, bool root,
            const std::string& path) {
    if (value.is_null()) return true;
    if (!schema.rules.empty() &&
        !schema.rules.check({value, old, schema, root, path}, budget_, problems_))
      return false;
    if (value.kind == Kind::kArray && schema.items) {
      const Validation::FormerItems former(old, schema);
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (!walk(value.items[i], former.of(value.items[i]), *schema.items, false,
                  fmt::format("{}[{}]", path, i)))
          return false;
      }
    }
    if (value.kind != Kind::kObject) return true;
    for (const JsonMember& member : value.members) {
      const CrdSchema* of = schema.member(member.name);
      if (of == nullptr) continue;
      const bool named = schema.properties.contains(member.name);
      const JsonValue* before = old != nullptr ? old->find(member.name) : nullptr;
      if (!walk(member.value, before, *of, false,
                !named         ? fmt::format("{}[{}]", path, member.name)
                : path.empty() ? member.name
                               : path + "." + member.name))
        return false;
    }
    return true;
  }

 private:
  std::vector<FieldProblem>& problems_;
  std::uint64_t budget_ = kMostRuleCost;
};

}  // namespace

std::vector<FieldProblem> validate_custom(const JsonValue& object, const JsonValue* old,
                                          const CrdSchema& schema) {
  Validation validation;
  validation.check(object, old, schema, true, "");
  std::vector<FieldProblem> problems = std::move(validation.problems);
  if (old == nullptr || !equal(object, *old)) check_lists(object, schema, "", problems);
  // Parity: rules are not asked about values that have the wrong shape.
  const bool shape_is_wrong = std::ranges::any_of(problems, [](const FieldProblem& problem) {
    return problem.reason == "FieldValueTypeInvalid" || problem.reason == "FieldValueRequired" ||
           problem.reason == "FieldValueTooLong" || problem.reason == "FieldValueTooMany" ||
           problem.reason == "FieldValueNotSupported";
  });
  if (!schema.rules_inside) return problems;
  if (!shape_is_wrong) {
    RuleWalk(problems).walk(object, old, schema, true, "");
  } else {
    problems.push_back(FieldProblem::invalid(
        "<nil>", "null",
        "some validation rules were not checked because the object was invalid; correct the "
        "existing errors to complete validation"));
  }
  return problems;
}

std::vector<FieldProblem> validate_value(const JsonValue& value, const CrdSchema& schema,
                                         const std::string& path) {
  Validation validation;
  validation.check(value, nullptr, schema, false, path);
  return std::move(validation.problems);
}

}  // namespace berth::memapi
