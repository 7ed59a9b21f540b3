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
// A search may take seconds. With SearchBudget::turn it stops in the middle when the turn is over
// (kUnfinished), and goes on when it is asked about the same node again.
//
// The search is upstream's: claims, their requests and the devices for them in order, depth first,
// the first full solution wins; pools by driver and name (those with binding conditions last),
// slices by name, devices in their order. So the same device is taken.
//
// Pools are gathered once per node and kept until the node or a slice changes; what selectors say
// about a device is kept as long as its slice. Nothing here knows of plugins. World thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/devices.h"
#include "berth/loop.h"
#include "berth/node.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/views.h"
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
  bool device_taint_rules = true;     // DRADeviceTaintRules
  bool device_taints = true;          // DRADeviceTaints
  bool fractional_ranges = false;     // DRAFractionalCapacityRange
  bool list_type_attributes = false;  // DRAListTypeAttributes: in constraints
  bool partitionable_devices = true;  // DRAPartitionableDevices
  bool prioritized_list = true;       // DRAPrioritizedList

  static AllocatorFeatures of(const config::FeatureGates& gates);
  // Without any of these upstream takes another implementation, which knows less: it has no
  // distinctAttribute and no bindsToNode, and every node sees all shared counters.
  bool stable() const { return !consumable_capacity && !device_binding && !list_type_attributes; }
};

class DevicePools;  // what the cluster offers, by node (allocator_pools.h)

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
    kUnfinished,   // the turn is over: ask again in the next
  };
  Verdict verdict = Verdict::kImpossible;
  std::string message;
  std::vector<ClaimAllocation> claims;  // of kAllocated only: one per claim, in order
  std::uint64_t steps = 0;              // that the search has taken

  bool allocated() const { return verdict == Verdict::kAllocated; }
};

// What there is on a node for one request (or subrequest), looked at by itself: every device that
// the node can draw from is counted once, by the first thing that keeps the request from it.
struct RequestSupply {
  std::size_t claim = 0;         // index in the claims
  Symbol request;                // "request" or "request/subrequest"
  std::int16_t subrequest = -1;  // index in firstAvailable
  Symbol device_class;
  bool all = false;         // every device that is selected is wanted
  std::int64_t wanted = 0;  // devices
  std::int64_t devices = 0;
  std::int64_t not_selected = 0;  // by the selectors of class and request, or not for this node
  std::int64_t in_use = 0;
  std::int64_t without_capacity = 0;  // too little of what is to be consumed is left
  std::int64_t without_counters = 0;  // too little is left of the counters that devices share
  std::int64_t tainted = 0;
  std::int64_t free = 0;

  std::int64_t selected() const { return devices - not_selected; }
  bool suffices() const { return all ? selected() > 0 && free == selected() : free >= wanted; }
};

// How long the searches of one scheduling cycle may take; 0: no limit.
struct SearchBudget {
  const Loop* loop = nullptr;
  Duration timeout{0};  // for one node (filterTimeout)
  // For all nodes together. It is looked at before a search begins, so that each has its timeout.
  Duration attempt_timeout{0};
  Duration turn{0};  // before others get their turn
};

// How much of its budget a scheduling cycle has used. A step counts as at least a fixed time, so
// that a search ends also where time stands still; what passes between two turns does not count.
class SearchClock {
 public:
  // More than upstream's search does in a second.
  static constexpr std::uint64_t kStepsPerSecond = 10'000'000;
  static constexpr Duration kStep = Duration(std::chrono::seconds(1)) / kStepsPerSecond;

  explicit SearchClock(const SearchBudget& budget) : budget_(budget) { start_turn(); }

  void start_turn();
  // So many steps since the last call.
  void spend(std::uint64_t steps);
  void lift_limits() { budget_ = {}; }

  Duration used() const { return used_; }
  // After how many steps at most the clock is to be looked at.
  std::uint64_t steps_between_looks() const {
    constexpr std::uint64_t kMost = 256;
    if (budget_.turn <= Duration(0)) return kMost;
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(budget_.turn / kStep), 1, kMost);
  }
  bool turn_is_over() const { return budget_.turn > Duration(0) && used_ >= turn_end_; }
  bool timed_out_since(Duration begun) const {
    return budget_.timeout > Duration(0) && used_ - begun >= budget_.timeout;
  }
  bool attempt_timed_out() const {
    return budget_.attempt_timeout > Duration(0) && used_ >= budget_.attempt_timeout;
  }

 private:
  TimePoint tick() const { return budget_.loop ? budget_.loop->tick() : TimePoint{}; }

  SearchBudget budget_;
  TimePoint last_;
  Duration used_{0};
  Duration turn_end_{0};
};

// Of one scheduling cycle: slices, allocated devices and classes do not change while it is used.
class Allocator {
 public:
  Allocator(DevicePools& pools, const AllocatedDevices& allocated, const Cluster& cluster,
            SearchBudget budget);
  Allocator(Allocator&&) noexcept;
  ~Allocator();

  // Devices for all of the claims (none of which is allocated) on the node. A claim that is given
  // again, as the same object, is not prepared again. While a search is unfinished, the node and
  // the array of claims must stay where they are; asking about another node gives it up.
  NodeAllocation allocate(const Node& node, std::span<const Ref<const ResourceClaim>> claims) {
    NodeAllocation out;
    allocate(node, claims, out);
    return out;
  }
  // The same. `out` may be used again for the next node, so that its arrays grow only once.
  void allocate(const Node& node, std::span<const Ref<const ResourceClaim>> claims,
                NodeAllocation& out);
  // What there is for each of their requests, to say why there is no solution. Empty if that cannot
  // be told. Gives up a search that is unfinished.
  std::vector<RequestSupply> supply(const Node& node,
                                    std::span<const Ref<const ResourceClaim>> claims);
  // Others had their turn.
  void start_turn();
  // For the node that was chosen: what was found once is found again, however long it takes.
  void lift_limits();

  // What becomes the status.allocation of claims[i]. Its symbols are held by `hold`; `random` names
  // shares.
  AllocationResult result(const NodeAllocation& allocation, std::size_t index,
                          const ResourceClaim& claim, const Node& node, SymbolHold& hold,
                          Random& random) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::plugins
