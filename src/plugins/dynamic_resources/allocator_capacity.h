// Consumable capacity: how much of a device a request takes, and whether that much is left. For
// the allocator's own files.
#pragma once

#include "api/devices.h"
#include "berth/resources.h"

namespace berth::plugins {

// What a request consumes of each of the device's capacities. `requested` may be null: the request
// names no amounts.
ResourceList consumed_capacity(const Device& device, const ResourceList* requested);

// Whether the device has what is requested, the amounts obey its policies, and they fit beside what
// is consumed of it already: by others (`allocated`) and by this attempt (`allocating`); each may
// be null.
bool capacity_fits(const Device& device, const ResourceList* requested,
                   const ResourceList* allocated, const ResourceList* allocating);

}  // namespace berth::plugins
