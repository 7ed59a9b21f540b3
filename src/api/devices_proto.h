// Devices and the claims for them, from protobuf. For the decoders of this room (kinds_proto.h is
// the door).
#pragma once

#include "api/devices.h"
#include "api/interner.h"
#include "api/proto_reader.h"
#include "base/result.h"

namespace berth {

Result<Ref<Object>> decode_resource_claim(ProtoReader& proto, Interner& interner);
Result<Ref<Object>> decode_resource_claim_template(ProtoReader& proto, Interner& interner);
Result<Ref<Object>> decode_resource_slice(ProtoReader& proto, Interner& interner);
Result<Ref<Object>> decode_device_class(ProtoReader& proto, Interner& interner);

}  // namespace berth
