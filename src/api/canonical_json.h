// An object in JSON as an API server stores it: what the schema (schema.h) has a default for is
// filled in, what Go would leave out is left out, what it would write is there, amounts and times
// are in the one form that they are written in. Fields that the kind does not have stay. The types
// have been checked (type_check.h); lists that are always written stay absent when they are. Any
// thread.
#pragma once

#include "api/schema.h"
#include "wire/json_tree.h"

namespace berth {

void canonicalize(schema::MessageId message, JsonValue& object);

}  // namespace berth
