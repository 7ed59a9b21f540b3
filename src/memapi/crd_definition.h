// What a CustomResourceDefinition has to be: its defaults, and what a real server refuses of it,
// with that server's texts.
#pragma once

#include <string>
#include <vector>

#include "memapi/api_error.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Names and conversion that are not said, storedVersions.
void default_definition(JsonValue& definition);

// `old`: what it replaces; null if it is new.
std::vector<FieldProblem> check_definition(const JsonValue& definition, const JsonValue* old);

// Whether a schema is structural and says what it may. `path` is what errors call it.
void check_structure(const JsonValue& schema, const std::string& path,
                     std::vector<FieldProblem>& problems);

}  // namespace berth::memapi
