#include "memapi/apply_shape.h"

#include <algorithm>
#include <utility>

#include "memapi/crd_kinds.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

using schema::Field;
using schema::ListType;
using schema::Type;

JsonValue empty_message(schema::MessageId message) {
  JsonValue object = JsonValue::object();
  for (const Field& field : schema::fields_of(message)) {
    if (field.is(schema::kInline)) {
      for (JsonMember& member : empty_message(field.message).members)
        object.members.push_back(std::move(member));
    } else if (field.is(schema::kRepeated) || field.is(schema::kMap) ||
               field.is(schema::kPointer)) {
      if (!field.is(schema::kOmitEmpty)) object.add(field.name, JsonValue());
    } else if (field.type == Type::kMessage) {
      if (!field.is(schema::kOmitZero)) object.add(field.name, empty_message(field.message));
    } else if (!field.is(schema::kOmitEmpty) && !field.is(schema::kOmitZero)) {
      object.add(field.name, JsonValue());
    }
  }
  return object;
}

bool has_members(Type type) { return type == Type::kMessage || type == Type::kUnion; }

schema::MessageId object_meta() {
  static const schema::MessageId found = [] {
    const auto pod = schema::find_message("v1", "Pod");
    return pod ? schema::find_field(*pod, "metadata")->message : schema::MessageId{0};
  }();
  return found;
}

}  // namespace

Shape Shape::of(const Resource& resource) {
  Shape shape;
  if (resource.custom != nullptr) {
    shape.source_ = Source::kRoot;
    shape.schema_ = resource.custom->schema.get();
  } else if (const auto message = schema::find_message(resource.group_version(), resource.kind)) {
    shape.source_ = Source::kMessage;
    shape.message_ = *message;
  } else {
    shape.source_ = Source::kRoot;
  }
  return shape;
}

Shape::Form Shape::form(const JsonValue& value) const {
  const bool object = value.kind == JsonValue::Kind::kObject;
  const bool list = value.kind == JsonValue::Kind::kArray;
  switch (source_) {
    case Source::kUnknown:
    case Source::kRoot: return object ? Form::kObject : Form::kWhole;
    case Source::kMessage: return object ? Form::kObject : Form::kWhole;
    case Source::kField: {
      const schema::Merging& merging = schema::merging_of(*field_);
      if (field_->is(schema::kRepeated)) {
        if (!list) return Form::kWhole;
        if (merging.list_type == ListType::kSet) return Form::kSetList;
        return merging.list_type == ListType::kMap ? Form::kMapList : Form::kWhole;
      }
      if (merging.atomic || !object) return Form::kWhole;
      return field_->is(schema::kMap) || has_members(field_->type) ? Form::kObject : Form::kWhole;
    }
    case Source::kItem:
      if (field_->is(schema::kRepeated) && schema::merging_of(*field_).atomic) return Form::kWhole;
      return object && has_members(field_->type) ? Form::kObject : Form::kWhole;
    case Source::kSchema: break;
  }
  if (schema_ == nullptr) return object ? Form::kObject : Form::kWhole;
  if (object) return schema_->atomic_map ? Form::kWhole : Form::kObject;
  if (list && schema_->list_type == "set") return Form::kSetList;
  if (list && schema_->list_type == "map") return Form::kMapList;
  return Form::kWhole;
}

Shape Shape::member(std::string_view name) const {
  Shape below;
  const auto field_of = [&](schema::MessageId message) {
    if (const Field* found = schema::find_field(message, name)) {
      below.source_ = Source::kField;
      below.field_ = found;
    }
  };
  const auto fields_below = [&] {
    if (field_->type == Type::kMessage) {
      field_of(field_->message);
    } else if (field_->type == Type::kUnion) {
      if (const Field* object = schema::union_object(field_->message)) field_of(object->message);
    }
  };
  switch (source_) {
    case Source::kUnknown: break;
    case Source::kMessage: field_of(message_); break;
    case Source::kField:
      if (field_->is(schema::kMap)) {
        below.source_ = Source::kItem;
        below.field_ = field_;
      } else {
        fields_below();
      }
      break;
    case Source::kItem: fields_below(); break;
    case Source::kRoot:
    case Source::kSchema: {
      const bool whole = source_ == Source::kRoot || (schema_ != nullptr && schema_->embedded);
      if (whole && name == "metadata") {
        below.source_ = Source::kMessage;
        below.message_ = object_meta();
      } else if (const CrdSchema* found = schema_ != nullptr ? schema_->member(name) : nullptr) {
        below.source_ = Source::kSchema;
        below.schema_ = found;
      }
      break;
    }
  }
  return below;
}

Shape Shape::item() const {
  Shape below;
  if (source_ == Source::kField) {
    below.source_ = Source::kItem;
    below.field_ = field_;
  } else if (source_ == Source::kSchema && schema_ != nullptr && schema_->items) {
    below.source_ = Source::kSchema;
    below.schema_ = schema_->items.get();
  }
  return below;
}

std::vector<std::string> Shape::keys() const {
  std::vector<std::string> keys;
  if (source_ == Source::kField) {
    for (const std::string_view key : schema::merging_of(*field_).list_keys)
      if (!key.empty()) keys.emplace_back(key);
  } else if (source_ == Source::kSchema && schema_ != nullptr) {
    keys = schema_->list_keys;
  }
  std::ranges::sort(keys);
  return keys;
}

JsonValue Shape::key_default(std::string_view key) const {
  if (source_ == Source::kField && field_->type == Type::kMessage) {
    const Field* found = schema::find_field(field_->message, key);
    if (found != nullptr && !found->default_json.empty())
      return parse_json(found->default_json).value_or(JsonValue());
  } else if (source_ == Source::kSchema && schema_ != nullptr && schema_->items) {
    const CrdSchema* found = schema_->items->member(key);
    if (found != nullptr && found->default_value) return *found->default_value;
  }
  return {};
}

bool Shape::has_field(std::string_view name) const {
  switch (source_) {
    case Source::kUnknown: return false;
    case Source::kMessage: return true;
    case Source::kField: return !field_->is(schema::kMap);
    case Source::kItem: return true;
    case Source::kRoot:
      if (name == "metadata" || name == "kind" || name == "apiVersion") return true;
      break;
    case Source::kSchema: break;
  }
  return schema_ != nullptr && schema_->properties.contains(name);
}

JsonValue Shape::beginning() const {
  if (source_ == Source::kMessage) return empty_message(message_);
  JsonValue object = JsonValue::object();
  object.add("metadata", JsonValue::object());
  return object;
}

}  // namespace berth::memapi
