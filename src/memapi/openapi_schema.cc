#include "memapi/openapi_schema.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "api/schema.h"
#include "memapi/crd_openapi.h"
#include "memapi/json_edit.h"
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
      JsonValue schema = typed("object");
      JsonValue properties = JsonValue::object();
      add_fields(properties, message);
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
  void add_fields(JsonValue& properties, MessageId message) {
    for (const Field& field : schema::fields_of(message)) {
      if (field.is(schema::kInline)) {
        add_fields(properties, field.message);
      } else {
        set(properties, field.name, schema_of(field));
      }
    }
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
