// Consumable capacity: how much of a device a request takes, and whether that much is left. For
// the allocator's own files.
#pragma once

#include "api/devices.h"
#include "berth/resources.h"
#include "berth/result.h"

namespace berth::plugins {

// What a request asks of a device's capacity.
struct CapacityRequest {
  const ResourceList* amounts = nullptr;  // null: the request names none
  bool fractional_ranges = false;         // the gate DRAFractionalCapacityRange
};

// Whether the device has what is requested, the amounts obey its policies, and they fit beside what
// is consumed of it already: by others (`allocated`) and by this attempt (`allocating`); each may
// be null. The error names the capacity whose amount cannot be worked out, or is negative.
Result<bool> capacity_fits(const Device& device, const CapacityRequest& request,
                           const ResourceList* allocated, const ResourceList* allocating,
                           const Symbols& symbols);

// What a request that fits consumes of each of the device's capacities.
ResourceList consumed_capacity(const Device& device, const CapacityRequest& request);

}  // namespace berth::plugins
