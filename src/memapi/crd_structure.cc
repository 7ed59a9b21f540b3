// Schemas of CustomResourceDefinitions: whether they are structural.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "base/go_quote.h"
#include "memapi/crd_definition.h"
#include "memapi/crd_rules.h"
#include "memapi/crd_schema.h"
#include "memapi/crd_validation.h"
#include "memapi/crd_values.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::array<std::string_view, 4> kCombinations = {"allOf", "anyOf", "oneOf", "not"};

enum class Level { kRoot, kField, kItem };

class StructureCheck {
 public:
  explicit StructureCheck(std::vector<FieldProblem>& problems) : problems_(problems) {}

  struct Place {
    Level level = Level::kField;
    bool correlated = true;  // a value's former state can be found
  };

  void check(const JsonValue& schema, const CrdSchema& read, const Place& place,
             const std::string& path) {
    if (schema.kind != JsonValue::Kind::kObject) return;
    check_unsupported(schema, path);
    check_type(schema, place, path);
    check_members(schema, path);
    check_lists(schema, path);
    check_map_type(schema, path);
    check_pattern(schema, path);
    check_default(schema, read, path);
    if (place.level == Level::kRoot) check_root(schema, path);
    if (const JsonValue* rules = at(schema, "x-kubernetes-validations"); is_array(rules)) {
      check_rules(*rules, read, place.level == Level::kRoot, place.correlated,
                  path + ".x-kubernetes-validations", problems_);
    }
    for (const std::string_view name : kCombinations) check_combination(schema, name, schema, path);
    descend(schema, read, place, path);
  }

 private:
  void required(std::string path, std::string_view detail) {
    problems_.push_back(FieldProblem::required(std::move(path), detail));
  }
  void forbidden(std::string path, std::string_view detail) {
    problems_.push_back(FieldProblem::forbidden(std::move(path), detail));
  }
  void invalid(std::string path, std::string_view shown, std::string_view detail) {
    problems_.push_back(FieldProblem::invalid(std::move(path), shown, detail));
  }

  void descend(const JsonValue& schema, const CrdSchema& read, const Place& place,
               const std::string& path) {
    if (const JsonValue* properties = at(schema, "properties"); is_object(properties)) {
      for (const JsonMember& member : properties->members) {
        const auto found = read.properties.find(member.name);
        if (found == read.properties.end()) continue;
        Place below = place;
        below.level = Level::kField;
        if (place.level == Level::kRoot && member.name == "metadata") {
          check_metadata(member.value, path);
          continue;
        }
        check(member.value, *found->second, below,
              fmt::format("{}.properties[{}]", path, member.name));
      }
    }
    if (const JsonValue* additional = at(schema, "additionalProperties"); read.additional) {
      Place below = place;
      below.level = Level::kItem;
      check(*additional, *read.additional, below, path + ".additionalProperties");
    }
    if (const JsonValue* items = at(schema, "items"); read.items) {
      Place below = place;
      below.level = Level::kItem;
      below.correlated = place.correlated && read.list_type == "map";
      check(*items, *read.items, below, path + ".items");
    }
  }

  void check_metadata(const JsonValue& metadata, const std::string& path) {
    if (const std::string_view type = text_at(metadata, "type");
        !type.empty() && type != "object") {
      invalid(path + ".properties[metadata].type", go_quoted(type), "must be object");
    }
    const JsonValue* properties = at(metadata, "properties");
    if (!is_object(properties)) return;
    const bool others = std::ranges::any_of(properties->members, [](const JsonMember& member) {
      return member.name != "name" && member.name != "generateName";
    });
    if (others) {
      forbidden(path + ".properties[metadata]",
                "must not specify anything other than name and generateName, but metadata is "
                "implicitly specified");
    }
  }

