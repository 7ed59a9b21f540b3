#include "memapi/openapi_schema.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "api/schema.h"
#include "memapi/crd_openapi.h"
#include "memapi/json_edit.h"
#include "memapi/openapi_texts.h"
#include "memapi/resources.h"

namespace berth::memapi {
namespace {

using schema::Field;
using schema::MessageId;
using schema::Type;

std::string schema_name(MessageId message) {
  return fmt::format("io.k8s.{}", schema::name_of(message));
}

JsonValue typed(std::string_view type, std::string_view format = {}) {
  JsonValue schema = JsonValue::object();
  set_text(schema, "type", type);
  if (!format.empty()) set_text(schema, "format", format);
  return schema;
}

// Messages as schemas, each once, with all that they refer to.
class Schemas {
 public:
  JsonValue& add(MessageId message) {
    const auto [entry, fresh] = schemas_.try_emplace(schema_name(message));
    if (fresh) {
      JsonValue schema = JsonValue::object();
      if (const auto text = describe_message(schema::name_of(message)); !text.empty())
        set_text(schema, "description", text);
      set_text(schema, "type", "object");
      JsonValue properties = JsonValue::object();
      JsonValue required = JsonValue::array();
      add_fields(properties, required, message);
      if (!required.items.empty()) set(schema, "required", std::move(required));
      if (!properties.members.empty()) set(schema, "properties", std::move(properties));
      entry->second = std::move(schema);
    }
    return entry->second;
  }

  JsonValue take() {
    JsonValue all = JsonValue::object();
    for (auto& [name, schema] : schemas_) all.add(name, std::move(schema));
    return all;
  }

 private:
  void add_fields(JsonValue& properties, JsonValue& required, MessageId message) {
    for (const Field& field : schema::fields_of(message)) {
      if (field.is(schema::kInline)) {
        add_fields(properties, required, field.message);
        continue;
      }
      JsonValue schema = schema_of(field);
      add_words(field, schema);
      set(properties, field.name, std::move(schema));
      if (field.is(schema::kRequired)) required.items.push_back(JsonValue::of_text(field.name));
    }
  }

  // A description, a default, and how patches and appliers merge the field.
  static void add_words(const Field& field, JsonValue& schema) {
    const schema::Merging& merging = schema::merging_of(field);
    const std::string_view text = describe_field(field.name);
    JsonValue words = JsonValue::object();
    if (!text.empty()) set_text(words, "description", text);
    if (!field.default_json.empty()) {
      if (auto value = parse_json(field.default_json)) set(words, "default", std::move(*value));
    }
    if (!merging.patch_key.empty())
      set_text(words, "x-kubernetes-patch-merge-key", merging.patch_key);
    std::string strategy;
    for (const auto& [bit, name] :
         {std::pair{schema::kPatchMerge, "merge"}, std::pair{schema::kPatchReplace, "replace"},
          std::pair{schema::kPatchRetainKeys, "retainKeys"}})
      if (merging.patches(bit)) strategy += (strategy.empty() ? "" : ",") + std::string(name);
    if (!strategy.empty()) set_text(words, "x-kubernetes-patch-strategy", strategy);
    add_list_type(field, merging, words);
    if (words.members.empty()) return;
    if (JsonValue* reference = at(schema, "$ref")) {
      JsonValue one = JsonValue::object();
      set(one, "$ref", *reference);
      schema = JsonValue::object();
      array_at(schema, "allOf").items.push_back(std::move(one));
    }
    for (JsonMember& word : words.members) set(schema, word.name, std::move(word.value));
  }

  static void add_list_type(const Field& field, const schema::Merging& merging, JsonValue& words) {
    constexpr std::string_view kListType = "x-kubernetes-list-type";
    if (merging.list_type == schema::ListType::kAtomic) set_text(words, kListType, "atomic");
    if (merging.list_type == schema::ListType::kSet) set_text(words, kListType, "set");
    if (merging.list_type == schema::ListType::kMap) {
      set_text(words, kListType, "map");
      for (const std::string_view key : merging.list_keys)
        if (!key.empty())
          array_at(words, "x-kubernetes-list-map-keys").items.push_back(JsonValue::of_text(key));
    }
    if (merging.atomic && !field.is(schema::kRepeated))
      set_text(words, "x-kubernetes-map-type", "atomic");
  }

  JsonValue schema_of(const Field& field) {
    JsonValue one = element_of(field);
    if (field.is(schema::kMap)) {
      JsonValue map = typed("object");
      set(map, "additionalProperties", std::move(one));
      return map;
    }
    if (!field.is(schema::kRepeated)) return one;
    JsonValue list = typed("array");
    set(list, "items", std::move(one));
    return list;
  }

  JsonValue element_of(const Field& field) {
    switch (field.type) {
      case Type::kString: return typed("string");
      case Type::kBool: return typed("boolean");
      case Type::kInt32: return typed("integer", "int32");
      case Type::kInt64: return typed("integer", "int64");
      case Type::kBytes: return typed("string", "byte");
      case Type::kDouble: return typed("number", "double");
      case Type::kMessage: {
        add(field.message);
        JsonValue reference = JsonValue::object();
        set_text(reference, "$ref",
                 fmt::format("#/components/schemas/{}", schema_name(field.message)));
        return reference;
      }
      case Type::kQuantity: return typed("string");
      case Type::kIntOrString: return typed("string", "int-or-string");
      case Type::kTime:
      case Type::kMicroTime: return typed("string", "date-time");
      case Type::kDuration: return typed("string");
      case Type::kRaw: return typed("object");
      case Type::kUnion: return JsonValue::object();  // of several types
      case Type::kStringList: {
        JsonValue list = typed("array");
        set(list, "items", typed("string"));
        return list;
      }
    }
    return typed("string");
  }

  std::map<std::string, JsonValue> schemas_;
};

}  // namespace

JsonValue openapi_schemas(std::string_view group, std::string_view version,
                          const CustomKinds& custom) {
  Schemas schemas;
  for (const Resource& resource : resources()) {
    if (resource.group != group || resource.version != version) continue;
    const auto message = schema::find_message(resource.group_version(), resource.kind);
    if (!message) continue;
    JsonValue& schema = schemas.add(*message);
    for (const std::string_view name : {"apiVersion", "kind"})
      set(object_at(schema, "properties"), name, typed("string"));
    JsonValue kind = JsonValue::object();
    set_text(kind, "group", group);
    set_text(kind, "version", version);
    set_text(kind, "kind", resource.kind);
    array_at(schema, "x-kubernetes-group-version-kind").items.push_back(std::move(kind));
  }
  JsonValue all = schemas.take();
  add_custom_schemas(group, version, custom, all);
  return all;
}

}  // namespace berth::memapi
