// Strategic merge patch: like a merge patch, but lists whose items have a key are merged item by
// item, and directives ($patch, $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/…) say
// what cannot be said otherwise. Which lists have which key is the table in the .cc file.
#pragma once

#include <string_view>

#include "memapi/api_error.h"
#include "memapi/patch.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// 413 when it is too much work.
Answer<void> apply_strategic_merge(std::string_view kind, JsonValue& object, const JsonValue& patch,
                                   PatchWork work = PatchWork());

}  // namespace berth::memapi
