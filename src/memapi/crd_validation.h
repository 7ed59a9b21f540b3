// Whether an object is what the schema of its custom resource says: types, limits, formats, lists
// that are sets or maps, and rules. Texts are a real server's.
#pragma once

#include <vector>

#include "memapi/api_error.h"
#include "memapi/crd_schema.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// `object` has kind and apiVersion. `old`: what it replaces, null if it is new. A value that was
// there before may stay, whatever is wrong with it.
std::vector<FieldProblem> validate_custom(const JsonValue& object, const JsonValue* old,
                                          const CrdSchema& schema);

// A value alone, as a default is: without its rules. `path` is what errors call it.
std::vector<FieldProblem> validate_value(const JsonValue& value, const CrdSchema& schema,
                                         const std::string& path);

}  // namespace berth::memapi
