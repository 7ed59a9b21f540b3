// Claims for devices as JSON, for whoever stores what the scheduler decided.
#pragma once

#include "api/devices.h"
#include "wire/json_tree.h"

namespace berth {

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
