// Any object from its protobuf: the same objects that decode.h makes of JSON, as an API server has
// them.
#pragma once

#include <string_view>

#include "api/interner.h"
#include "api/object.h"
#include "base/result.h"

namespace berth {

// The message of one object, without envelope: an item of a list. Kinds that are not decoded give
// an empty object. Errors begin with the numbers of the field.
Result<AnyObject> decode_object_proto(ObjectKind kind, std::string_view api_version,
                                      std::string_view message, Interner& interner);

// With the envelope (envelope.h), which names the kind.
Result<AnyObject> decode_object_proto(std::string_view bytes, Interner& interner);

}  // namespace berth
