// The fields of served kinds as OpenAPI schemas, for `kubectl explain`: names and types, by the
// table of fields (api/schema.h). Short descriptions are ours (openapi_texts.h).
#pragma once

#include <string_view>

#include "memapi/crd_kinds.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// All that the kinds of a group's version consist of, by name ("io.k8s.api.core.v1.PodSpec").
JsonValue openapi_schemas(std::string_view group, std::string_view version,
                          const CustomKinds& custom);

}  // namespace berth::memapi
