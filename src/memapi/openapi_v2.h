// /openapi/v2: the schemas of everything that is served, as one Swagger 2.0 document, in JSON or in
// the protobuf form that kubectl asks for.
#pragma once

#include <string>

#include "memapi/crd_kinds.h"
#include "wire/json_tree.h"

namespace berth::memapi {

inline constexpr std::string_view kOpenApiV2Protobuf =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
// What clients ask for, older than the other: no media type has an "@", so that no answer is called so.
inline constexpr std::string_view kOpenApiV2ProtobufAsked =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

JsonValue openapi_v2_document(const CustomKinds& custom);
// A document of that form, as protobuf.
std::string openapi_v2_protobuf(const JsonValue& document);

}  // namespace berth::memapi
