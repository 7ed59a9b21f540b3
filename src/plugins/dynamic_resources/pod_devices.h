// What DynamicResources keeps of one pod from PreFilter to the end of its binding. For the plugin's
// own files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/devices.h"
#include "api/node_selector.h"
#include "framework/plugin.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/extended_resources.h"

namespace berth::plugins {

struct PodClaim {
  Ref<const ResourceClaim> claim;            // as it was when last looked at
  std::optional<NodeSelector> available_on;  // where its allocation can be used; absent: everywhere
  bool stuck = false;  // allocated, but its devices have failed, or took too long, to get ready
  // From Reserve to PreBind: the claim with the allocation that is to be written.
  Ref<const ResourceClaim> reserved;

  bool allocated() const { return claim->allocated(); }
};

// The claim for extended resources as one kind of node would have it.
struct ExtendedClaimVariant {
  Ref<const ResourceClaim> claim;
  std::vector<ContainerExtendedResourceRequest> mappings;
  std::vector<Ref<const ResourceClaim>> to_allocate;  // the pod's own, and this one
};

struct ExtendedResources {
  // Every scalar that the pod requests and that may be devices, with the class if there is one, in
  // the order of their names.
  std::vector<BackedResource> resources;
  std::string in_memory_uid;  // of the claim, in our own books
  // By which of the resources (one character each) are to be devices.
  std::map<std::string, ExtendedClaimVariant> variants;
  const ExtendedClaimVariant* chosen = nullptr;  // since Reserve
};

struct PodDevices {
  std::vector<PodClaim> claims;  // the pod's own, then the one for extended resources
  std::optional<ExtendedResources> extended;
  std::optional<Allocator> allocator;  // there is something to allocate; until Reserve
  std::vector<Ref<const ResourceClaim>> to_allocate;  // without the one for extended resources
  std::set<std::size_t> unavailable;                  // claims that kept some node from being used
  std::vector<Score> scores;                          // by row; empty: nothing to prefer
  bool undone = false;

  // The one for extended resources, if there is one; it is the last.
  PodClaim* extended_claim() { return extended ? &claims.back() : nullptr; }
  std::size_t own_claims() const { return claims.size() - (extended ? 1 : 0); }
};

// That PreFilter has seen the pod; without devices when it has no claims.
struct Seen {
  std::unique_ptr<PodDevices> devices;
};

}  // namespace berth::plugins
