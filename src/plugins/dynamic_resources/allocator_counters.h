// Shared counters: what partitions of a device have in common. For the allocator's own files.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "plugins/dynamic_resources/allocated_devices.h"
#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::plugins {

// What is left of a pool's counters, by number.
struct CounterBalance {
  std::vector<Quantity> available;
  // Some counter is overdrawn. Parity: then no device with counters can be had from the pool.
  bool overdrawn = false;
};

// The balances of all pools, each worked out once per scheduling cycle.
class CounterBalances {
 public:
  const CounterBalance& of(const NodePool& pool, const AllocatedDevices& allocated);

 private:
  // The same pool of the same generation has the same counters, whichever node looks, unless its
  // slices disagree on how many they are.
  using Key = std::tuple<const PoolEntry*, std::int64_t, std::vector<const CounterSet*>>;
  std::map<Key, CounterBalance> balances_;
};

// What one attempt takes from the counters of a node's pools.
class CounterUses {
 public:
  // Takes what the candidate consumes, if it is there.
  bool take(const NodePools& node, const Candidate& candidate, const AllocatedDevices& allocated,
            CounterBalances& balances);
  void give_back(const NodePools& node, const Candidate& candidate);
  void clear() { pools_.clear(); }

 private:
  struct OfPool {
    std::uint32_t pool;
    const CounterBalance* balance;
    std::vector<Quantity> taken;
  };
  std::vector<OfPool> pools_;
};

}  // namespace berth::plugins
