// The storage kinds from protobuf: the same objects that storage_json.h reads from JSON.
#pragma once

#include <string_view>

#include "api/interner.h"
#include "api/storage.h"
#include "base/result.h"

namespace berth {

// An object of one of the kinds of storage.h (is_storage_kind()), still open to changes. The bytes
// have no envelope.
Result<Ref<Object>> decode_storage_proto(ObjectKind kind, std::string_view message,
                                         Interner& interner);

}  // namespace berth
