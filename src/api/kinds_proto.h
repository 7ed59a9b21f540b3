// The smaller kinds from protobuf: the same objects that kinds_json.h reads from JSON.
#pragma once

#include <string_view>

#include "api/interner.h"
#include "api/object.h"
#include "base/result.h"

namespace berth {

// Whether decode_small_kind_proto() knows the kind.
bool is_small_kind_proto(ObjectKind kind);

// An object of one of the kinds of kinds.h, still open to changes. The bytes have no envelope.
Result<Ref<Object>> decode_small_kind_proto(ObjectKind kind, std::string_view message,
                                            Interner& interner);

}  // namespace berth