  void check_unsupported(const JsonValue& schema, const std::string& path) {
    for (const std::string_view name :
         {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      if (schema.find(name) != nullptr)
        forbidden(fmt::format("{}.{}", path, name), fmt::format("{} is not supported", name));
    }
    if (true_at(schema, "uniqueItems")) {
      forbidden(path + ".uniqueItems",
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    if (is_array(at(schema, "items")))
      forbidden(path + ".items", "items must be a schema object and not an array");
    const JsonValue* preserve = schema.find("x-kubernetes-preserve-unknown-fields");
    if (preserve != nullptr && preserve->kind == JsonValue::Kind::kBool && !preserve->boolean)
      invalid(path + ".x-kubernetes-preserve-unknown-fields", "false", "must be true or undefined");
  }

  void check_type(const JsonValue& schema, const Place& place, const std::string& path) {
    const std::string_view type = text_at(schema, "type");
    static constexpr std::array<std::string_view, 6> kTypes = {"array",  "boolean", "integer",
                                                               "number", "object",  "string"};
    if (type == "null") {
      forbidden(path + ".type", "type cannot be set to null, use nullable as an alternative");
    } else if (!type.empty() && std::ranges::find(kTypes, type) == kTypes.end()) {
      problems_.push_back(FieldProblem::not_supported(
          path + ".type", go_quoted(type),
          R"("array", "boolean", "integer", "number", "object", "string")"));
    }
    const bool int_or_string = true_at(schema, "x-kubernetes-int-or-string");
    const bool embedded = true_at(schema, "x-kubernetes-embedded-resource");
    const bool preserves = true_at(schema, "x-kubernetes-preserve-unknown-fields");
    if (embedded && type != "object") {
      const std::string_view why = "must be object if x-kubernetes-embedded-resource is true";
      if (type.empty()) {
        required(path + ".type", why);
      } else {
        invalid(path + ".type", go_quoted(type), why);
      }
    } else if (type.empty() && !int_or_string && !preserves) {
      switch (place.level) {
        case Level::kRoot: required(path + ".type", "must not be empty at the root"); break;
        case Level::kItem:
          required(path + ".type", "must not be empty for specified array items");
          break;
        case Level::kField:
          required(path + ".type", "must not be empty for specified object fields");
          break;
      }
    }
    if (place.level == Level::kRoot && !type.empty() && type != "object")
      invalid(path + ".type", go_quoted(type), "must be object at the root");
    if (int_or_string && preserves)
      invalid(path + ".x-kubernetes-preserve-unknown-fields", "true",
              "must be false if x-kubernetes-int-or-string is true");
    if (int_or_string && embedded)
      invalid(path + ".x-kubernetes-embedded-resource", "true",
              "must be false if x-kubernetes-int-or-string is true");
  }

  void check_members(const JsonValue& schema, const std::string& path) {
    const JsonValue* properties = at(schema, "properties");
    const JsonValue* additional = at(schema, "additionalProperties");
    const bool some = is_object(properties) && !properties->members.empty();
    if (some && additional != nullptr) {
      const bool only_no = additional->kind == JsonValue::Kind::kBool && !additional->boolean;
      if (!only_no)
        forbidden(path + ".additionalProperties",
                  "additionalProperties and properties are mutual exclusive");
    }
    const bool embedded = true_at(schema, "x-kubernetes-embedded-resource");
    if (embedded && additional != nullptr)
      forbidden(path + ".additionalProperties",
                "must not be used if x-kubernetes-embedded-resource is set");
    if (embedded && !some && !true_at(schema, "x-kubernetes-preserve-unknown-fields"))
      required(path + ".properties",
               "must not be empty if x-kubernetes-embedded-resource is true without "
               "x-kubernetes-preserve-unknown-fields");
    if (text_at(schema, "type") == "array" && at(schema, "items") == nullptr)
      required(path + ".items", "must be specified");
  }

  void check_root(const JsonValue& schema, const std::string& path) {
    if (at(schema, "additionalProperties") != nullptr)
      forbidden(path + ".additionalProperties", "must not be used at the root");
    for (const std::string_view name : {"kind", "apiVersion"}) {
      const JsonValue* properties = at(schema, "properties");
      const JsonValue* found = is_object(properties) ? properties->find(name) : nullptr;
      if (found == nullptr) continue;
      if (const std::string_view type = text_at(*found, "type"); type != "string")
        invalid(fmt::format("{}.properties[{}].type", path, name), go_quoted(type),
                "must be string");
    }
    if (true_at(schema, "nullable"))
      forbidden(path + ".nullable", "nullable cannot be true at the root");
  }

  void check_lists(const JsonValue& schema, const std::string& path) {
    const JsonValue* named = schema.find("x-kubernetes-list-type");
    const std::string_view list = text_at(schema, "x-kubernetes-list-type");
    const std::string_view type = text_at(schema, "type");
    if (named != nullptr && type != "array") {
      const std::string_view why = "must be array if x-kubernetes-list-type is specified";
      if (type.empty()) {
        required(path + ".type", why);
      } else {
        invalid(path + ".type", go_quoted(type), why);
      }
    }
    if (named != nullptr && list != "atomic" && list != "set" && list != "map") {
      problems_.push_back(FieldProblem::not_supported(
          path + ".x-kubernetes-list-type", go_quoted(list), R"("atomic", "set", "map")"));
    }
    const auto& keys = items_at(schema, "x-kubernetes-list-map-keys");
    if (!keys.empty() && list != "map") {
      const std::string_view why = "must be map if x-kubernetes-list-map-keys is non-empty";
      if (named == nullptr) {
        required(path + ".x-kubernetes-list-type", why);
      } else {
        invalid(path + ".x-kubernetes-list-type", go_quoted(list), why);
      }
    }
    const JsonValue* items = at(schema, "items");
    if (list == "set" && is_object(items)) check_set_items(*items, path);
    if (list == "map") check_list_map(schema, keys, items, path);
  }

  void check_set_items(const JsonValue& items, const std::string& path) {
    if (text_at(items, "type") == "array") {
      const std::string_view inner = text_at(items, "x-kubernetes-list-type");
      if (inner != "atomic" && items.find("x-kubernetes-list-type") != nullptr)
        invalid(path + ".items.x-kubernetes-list-type", go_quoted(inner),
                "must be atomic as item of a list with x-kubernetes-list-type=set");
    }
    if (text_at(items, "type") == "object" && text_at(items, "x-kubernetes-map-type") != "atomic")
      invalid(path + ".items.x-kubernetes-map-type", "null",
              "must be atomic as item of a list with x-kubernetes-list-type=set");
    if (true_at(items, "nullable"))
      forbidden(path + ".items.nullable", "cannot be nullable when x-kubernetes-list-type is set");
  }

  void check_list_map(const JsonValue& schema, const std::vector<JsonValue>& keys,
                      const JsonValue* items, const std::string& path) {
    if (keys.empty())
      required(path + ".x-kubernetes-list-map-keys",
               "must not be empty if x-kubernetes-list-type is map");
    if (items == nullptr) {
      required(path + ".items", "must have a schema if x-kubernetes-list-type is map");
      return;
    }
    if (const std::string_view type = text_at(*items, "type"); type != "object")
      invalid(path + ".items.type", go_quoted(type),
              "must be object if parent array's x-kubernetes-list-type is map");
    if (true_at(*items, "nullable"))
      forbidden(path + ".items.nullable", "cannot be nullable when x-kubernetes-list-type is map");
    const JsonValue* said = schema.find("x-kubernetes-list-map-keys");
    const std::string shown = said != nullptr ? to_json(*said) : "null";
    std::set<std::string> seen;
    for (const JsonValue& key : keys) {
      const JsonValue* properties = at(*items, "properties");
      const JsonValue* property = is_object(properties) ? properties->find(key.text) : nullptr;
      if (!seen.insert(key.text).second)
        invalid(path + ".x-kubernetes-list-map-keys", shown, "must not contain duplicate entries");
      if (property == nullptr) {
        invalid(path + ".x-kubernetes-list-map-keys", shown,
                "entries must all be names of item properties");
        continue;
      }
      check_list_key(*items, *property, key.text, path);
    }
  }

  void check_list_key(const JsonValue& items, const JsonValue& property, const std::string& key,
                      const std::string& path) {
    const std::string here = fmt::format("{}.items.properties[{}]", path, key);
    const std::string_view type = text_at(property, "type");
    if (type == "array" || type == "object")
      invalid(here + ".type", go_quoted(type),
              "must be a scalar type if parent array's x-kubernetes-list-type is map");
    const auto& required_names = items_at(items, "required");
    const bool needed =
        std::ranges::any_of(required_names, [&](const JsonValue& one) { return one.text == key; });
    if (!needed && at(property, "default") == nullptr)
      required(here + ".default",
               "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
               "required property");
    if (true_at(property, "nullable"))
      forbidden(here + ".nullable",
                "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
  }

  void check_map_type(const JsonValue& schema, const std::string& path) {
    if (schema.find("x-kubernetes-map-type") == nullptr) return;
    const std::string_view map = text_at(schema, "x-kubernetes-map-type");
    const std::string_view type = text_at(schema, "type");
    const std::string_view why = "must be object if x-kubernetes-map-type is specified";
    if (type.empty()) {
      required(path + ".type", why);
    } else if (type != "object") {
      invalid(path + ".type", go_quoted(type), why);
    }
    if (map != "atomic" && map != "granular") {
      problems_.push_back(FieldProblem::not_supported(path + ".x-kubernetes-map-type",
                                                      go_quoted(map), R"("atomic", "granular")"));
    }
  }

  void check_pattern(const JsonValue& schema, const std::string& path) {
    const std::string pattern(text_at(schema, "pattern"));
    if (pattern.empty()) return;
    if (const auto compiled = compile_pattern(pattern); !compiled) {
      invalid(path + ".pattern", go_quoted(pattern),
              fmt::format("must be a valid regular expression, but isn't: {}",
                          compiled.error().message));
    }
  }

  void check_default(const JsonValue& schema, const CrdSchema& read, const std::string& path) {
    const JsonValue* value = schema.find("default");
    if (value == nullptr) return;
    const std::string here = path + ".default";
    JsonValue kept = *value;
    static_cast<void>(prune(kept, read, false));
    if (!equal(kept, *value)) invalid(here, to_json(*value), "must not have unknown fields");
    JsonValue filled = *value;
    fill_in_defaults(filled, read, false);
    for (FieldProblem& problem : validate_value(filled, read, "")) {
      problem.field = problem.field == "<nil>" ? here : here + "." + problem.field;
      problems_.push_back(std::move(problem));
    }
  }

  // What stands in allOf, anyOf, oneOf and not may say nothing but what values are valid.
  void check_combination(const JsonValue& schema, std::string_view name, const JsonValue& whole,
                         const std::string& path) {
    const JsonValue* found = schema.find(name);
    if (found == nullptr) return;
    if (found->kind == JsonValue::Kind::kObject)
      return check_nested(*found, whole, fmt::format("{}.{}", path, name), false);
    const bool int_or_string = true_at(whole, "x-kubernetes-int-or-string");
    for (std::size_t i = 0; i < found->items.size(); ++i)
      check_nested(found->items[i], whole, fmt::format("{}.{}[{}]", path, name, i), int_or_string);
  }

  void check_nested(const JsonValue& nested, const JsonValue& whole, const std::string& path,
                    bool int_or_string) {
    const std::string_view type = text_at(nested, "type");
    const bool allowed = int_or_string && (type == "integer" || type == "string");
    if (!type.empty() && !allowed) forbidden(path + ".type", "must be empty to be structural");
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kForbidden = {{
        {"additionalProperties", "must be undefined to be structural"},
        {"default", "must be undefined to be structural"},
        {"title", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-list-type", "must be undefined to be structural"},
        {"x-kubernetes-map-type", "must be undefined to be structural"},
    }};
    for (const auto& [name, why] : kForbidden)
      if (nested.find(name) != nullptr) forbidden(fmt::format("{}.{}", path, name), why);
    check_pattern(nested, path);
    if (const JsonValue* properties = at(nested, "properties"); is_object(properties)) {
      const JsonValue* outside = at(whole, "properties");
      for (const JsonMember& member : properties->members) {
        const JsonValue* there = is_object(outside) ? outside->find(member.name) : nullptr;
        const std::string here = fmt::format("{}.properties[{}]", path, member.name);
        if (there == nullptr) {
          if (!is_object(at(whole, "additionalProperties")))
            required(unnested(path) + fmt::format(".properties[{}]", member.name),
                     fmt::format("because it is defined in {}", here));
          continue;
        }
        check_nested(member.value, *there, here, false);
      }
    }
    if (const JsonValue* items = at(nested, "items"); is_object(items)) {
      const JsonValue* there = at(whole, "items");
      if (there == nullptr) {
        required(unnested(path) + ".items", fmt::format("because it is defined in {}.items", path));
      } else {
        check_nested(*items, *there, path + ".items", false);
      }
    }
    for (const std::string_view name : kCombinations) check_combination(nested, name, whole, path);
  }

  // The path without the parts that say which combination it is.
  static std::string unnested(std::string path) {
    for (const std::string_view name : kCombinations) {
      for (;;) {
        const std::size_t begin = path.find(fmt::format(".{}", name));
        if (begin == std::string::npos) break;
        std::size_t end = begin + 1 + name.size();
        if (end < path.size() && path[end] == '[') end = path.find(']', end) + 1;
        path.erase(begin, end - begin);
      }
    }
    return path;
  }

  std::vector<FieldProblem>& problems_;
};

}  // namespace

void check_structure(const JsonValue& schema, const std::string& path,
                     std::vector<FieldProblem>& problems) {
  const std::unique_ptr<CrdSchema> read = read_schema(schema, true);
  StructureCheck(problems).check(schema, *read, {.level = Level::kRoot}, path);
}

}  // namespace berth::memapi
