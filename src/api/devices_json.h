// Devices and the claims for them, from JSON and to it. Reading is for the decoders of this room
// (kinds_json.h is the door); writing is for whoever stores what the scheduler decided.
#pragma once

#include "api/devices.h"
#include "api/interner.h"
#include "api/json_reader.h"
#include "api/json_tree.h"
#include "base/result.h"

namespace berth {

Result<Ref<Object>> decode_resource_claim(JsonReader& json, Interner& interner);
Result<Ref<Object>> decode_resource_claim_template(JsonReader& json, Interner& interner);
Result<Ref<Object>> decode_resource_slice(JsonReader& json, Interner& interner);
Result<Ref<Object>> decode_device_class(JsonReader& json, Interner& interner);

// status.allocation
JsonValue allocation_json(const AllocationResult& allocation, const Symbols& symbols);
// status.reservedFor
JsonValue reserved_for_json(const std::vector<ResourceClaimConsumerReference>& reserved_for,
                            const Symbols& symbols);
// spec
JsonValue claim_spec_json(const ResourceClaimSpec& spec, const Symbols& symbols);
// All that we know of the claim, as one would create it: the status with allocation and
// reservations only where there is one. A generateName stands only where there is no name.
JsonValue claim_json(const ResourceClaim& claim);

}  // namespace berth
