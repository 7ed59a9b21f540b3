// What the schema of a custom resource does to its objects before they are validated: fields that
// it does not know are dropped, and those that are absent get their defaults.
#pragma once

#include <string>
#include <vector>

#include "memapi/crd_schema.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Drops unknown fields, and nulls where there can be none. Returns the paths of unknown fields:
// "spec.foo", "spec.list[0].bar".
std::vector<std::string> prune(JsonValue& object, const CrdSchema& schema, bool root);

// In objects that are there; a default fills in whole values only.
void fill_in_defaults(JsonValue& object, const CrdSchema& schema, bool root);

}  // namespace berth::memapi
