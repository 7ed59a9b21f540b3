// Whether the values of an object in JSON are of the types that its kind's fields have (schema.h).
// What passes can be written in protobuf as well (proto_json.h). Fields that the kind does not have
// are not looked at; null fits everywhere. Any thread.
#pragma once

#include <optional>
#include <string>

#include "api/schema.h"
#include "wire/json_tree.h"

namespace berth {

// The first value of a wrong type.
struct TypeFault {
  // As Go's encoding/json says it: "json: cannot unmarshal string into Go struct field
  // PodSpec.spec.priority of type int32".
  std::string text;
  // As it is said of an object that was patched as a tree, not as text.
  std::string conversion_text;
};

std::optional<TypeFault> check_types(schema::MessageId message, const JsonValue& object);

}  // namespace berth
