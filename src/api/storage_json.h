// The storage kinds from JSON.
#pragma once

#include <string_view>

#include "api/interner.h"
#include "api/storage.h"
#include "base/result.h"

namespace berth {

// Whether decode_storage() knows the kind.
bool is_storage_kind(ObjectKind kind);

// An object of one of the kinds of storage.h, still open to changes.
Result<Ref<Object>> decode_storage(ObjectKind kind, std::string_view json, Interner& interner);

}  // namespace berth
