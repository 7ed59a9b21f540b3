// Schemas of custom kinds for OpenAPI documents.
#pragma once

#include <string>
#include <string_view>

#include "memapi/crd_kinds.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// "com.example.stable.v1.CronTab".
std::string custom_schema_name(const CustomKind& kind, std::string_view kind_name);

// Adds each kind of the group's version, and its list, to `schemas`.
void add_custom_schemas(std::string_view group, std::string_view version, const CustomKinds& custom,
                        JsonValue& schemas);

}  // namespace berth::memapi
