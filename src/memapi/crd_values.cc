#include "memapi/crd_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/field_check.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

bool is_object_meta(std::string_view name) {
  return name == "metadata" || name == "apiVersion" || name == "kind";
}

class Pruning {
 public:
  std::vector<std::string> unknown;

  void prune(JsonValue& value, const CrdSchema& schema, bool root, const std::string& path) {
    if (value.kind == JsonValue::Kind::kArray) {
      if (!schema.items) {
        if (!schema.preserves_unknown && !schema.type.empty()) drop_members_of_items(value, path);
        return;
      }
      for (std::size_t i = 0; i < value.items.size(); ++i)
        prune(value.items[i], *schema.items, false, fmt::format("{}[{}]", path, i));
    } else if (value.kind == JsonValue::Kind::kObject) {
      prune_members(value, schema, root || schema.embedded, path);
    }
  }

 private:
  void prune_members(JsonValue& value, const CrdSchema& schema, bool whole,
                     const std::string& path) {
    std::erase_if(value.members, [&](JsonMember& member) {
      const std::string here = path.empty() ? member.name : path + "." + member.name;
      if (whole && is_object_meta(member.name)) {
        if (member.name == "metadata") prune_metadata(member.value, here);
        return false;
      }
      const CrdSchema* of = schema.member(member.name);
      if (of == nullptr) {
        if (schema.preserves_unknown || schema.any_additional) return false;
        unknown.push_back(here);
        return true;
      }
      if (member.value.is_null()) return !of->nullable && !of->preserves_unknown;
      prune(member.value, *of, false, here);
      return false;
    });
  }

  // Those of every kind, whatever the schema says.
  void prune_metadata(JsonValue& metadata, const std::string& path) {
    if (!is_object(&metadata)) return;
    JsonValue object = JsonValue::object();
    object.add("metadata", metadata);
    for (const FieldFault& fault :
         check_fields("meta.k8s.io/v1", "PartialObjectMetadata", object)) {
      if (fault.kind != FieldFault::Kind::kUnknown) continue;
      unknown.push_back(path + fault.path.substr(std::string_view("metadata").size()));
      erase(metadata, fault.name);
    }
  }

  void drop_members_of_items(JsonValue& value, const std::string& path) {
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      for (const JsonMember& member : value.items[i].members)
        unknown.push_back(fmt::format("{}[{}].{}", path, i, member.name));
      value.items[i].members.clear();
    }
  }
};

}  // namespace

std::vector<std::string> prune(JsonValue& object, const CrdSchema& schema, bool root) {
  Pruning pruning;
  pruning.prune(object, schema, root, "");
  return std::move(pruning.unknown);
}

void fill_in_defaults(JsonValue& object, const CrdSchema& schema, bool root) {
  if (object.kind == JsonValue::Kind::kArray) {
    if (!schema.items) return;
    for (JsonValue& item : object.items) {
      if (item.is_null() && !schema.items->nullable && schema.items->default_value) {
        item = *schema.items->default_value;
      }
      fill_in_defaults(item, *schema.items, false);
    }
    return;
  }
  if (object.kind != JsonValue::Kind::kObject) return;
  for (const auto& [name, member] : schema.properties) {
    if ((root || schema.embedded) && is_object_meta(name)) continue;
    if (member->default_value) {
      const JsonValue* found = object.find(name);
      if (found == nullptr || (found->is_null() && !member->nullable))
        set(object, name, *member->default_value);
    }
    const auto found = std::ranges::find(object.members, name, &JsonMember::name);
    if (found != object.members.end()) fill_in_defaults(found->value, *member, false);
  }
  if (!schema.additional) return;
  for (JsonMember& member : object.members) {
    if (schema.properties.contains(member.name)) continue;
    if (member.value.is_null() && !schema.additional->nullable && schema.additional->default_value)
      member.value = *schema.additional->default_value;
    fill_in_defaults(member.value, *schema.additional, false);
  }
}

}  // namespace berth::memapi
