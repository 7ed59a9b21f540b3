#include "memapi/openapi_v2.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "api/release.h"
#include "memapi/json_edit.h"
#include "memapi/openapi_schema.h"
#include "memapi/resources.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kSchemas3 = "#/components/schemas/";
constexpr std::string_view kSchemas2 = "#/definitions/";

// What version 2 does not have: alternatives, nullable, rules; references beside other words are
// references alone.
void to_version_2(JsonValue& schema) {
  if (schema.kind == JsonValue::Kind::kArray) {
    for (JsonValue& item : schema.items) to_version_2(item);
    return;
  }
  if (schema.kind != JsonValue::Kind::kObject) return;
  for (const std::string_view name :
       {"oneOf", "anyOf", "not", "nullable", "x-kubernetes-validations"})
    if (const JsonValue* found = schema.find(name); found != nullptr && !is_object(found))
      erase(schema, name);
  const JsonValue* all = schema.find("allOf");
  if (is_array(all) && all->items.size() == 1 && all->items[0].find("$ref") != nullptr) {
    const JsonValue reference = *all->items[0].find("$ref");
    erase(schema, "allOf");
    set(schema, "$ref", reference);
  } else if (is_array(all)) {
    erase(schema, "allOf");
  }
  for (JsonMember& member : schema.members) {
    if (member.name == "$ref" && member.value.text.starts_with(kSchemas3)) {
      member.value.text = fmt::format("{}{}", kSchemas2,
                                      std::string_view(member.value.text).substr(kSchemas3.size()));
    } else if (member.name != "default" && member.name != "enum" && member.name != "required") {
      to_version_2(member.value);
    }
  }
}

// ---- protobuf -----------------------------------------------------------------------------------

// A message of the gnostic project's OpenAPIv2.proto, whose numbers these are.
class Message {
 public:
  void text(unsigned number, std::string_view value) {
    varint((number << 3) | 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(unsigned number, const Message& value) { text(number, value.bytes_); }
  void flag(unsigned number, bool value) {
    if (!value) return;
    varint(number << 3);
    varint(1);
  }
  void integer(unsigned number, std::int64_t value) {
    if (value == 0) return;
    varint(number << 3);
    varint(static_cast<std::uint64_t>(value));
  }
  void number(unsigned number, double value) {
    if (value == 0) return;
    varint((number << 3) | 1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>((bits >> shift) & 0xff);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Any value as YAML, of which JSON is a part.
Message any(const JsonValue& value) {
  Message message;
  message.text(2, to_json(value));
  return message;
}

Message schema_message(const JsonValue& schema);

Message named_schemas(const JsonValue& schemas) {
  Message all;
  for (const JsonMember& member : schemas.members) {
    Message named;
    named.text(1, member.name);
    named.message(2, schema_message(member.value));
    all.message(1, named);
  }
  return all;
}

void add_schema_texts(Message& message, const JsonValue& schema) {
  constexpr std::pair<unsigned, std::string_view> kTexts[] = {
      {1, "$ref"}, {2, "format"}, {3, "title"}, {4, "description"}, {13, "pattern"}};
  for (const auto& [number, name] : kTexts)
    if (const JsonValue* found = schema.find(name);
        found != nullptr && found->kind == JsonValue::Kind::kString && !found->text.empty())
      message.text(number, found->text);
}

void add_schema_numbers(Message& message, const JsonValue& schema) {
  constexpr std::pair<unsigned, std::string_view> kNumbers[] = {
      {6, "multipleOf"}, {7, "maximum"}, {9, "minimum"}};
  for (const auto& [number, name] : kNumbers)
    if (const JsonValue* found = schema.find(name);
        found != nullptr && found->kind == JsonValue::Kind::kNumber)
      message.number(number, std::strtod(found->text.c_str(), nullptr));
  constexpr std::pair<unsigned, std::string_view> kIntegers[] = {
      {11, "maxLength"}, {12, "minLength"},     {14, "maxItems"},
      {15, "minItems"},  {17, "maxProperties"}, {18, "minProperties"}};
  for (const auto& [number, name] : kIntegers)
    message.integer(number, int_at(schema, name).value_or(0));
  message.flag(8, true_at(schema, "exclusiveMaximum"));
  message.flag(10, true_at(schema, "exclusiveMinimum"));
  message.flag(16, true_at(schema, "uniqueItems"));
}

Message schema_message(const JsonValue& schema) {
  Message message;
  add_schema_texts(message, schema);
  add_schema_numbers(message, schema);
  if (const JsonValue* value = schema.find("default")) message.message(5, any(*value));
  for (const JsonValue& name : items_at(schema, "required")) message.text(19, name.text);
  for (const JsonValue& value : items_at(schema, "enum")) message.message(20, any(value));
  if (const JsonValue* additional = schema.find("additionalProperties")) {
    Message item;
    if (is_object(additional)) {
      item.message(1, schema_message(*additional));
    } else {
      item.flag(2, additional->boolean);
    }
    message.message(21, item);
  }
  if (const std::string_view type = text_at(schema, "type"); !type.empty()) {
    Message item;
    item.text(1, type);
    message.message(22, item);
  }
  if (const JsonValue* items = schema.find("items"); is_object(items)) {
    Message item;
    item.message(1, schema_message(*items));
    message.message(23, item);
  }
  if (const JsonValue* properties = schema.find("properties"); is_object(properties))
    message.message(25, named_schemas(*properties));
  for (const JsonMember& member : schema.members) {
    if (!member.name.starts_with("x-")) continue;
    Message named;
    named.text(1, member.name);
    named.message(2, any(member.value));
    message.message(31, named);
  }
  return message;
}

}  // namespace

JsonValue openapi_v2_document(const CustomKinds& custom) {
  std::set<std::pair<std::string, std::string>> versions;
  for (const Resource& resource : resources()) versions.emplace(resource.group, resource.version);
  for (const auto& kind : custom.all()) versions.emplace(kind->group, kind->version);
  JsonValue definitions = JsonValue::object();
  std::set<std::string> seen;
  for (const auto& [group, version] : versions) {
    JsonValue schemas = openapi_schemas(group, version, custom);
    for (JsonMember& member : schemas.members) {
      // One that several groups refer to may know its kind in one of them only.
      if (!seen.insert(member.name).second) {
        if (member.value.find("x-kubernetes-group-version-kind") == nullptr) continue;
        to_version_2(member.value);
        set(definitions, member.name, std::move(member.value));
        continue;
      }
      to_version_2(member.value);
      definitions.add(member.name, std::move(member.value));
    }
  }
  JsonValue info = JsonValue::object();
  info.add("title", JsonValue::of_text("Kubernetes"));
  info.add("version", JsonValue::of_text(kKubernetesVersion));
  JsonValue document = JsonValue::object();
  document.add("swagger", JsonValue::of_text("2.0"));
  document.add("info", std::move(info));
  document.add("paths", JsonValue::object());
  document.add("definitions", std::move(definitions));
  return document;
}

std::string openapi_v2_protobuf(const JsonValue& document) {
  Message info;
  info.text(1, text_at(document, "info.title"));
  info.text(2, text_at(document, "info.version"));
  Message message;
  message.text(1, text_at(document, "swagger"));
  message.message(2, info);
  message.message(8, Message());
  message.message(9, named_schemas(*document.find("definitions")));
  return message.take();
}

}  // namespace berth::memapi
