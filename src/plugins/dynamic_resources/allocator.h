// The structured allocator: which devices a pod's claims would get on a node.
//
//   DevicePools pools(symbols, features);         // one per plugin, kept between cycles
//   …
//   pools.refresh(cluster);                       // PreFilter: what changed among the slices
//   Allocator allocator(pools, allocated, cluster, budget);
//   for every node:                               // Filter
//     NodeAllocation found = allocator.allocate(node, claims);
//   AllocationResult result = allocator.result(found, i, claim, node, hold, random);  // Reserve
//
// The search is upstream's: claims, their requests and the devices for them in order, depth first,
// the first full solution wins; pools by driver and name (those with binding conditions last),
// slices by name, devices in their order. So the same device is taken.
//
// Pools are gathered once per node and kept until the node or a slice changes; what selectors say
// about a device is kept as long as its slice. Nothing here knows of plugins. World thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/devices.h"
#include "api/node.h"
#include "base/loop.h"
#include "base/random.h"
#include "base/result.h"
#include "cluster/cluster.h"
#include "plugins/dynamic_resources/allocated_devices.h"

namespace berth::config {
class FeatureGates;
}

namespace berth::plugins {

inline constexpr std::int64_t kAllocationResultsMaxSize = 32;  // devices in one claim

struct AllocatorFeatures {
  bool admin_access = true;           // DRAAdminAccess
  bool consumable_capacity = true;    // DRAConsumableCapacity
  bool device_binding = true;         // DRADeviceBindingConditions, DRAResourceClaimDeviceStatus
  bool device_taints = true;          // DRADeviceTaints
  bool list_type_attributes = false;  // DRAListTypeAttributes: for selectors only
  bool partitionable_devices = true;  // DRAPartitionableDevices
  bool prioritized_list = true;       // DRAPrioritizedList

  static AllocatorFeatures of(const config::FeatureGates& gates);
  // Without both of these upstream takes another implementation, which knows less: it has no
  // distinctAttribute, and no bindsToNode.
  bool stable() const { return !consumable_capacity && !device_binding; }
};

// What the cluster offers, by node.
class DevicePools {
 public:
  DevicePools(std::shared_ptr<Symbols> symbols, AllocatorFeatures features);
  ~DevicePools();
  DevicePools(const DevicePools&) = delete;
  DevicePools& operator=(const DevicePools&) = delete;

  // Takes over what has changed among the cluster's slices.
  void refresh(const Cluster& cluster);
  const AllocatorFeatures& features() const;

  struct State;  // of the allocator's own files

 private:
  friend class Allocator;
  std::unique_ptr<State> state_;
};

// One device that a claim would get.
struct DeviceChoice {
  Ref<const ResourceSlice> slice;
  std::uint32_t device = 0;      // index in the slice
  std::uint16_t request = 0;     // index in the claim
  std::int16_t subrequest = -1;  // index in firstAvailable; -1: the request has none
  bool shared = false;           // a share of the device, which consumes:
  ResourceList consumed_capacity;
};

struct ClaimAllocation {
  std::vector<DeviceChoice> devices;      // in the order of allocation
  std::vector<std::int16_t> subrequests;  // by request: the one of firstAvailable, or -1
};

struct NodeAllocation {
  enum class Verdict : std::uint8_t {
    kAllocated,
    kImpossible,   // not all claims can have devices
    kNodeFailure,  // something about this node prevents it; others may do (`message`)
    kTimedOut,     // given up
    kError,        // the attempt as a whole fails (`message`)
  };
  Verdict verdict = Verdict::kImpossible;
  std::string message;
  std::vector<ClaimAllocation> claims;  // of kAllocated: one per claim, in order

  bool allocated() const { return verdict == Verdict::kAllocated; }
};

// How long one node may take (filterTimeout). Counted in steps of the search as well as in time, so
// that a search ends also where time stands still.
struct SearchBudget {
  const Loop* loop = nullptr;
  Duration timeout{0};  // 0: no limit

  // More than upstream's search does in a second.
  static constexpr std::uint64_t kStepsPerSecond = 10'000'000;
};

// Of one scheduling cycle: slices, allocated devices and classes do not change while it is used.
class Allocator {
 public:
  Allocator(DevicePools& pools, const AllocatedDevices& allocated, const Cluster& cluster,
            SearchBudget budget);
  Allocator(Allocator&&) noexcept;
  ~Allocator();

  // Devices for all of the claims (none of which is allocated) on the node. A claim that is given
  // again, as the same object, is not prepared again.
  NodeAllocation allocate(const Node& node, std::span<const Ref<const ResourceClaim>> claims);

  // What becomes the status.allocation of claims[i]. Its symbols are held by `hold`; `random` names
  // shares.
  AllocationResult result(const NodeAllocation& allocation, std::size_t index,
                          const ResourceClaim& claim, const Node& node, SymbolHold& hold,
                          Random& random) const;

  // How many steps searches have taken so far.
  std::uint64_t steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::plugins
