// Strategic merge patch: like a merge patch, but lists whose items have a key are merged item by
// item, and directives ($patch, $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/…) say
// what cannot be said otherwise. Which lists have which key is in the schema (api/schema.h).
//
// Items that the patch names stand in its order; new ones come before those that only the object
// has, which keep their order.
#pragma once

#include <optional>

#include "api/schema.h"
#include "memapi/api_error.h"
#include "memapi/patch.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// `type` is the object's; without one there are no lists to be merged. 400, 422 or 500 for a patch
// that does not make sense, as a real server answers; 413 when it is too much work.
Answer<void> apply_strategic_merge(std::optional<schema::MessageId> type, JsonValue& object,
                                   const JsonValue& patch, PatchWork work = PatchWork());

}  // namespace berth::memapi
