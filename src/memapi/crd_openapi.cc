#include "memapi/crd_openapi.h"

#include <fmt/format.h>

#include <utility>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

JsonValue text_schema(std::string_view description) {
  JsonValue schema = JsonValue::object();
  schema.add("description", JsonValue::of_text(description));
  schema.add("type", JsonValue::of_text("string"));
  return schema;
}

JsonValue object_schema() {
  JsonValue schema = JsonValue::object();
  schema.add("type", JsonValue::of_text("object"));
  return schema;
}

void add_group_version_kind(JsonValue& schema, const CustomKind& kind, std::string_view name) {
  JsonValue one = JsonValue::object();
  one.add("group", JsonValue::of_text(kind.group));
  one.add("version", JsonValue::of_text(kind.version));
  one.add("kind", JsonValue::of_text(name));
  array_at(schema, "x-kubernetes-group-version-kind").items.push_back(std::move(one));
}

void add_type_meta(JsonValue& schema) {
  JsonValue& properties = object_at(schema, "properties");
  set(properties, "apiVersion",
      text_schema("The group and version that the object is written in."));
  set(properties, "kind", text_schema("The kind of the object."));
}

}  // namespace

std::string custom_schema_name(const CustomKind& kind, std::string_view kind_name) {
  std::string name;
  std::string_view left = kind.group;
  for (;;) {
    const std::size_t dot = left.rfind('.');
    name += left.substr(dot == std::string_view::npos ? 0 : dot + 1);
    name += '.';
    if (dot == std::string_view::npos) break;
    left = left.substr(0, dot);
  }
  return fmt::format("{}{}.{}", name, kind.version, kind_name);
}

void add_custom_schemas(std::string_view group, std::string_view version, const CustomKinds& custom,
                        JsonValue& schemas) {
  for (const auto& kind : custom.all()) {
    if (kind->group != group || kind->version != version) continue;
    JsonValue schema = kind->schema_json.is_null() ? object_schema() : kind->schema_json;
    add_type_meta(schema);
    JsonValue metadata = object_schema();
    metadata.add("description", JsonValue::of_text("The name, labels and other metadata."));
    set(object_at(schema, "properties"), "metadata", std::move(metadata));
    add_group_version_kind(schema, *kind, kind->kind);
    const std::string name = custom_schema_name(*kind, kind->kind);

    JsonValue list = object_schema();
    add_type_meta(list);
    set(object_at(list, "properties"), "metadata", object_schema());
    JsonValue reference = JsonValue::object();
    reference.add("$ref", JsonValue::of_text("#/components/schemas/" + name));
    JsonValue items = JsonValue::object();
    items.add("type", JsonValue::of_text("array"));
    items.add("items", std::move(reference));
    set(object_at(list, "properties"), "items", std::move(items));
    add_group_version_kind(list, *kind, kind->list_kind);
    schemas.add(name, std::move(schema));
    schemas.add(custom_schema_name(*kind, kind->list_kind), std::move(list));
  }
}

}  // namespace berth::memapi
