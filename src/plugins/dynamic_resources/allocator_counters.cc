#include "plugins/dynamic_resources/allocator_counters.h"

#include <algorithm>

namespace berth::plugins {

const CounterBalance& CounterBalances::of(const NodePool& pool, const AllocatedDevices& allocated) {
  const auto [entry, added] =
      balances_.try_emplace({pool.entry, pool.generation, pool.counter_sets});
  CounterBalance& balance = entry->second;
  if (!added) return balance;
  for (const CounterSet* set : pool.counter_sets)
    for (const ResourceAmount& counter : set->counters) balance.available.push_back(counter.amount);

  for (const std::vector<OfferedSlice*>* slices : {&pool.slices, &pool.others})
    for (const OfferedSlice* offered : *slices)
      for (const Device& device : offered->slice->devices) {
        if (device.consumes_counters.empty() ||
            !allocated.any({pool.entry->driver, pool.entry->pool, device.name}))
          continue;
        for (const DeviceCounterConsumption& consumption : device.consumes_counters)
          for (const ResourceAmount& counter : consumption.counters)
            if (const auto number =
                    counter_number(pool.counter_sets, consumption.counter_set, counter.name))
              balance.available[*number] -= counter.amount;
      }
  balance.overdrawn = std::ranges::any_of(balance.available,
                                          [](const Quantity& amount) { return amount.sign() < 0; });
  return balance;
}

bool CounterUses::take(const NodePools& node, const Candidate& candidate,
                       const AllocatedDevices& allocated, CounterBalances& balances) {
  auto pool = std::ranges::find(pools_, candidate.pool, &OfPool::pool);
  if (pool == pools_.end()) {
    const CounterBalance& balance = balances.of(node.pools[candidate.pool], allocated);
    pool = pools_.insert(
        pool, {candidate.pool, &balance, std::vector<Quantity>(balance.available.size())});
  }
  if (pool->balance->overdrawn) return false;
  bool enough = true;
  for (std::uint32_t i = candidate.first_use; i < candidate.end_use; ++i) {
    const CounterUse& use = node.uses[i];
    pool->taken[use.counter] += use.amount;
    if (pool->taken[use.counter] > pool->balance->available[use.counter]) enough = false;
  }
  if (!enough) give_back(node, candidate);
  return enough;
}

void CounterUses::give_back(const NodePools& node, const Candidate& candidate) {
  const auto pool = std::ranges::find(pools_, candidate.pool, &OfPool::pool);
  for (std::uint32_t i = candidate.first_use; i < candidate.end_use; ++i)
    pool->taken[node.uses[i].counter] -= node.uses[i].amount;
}

}  // namespace berth::plugins
