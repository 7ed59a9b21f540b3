#include "memapi/crd_cel_types.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/base64.h"
#include "cel/library/time.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

namespace types = cel::types;

constexpr std::array<std::string_view, 19> kReservedNames = {
    "true",     "false", "null",   "in",  "as",   "break",   "const",     "continue", "else", "for",
    "function", "if",    "import", "let", "loop", "package", "namespace", "return",   "var"};

// A member's name as an identifier of CEL; nothing for one that cannot be said.
std::optional<std::string> escaped_name(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return std::nullopt;
  if (std::ranges::find(kReservedNames, name) != kReservedNames.end() || name == "void" ||
      name == "while")
    return "__" + std::string(name) + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      out += c;
    } else if (c == '_' && i + 1 < name.size() && name[i + 1] == '_') {
      out += "__underscores__";
      ++i;
    } else if (c == '_') {
      out += c;
    } else if (c == '.') {
      out += "__dot__";
    } else if (c == '-') {
      out += "__dash__";
    } else if (c == '/') {
      out += "__slash__";
    } else {
      return std::nullopt;
    }
  }
  return out;
}

const CrdSchema& string_schema() {
  static const auto made = [] {
    auto schema = std::make_unique<CrdSchema>();
    schema->type = "string";
    return schema;
  }();
  return *made;
}

const CrdSchema& metadata_schema() {
  static const auto made = [] {
    auto schema = std::make_unique<CrdSchema>();
    schema->type = "object";
    for (const char* name : {"name", "generateName"}) {
      auto text = std::make_unique<CrdSchema>();
      text->type = "string";
      schema->properties.insert_or_assign(name, std::move(text));
    }
    return schema;
  }();
  return *made;
}

// Calls `f(name, schema)` for each member that an object of the schema may have by name.
template <typename F>
void for_each_member(const CrdSchema& schema, bool root, F f) {
  const bool whole = root || schema.embedded;
  for (const auto& [name, member] : schema.properties) {
    if (whole && (name == "metadata" || name == "kind" || name == "apiVersion")) continue;
    f(name, *member);
  }
  if (!whole) return;
  f("kind", string_schema());
  f("apiVersion", string_schema());
  f("metadata", metadata_schema());
}

class TypeMaker {
 public:
  explicit TypeMaker(cel::Environment& environment) : environment_(environment) {}

  // Null: it cannot be known.
  cel::TypeRef type_of(const CrdSchema& schema, bool root, const std::string& name) {
    if (schema.int_or_string) return types::dyn();
    if (schema.type == "array") {
      if (!schema.items) return nullptr;
      const cel::TypeRef item = type_of(*schema.items, false, name + ".@items");
      return item ? types::list(item) : nullptr;
    }
    if (schema.type == "object" || root || schema.embedded) {
      if (schema.additional) {
        const cel::TypeRef value = type_of(*schema.additional, false, name + ".@values");
        return value ? types::map(types::string(), value) : nullptr;
      }
      return object_type(schema, root, name);
    }
    if (schema.type == "string") return string_type(schema);
    if (schema.type == "boolean") return types::boolean();
    if (schema.type == "number") return types::floating();
    if (schema.type == "integer") return types::integer();
    return nullptr;
  }

 private:
  cel::TypeRef object_type(const CrdSchema& schema, bool root, const std::string& name) {
    cel::Environment::Fields fields;
    for_each_member(schema, root, [&](const std::string& member, const CrdSchema& of) {
      const auto escaped = escaped_name(member);
      if (!escaped) return;
      if (const cel::TypeRef type = type_of(of, false, name + "." + member))
        fields.emplace_back(*escaped, type);
    });
    environment_.objects[name] = std::move(fields);
    return types::object(name);
  }

  static cel::TypeRef string_type(const CrdSchema& schema) {
    if (schema.format == "byte") return types::bytes();
    if (schema.format == "duration") return types::duration();
    if (schema.format == "date" || schema.format == "date-time") return types::timestamp();
    return types::string();
  }

  cel::Environment& environment_;
};

cel::Value string_value(const std::string& text, const CrdSchema& schema) {
  if (schema.format == "byte") {
    auto bytes = decode_base64(text);
    return bytes ? cel::Value::bytes(std::move(*bytes)) : cel::Value::error("invalid base64 value");
  }
  if (schema.format == "duration") {
    const auto duration = cel::parse_duration(text);
    return duration ? cel::Value::duration(*duration)
                    : cel::Value::error("Invalid duration " + text);
  }
  if (schema.format == "date" || schema.format == "date-time") {
    const auto time = cel::parse_timestamp(schema.format == "date" ? text + "T00:00:00Z" : text);
    return time ? cel::Value::timestamp(*time) : cel::Value::error("Invalid date formatted string");
  }
  return cel::Value::string(text);
}

cel::Value number_value(const JsonValue& value, bool floating) {
  std::int64_t integer = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, integer);
  const bool whole = error == std::errc() && stop == end;
  if (whole && !floating) return cel::Value::integer(integer);
  return cel::Value::floating(std::strtod(value.text.c_str(), nullptr));
}

cel::Value object_value(const JsonValue& value, const CrdSchema& schema, bool root) {
  auto map = std::make_shared<cel::Map>();
  if (schema.additional && !root) {
    for (const JsonMember& member : value.members)
      map->set(cel::Value::string(member.name),
               cel_value_of(member.value, *schema.additional, false));
    return cel::Value::map(std::move(map));
  }
  for_each_member(schema, root, [&](const std::string& name, const CrdSchema& of) {
    const JsonValue* found = value.find(name);
    const auto escaped = escaped_name(name);
    // A null that may be there is as good as nothing.
    if (found == nullptr || found->is_null() || !escaped) return;
    map->set(cel::Value::string(*escaped), cel_value_of(*found, of, false));
  });
  return cel::Value::map(std::move(map));
}

}  // namespace

std::optional<CelTypes> cel_types_of(const CrdSchema& schema, bool root) {
  CelTypes made;
  const cel::TypeRef self = TypeMaker(made.plain).type_of(schema, root, "selfType");
  if (!self) return std::nullopt;
  made.optional_old.objects = made.plain.objects;
  made.plain.variables = {{"self", self}, {"oldSelf", self}};
  made.optional_old.variables = {{"self", self}, {"oldSelf", types::optional(self)}};
  return made;
}

cel::Value cel_value_of(const JsonValue& value, const CrdSchema& schema, bool root) {
  switch (value.kind) {
    case JsonValue::Kind::kNull: return {};
    case JsonValue::Kind::kBool: return cel::Value::boolean(value.boolean);
    case JsonValue::Kind::kNumber: return number_value(value, schema.type == "number");
    case JsonValue::Kind::kString: return string_value(value.text, schema);
    case JsonValue::Kind::kArray: {
      std::vector<cel::Value> items;
      static const CrdSchema kAny;
      for (const JsonValue& item : value.items)
        items.push_back(cel_value_of(item, schema.items ? *schema.items : kAny, false));
      return cel::Value::list(std::move(items));
    }
    case JsonValue::Kind::kObject: return object_value(value, schema, root);
  }
  return {};
}

}  // namespace berth::memapi
