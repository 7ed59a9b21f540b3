// The smaller kinds from JSON.
#pragma once

#include <string_view>

#include "api/interner.h"
#include "api/kinds.h"
#include "api/object.h"
#include "base/result.h"

namespace berth {

// Whether decode_small_kind() knows the kind.
bool is_small_kind(ObjectKind kind);

// An object of one of the kinds of kinds.h, still open to changes.
Result<Ref<Object>> decode_small_kind(ObjectKind kind, std::string_view json, Interner& interner);

}  // namespace berth
