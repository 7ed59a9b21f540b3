// Extended resources that are devices: a pod asks for example.com/gpu, a DeviceClass stands behind
// it, and the scheduler makes the claim (volumes-dra-gang.md §13, gate DRAExtendedResource).
//
// One claim serves all such resources of a pod. Until PreBind writes it, it is in memory only,
// under a name that no real claim can have. What it asks for depends on the node: what a device
// plugin offers there is not asked for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "berth/pod.h"
#include "berth/random.h"

namespace berth::plugins {

// The name of such a claim while it is in memory only.
inline constexpr std::string_view kInMemoryClaimName = "<extended-resources>";

inline bool is_in_memory(const ResourceClaim& claim) { return claim.name == kInMemoryClaimName; }

// Whether the claim is annotated as made for the extended resources of the pod that owns it.
bool is_extended_resource_claim(const ResourceClaim& claim);

// The claim, without requests as yet; its UID is for our own books only.
Ref<const ResourceClaim> make_extended_resource_claim(const Pod& pod,
                                                      const std::shared_ptr<Symbols>& symbols,
                                                      Random& random);

struct BackedResource {
  Symbol name;
  const DeviceClass* device_class;
};

struct ExtendedResourceRequests {
  std::vector<DeviceRequest> requests;  // by name
  std::vector<ContainerExtendedResourceRequest> mappings;
};

// What the pod's containers ask for of these resources, which are in the order of their names.
// Containers that live side by side get devices of their own; init containers that come and go use
// what later ones will need, and between them as much more as the greediest wants. `hold` gets the
// symbols.
ExtendedResourceRequests requests_for(const Pod& pod, std::span<const BackedResource> resources,
                                      SymbolHold& hold);

// A random (version 4) UUID.
std::string random_uid(Random& random);

}  // namespace berth::plugins
