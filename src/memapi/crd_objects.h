// What the server does to objects of custom kinds on their way into the store: the parts that the
// writes of all kinds ask for (defaults, admission, validation), by the schema of their definition.
#pragma once

#include <string_view>
#include <vector>

#include "memapi/api_error.h"
#include "memapi/api_request.h"
#include "memapi/crd_kinds.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Drops unknown fields and says so, as the request wants: 400, a warning or nothing.
Answer<void> prune_custom(const ApiRequest& request, JsonValue& object);
// Drops unknown fields without a word, and fills in defaults.
void default_custom(const CustomKind& kind, JsonValue& object);
// What differs from the old object beside the status, when that has a subresource, or beside it the
// metadata, is kept from the old one. `subresource` is "" or "status".
void keep_custom_parts(const CustomKind& kind, std::string_view subresource, JsonValue& object,
                       const JsonValue& old);
// Whether the wish changed: its generation goes on.
bool same_custom_wish(const CustomKind& kind, const JsonValue& object, const JsonValue& old);
// `old` is null for a new object.
std::vector<FieldProblem> custom_problems(const CustomKind& kind, const JsonValue& object,
                                          const JsonValue* old);
// 405 while the definition is being deleted.
Answer<void> check_creatable(const CustomKind& kind);

// Tables: the column definitions, and the cells of an object.
JsonValue custom_column_definitions(const CustomKind& kind);
std::vector<JsonValue> custom_cells(const CustomKind& kind, const JsonValue& object, WallTime now);

}  // namespace berth::memapi
