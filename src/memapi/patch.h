// JSON patch (RFC 6902) and merge patch (RFC 7386) on a tree.
#pragma once

#include "api/json_tree.h"
#include "memapi/api_error.h"

namespace berth::memapi {

// 422 when an operation does not fit the object, 400 when the patch itself makes no sense.
Answer<void> apply_json_patch(JsonValue& object, const JsonValue& patch);

void apply_merge_patch(JsonValue& object, const JsonValue& patch);

}  // namespace berth::memapi
