#include "api/canonical_json.h"

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "berth/resources.h"

namespace berth {
namespace {

using Kind = JsonValue::Kind;
using schema::MessageId;
using schema::Type;

bool holds_many(const schema::Field& field) {
  return field.is(schema::kRepeated) || field.is(schema::kMap);
}

bool is_plain_type(Type type) {
  return type == Type::kString || type == Type::kBool || type == Type::kInt32 ||
         type == Type::kInt64 || type == Type::kBytes || type == Type::kDouble;
}

// Whether Go can tell it from its absence only by a pointer.
bool is_zero_scalar(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kString: return value.text.empty();
    case Kind::kNumber: return value.text == "0";
    case Kind::kBool: return !value.boolean;
    default: return value.is_null();
  }
}

JsonValue zero_of(Type type) {
  switch (type) {
    case Type::kBool: return JsonValue::of_bool(false);
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kIntOrString: return JsonValue::of_int(0);
    case Type::kQuantity: return JsonValue::of_text("0");
    case Type::kMessage: return JsonValue::object();
    case Type::kDuration: return JsonValue::of_text("0s");
    case Type::kRaw:
    case Type::kUnion: return {};
    default: return JsonValue::of_text("");
  }
}

void canonical_element(const schema::Field& field, JsonValue& value) {
  if (value.is_null()) value = zero_of(field.type);
  if (field.type == Type::kMessage) {
    canonicalize(field.message, value);
  } else if (field.type == Type::kUnion) {
    if (const schema::Field* list = schema::union_list(field.message))
      for (JsonValue& item : value.items) canonical_element(*list, item);
    if (const schema::Field* object = schema::union_object(field.message))
      canonicalize(object->message, value);
  } else if (field.type == Type::kQuantity) {
    const Result<Quantity> amount = Quantity::parse(value.text);
    if (amount) value = JsonValue::of_text(amount->to_string());
  } else if (field.type == Type::kTime || field.type == Type::kMicroTime) {
    const Result<WallTime> time = parse_rfc3339(value.text);
    if (time) value.text = field.type == Type::kTime ? rfc3339(*time) : rfc3339_micro(*time);
  }
}

// Whether the member stays.
bool canonical_member(const schema::Field& field, JsonValue& value) {
  if (value.is_null()) return false;
  if (holds_many(field)) {
    for (JsonValue& item : value.items) canonical_element(field, item);
    for (JsonMember& member : value.members) canonical_element(field, member.value);
    const bool empty = value.items.empty() && value.members.empty();
    return !empty || !field.is(schema::kOmitEmpty);
  }
  if (is_plain_type(field.type)) {
    const bool tellable = field.is(schema::kPointer) && field.type != Type::kBytes;
    const bool omitted = field.is(schema::kOmitEmpty) || field.is(schema::kOmitZero);
    return tellable || !omitted || !is_zero_scalar(value);
  }
  const bool a_time = field.type == Type::kTime || field.type == Type::kMicroTime;
  if (a_time && value.text.empty()) return false;
  canonical_element(field, value);
  const bool empty_object = value.kind == Kind::kObject && value.members.empty();
  return !field.is(schema::kOmitZero) || field.is(schema::kPointer) || !empty_object;
}

// What a field without a value has all the same; null: nothing.
JsonValue absent_value(const schema::Field& field) {
  if (!field.default_json.empty()) {
    Result<JsonValue> value = parse_json(field.default_json);
    if (value) return std::move(*value);
  }
  if (holds_many(field) || field.is(schema::kPointer) || field.is(schema::kOmitZero)) return {};
  if (is_plain_type(field.type) && field.is(schema::kOmitEmpty)) return {};
  const bool written = is_plain_type(field.type) || field.type == Type::kMessage ||
                       field.type == Type::kQuantity || field.type == Type::kIntOrString ||
                       field.type == Type::kDuration;
  return written ? zero_of(field.type) : JsonValue();
}

bool has_value(const schema::Field& field, const JsonValue* value) {
  if (value == nullptr || value->is_null()) return false;
  // Parity: a default also takes the place of a zero that Go cannot tell from nothing.
  const bool tellable = field.is(schema::kPointer) || !is_plain_type(field.type);
  return tellable || field.default_json.empty() || !is_zero_scalar(*value);
}

void add_absent(MessageId message, JsonValue& object) {
  for (const schema::Field& field : schema::fields_of(message)) {
    if (field.is(schema::kInline)) {
      add_absent(field.message, object);
      continue;
    }
    if (has_value(field, object.find(field.name))) continue;
    JsonValue value = absent_value(field);
    if (value.is_null()) continue;
    std::erase_if(object.members,
                  [&](const JsonMember& member) { return member.name == field.name; });
    object.add(field.name, std::move(value));
  }
}

}  // namespace

void canonicalize(MessageId message, JsonValue& object) {
  if (object.kind != Kind::kObject) return;
  add_absent(message, object);
  std::erase_if(object.members, [&](JsonMember& member) {
    const schema::Field* field = schema::find_field(message, member.name);
    return field != nullptr && !canonical_member(*field, member.value);
  });
}

}  // namespace berth
