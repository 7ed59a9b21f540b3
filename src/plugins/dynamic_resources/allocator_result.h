// What is written of an allocation: devices, configuration, and the nodes it can be used from. For
// the allocator's own files.
#pragma once

#include "api/devices.h"
#include "berth/node.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/views.h"
#include "plugins/dynamic_resources/allocator.h"

namespace berth::plugins {

// Whether one node selector can describe the nodes from which all devices can be used.
Result<void> check_selector(const ClaimAllocation& allocation, const AllocatorFeatures& features);

AllocationResult make_result(const ClaimAllocation& allocation, const ResourceClaim& claim,
                             const Node& node, const Cluster& cluster,
                             const AllocatorFeatures& features, SymbolHold& hold, Random& random);

}  // namespace berth::plugins
