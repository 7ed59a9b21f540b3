#include "plugins/dynamic_resources/allocator_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "base/keyed_hash.h"

namespace berth::plugins {
namespace {

const std::string& name_of(const OfferedSlice* offered) { return offered->slice->name; }

bool device_names_repeat(std::span<OfferedSlice* const> slices) {
  std::vector<Symbol> names;
  for (const OfferedSlice* offered : slices)
    for (const Device& device : offered->slice->devices) names.push_back(device.name);
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

bool counter_sets_repeat(std::span<const CounterSet* const> sets) {
  std::vector<Symbol> names;
  for (const CounterSet* set : sets) names.push_back(set->name);
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

// Whether a device consumes a counter that there is not.
bool unknown_counters(std::span<const CounterSet* const> sets,
                      std::span<OfferedSlice* const> slices) {
  for (const OfferedSlice* offered : slices)
    for (const Device& device : offered->slice->devices)
      for (const DeviceCounterConsumption& consumption : device.consumes_counters) {
        if (std::ranges::find(sets, consumption.counter_set, &CounterSet::name) == sets.end())
          return true;
        for (const ResourceAmount& counter : consumption.counters)
          if (!counter_number(sets, consumption.counter_set, counter.name)) return true;
      }
  return false;
}

bool has_compatibility_groups(const ResourceSlice& slice) {
  return std::ranges::any_of(slice.devices, [](const Device& device) {
    return std::ranges::any_of(device.consumes_counters,
                               [](const DeviceCounterConsumption& consumption) {
                                 return !consumption.compatibility_groups.empty();
                               });
  });
}

bool has_binding_conditions(std::span<OfferedSlice* const> slices) {
  return std::ranges::any_of(slices, [](const OfferedSlice* offered) {
    return std::ranges::any_of(offered->slice->devices, [](const Device& device) {
      return !device.binding_conditions.empty();
    });
  });
}

struct PoolId {
  Symbol driver;
  Symbol pool;
  friend bool operator==(const PoolId&, const PoolId&) = default;
};
struct PoolIdHash {
  std::size_t operator()(const PoolId& id) const {
    return std::hash<DeviceId>{}({id.driver, id.pool, {}});
  }
};

}  // namespace

std::optional<std::uint32_t> counter_number(std::span<const CounterSet* const> sets, Symbol set,
                                            Symbol counter) {
  std::uint32_t number = 0;
  for (const CounterSet* known : sets) {
    if (known->name != set) {
      number += static_cast<std::uint32_t>(known->counters.size());
      continue;
    }
    for (const ResourceAmount& amount : known->counters) {
      if (amount.name == counter) return number;
      ++number;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// ---- what there is ----------------------------------------------------------------------------

struct DevicePools::Index {
  std::uint64_t generation = 0;  // of the cluster's slices
  boost::unordered_flat_map<std::string, std::unique_ptr<OfferedSlice>, TextHash> by_name;
  boost::unordered_flat_map<PoolId, std::unique_ptr<PoolEntry>, PoolIdHash> by_pool;
  // Slices of one node, and the others; without those that concern every node.
  boost::unordered_flat_map<Symbol, std::vector<OfferedSlice*>, std::hash<Symbol>> by_node;
  std::vector<OfferedSlice*> anywhere;
  boost::unordered_flat_set<PoolEntry*> with_counters;  // that concern every node
  std::uint64_t shared_version = 1;                     // of what concerns more than one node
  boost::unordered_flat_map<Symbol, std::unique_ptr<NodePools>, std::hash<Symbol>> nodes;
  std::vector<NodePool> unusable;  // of pools that a node sees only the counters of
  std::uint64_t unusable_version = 0;
};

DevicePools::DevicePools(std::shared_ptr<Symbols> symbol_table,
                         AllocatorFeatures allocator_features)
    : symbols(std::move(symbol_table)),
      features(allocator_features),
      selectors(symbols, !features.stable()),
      index_(std::make_unique<Index>()) {}

DevicePools::~DevicePools() = default;

void DevicePools::refresh(const Cluster& cluster) {
  Index& index = *index_;
  // Nodes come and go; what is known of those that are gone is of no use.
  if (index.nodes.size() > 2 * cluster.nodes().node_count() + 64) index.nodes.clear();

  if (features.device_taint_rules) taint_rules.refresh(cluster);

  const std::uint64_t generation = cluster.generation(ObjectKind::kResourceSlice);
  if (generation == index.generation) return;
  index.generation = generation;
  // What is known of a slice stays true as long as it is the same object.
  boost::unordered_flat_set<std::string_view, TextHash> names;
  const std::vector<Ref<const Object>> slices = cluster.list(ObjectKind::kResourceSlice);
  for (const Ref<const Object>& object : slices) {
    names.insert(object->name);
    const auto found = index.by_name.find(object->name);
    if (found != index.by_name.end() && found->second->slice.get() == object.get()) continue;
    remove(object->name);
    put(Ref<const ResourceSlice>(static_cast<const ResourceSlice*>(object.get())));
  }
  if (names.size() == index.by_name.size()) return;
  std::vector<std::string> gone;
  for (const auto& [name, offered] : index.by_name)
    if (!names.contains(name)) gone.push_back(name);
  for (const std::string& name : gone) remove(name);
}

void DevicePools::put(const Ref<const ResourceSlice>& slice) {
  Index& index = *index_;
  auto offered = std::make_unique<OfferedSlice>();
  offered->slice = slice;
  offered->compatibility_groups = has_compatibility_groups(*slice);
  std::unique_ptr<PoolEntry>& entry = index.by_pool[{slice->driver, slice->pool.name}];
  if (!entry) {
    entry = std::make_unique<PoolEntry>();
    entry->driver = slice->driver;
    entry->pool = slice->pool.name;
  }
  offered->pool = entry.get();
  const auto by_name = [&](std::vector<OfferedSlice*>& slices) {
    slices.insert(std::ranges::lower_bound(slices, slice->name, {}, name_of), offered.get());
  };
  by_name(entry->slices);
  if (concerns_every_node(*offered)) {
    index.with_counters.insert(entry.get());
  } else if (!offered->node_name().empty()) {
    by_name(index.by_node[offered->node_name()]);
  } else {
    by_name(index.anywhere);
  }
  changed(*offered);
  index.by_name[slice->name] = std::move(offered);
}

void DevicePools::remove(const std::string& name) {
  Index& index = *index_;
  const auto found = index.by_name.find(name);
  if (found == index.by_name.end()) return;
  OfferedSlice* offered = found->second.get();
  changed(*offered);
  PoolEntry* entry = offered->pool;
  std::erase(entry->slices, offered);
  if (concerns_every_node(*offered)) {
    if (std::ranges::none_of(entry->slices, &OfferedSlice::counters))
      index.with_counters.erase(entry);
  } else if (!offered->node_name().empty()) {
    // The symbol may be reused for another name once it is released.
    const auto of_node = index.by_node.find(offered->node_name());
    std::erase(of_node->second, offered);
    if (of_node->second.empty()) index.by_node.erase(of_node);
  } else {
    std::erase(index.anywhere, offered);
  }
  if (entry->slices.empty()) index.by_pool.erase({entry->driver, entry->pool});
  index.by_name.erase(found);
}

// What nodes have gathered is void: of one, if the slice and its whole pool are that node's alone.
void DevicePools::changed(const OfferedSlice& offered) {
  Index& index = *index_;
  const std::optional<Symbol> node = only_node(*offered.pool);
  if (node) {
    index.nodes.erase(*node);
  } else {
    ++index.shared_version;
    index.nodes.clear();
  }
}

std::optional<Symbol> DevicePools::only_node(const PoolEntry& pool) const {
  const Symbol node = pool.slices.front()->node_name();
  const bool is_local =
      !node.empty() && std::ranges::all_of(pool.slices, [&](const OfferedSlice* slice) {
        return slice->node_name() == node && !concerns_every_node(*slice);
      });
  return is_local ? std::optional(node) : std::nullopt;
}

std::optional<Symbol> DevicePools::only_node(Symbol driver, Symbol pool) const {
  const auto found = index_->by_pool.find({driver, pool});
  return found == index_->by_pool.end() ? Symbol{} : only_node(*found->second);
}

// ---- what concerns a node ---------------------------------------------------------------------

// Parity: without the gate DRADeviceCompatibilityGroups, which is not built, slices whose devices
// have compatibility groups are ignored, and their pool is incomplete.
bool DevicePools::ignored(const OfferedSlice& offered) const {
  if (offered.compatibility_groups) return true;
  return !features.partitionable_devices &&
         (offered.slice->per_device_node_selection || offered.counters());
}

bool DevicePools::concerns_every_node(const OfferedSlice& offered) const {
  return features.stable() && offered.counters();
}

Result<bool> DevicePools::matches(std::optional<Result<NodeSelector>>& compiled,
                                  const DeviceNodeSelection& nodes, const Node& node) const {
  if (const Symbol name = nodes.node_name.value_or(Symbol{}); !name.empty())
    return name == node.symbol;
  if (nodes.all_nodes) return true;
  if (!nodes.node_selector) return false;
  if (!compiled) {
    std::vector<std::string> errors;
    for (std::size_t i = 0; i < nodes.node_selector->size(); ++i) {
      const NodeSelectorTerm& term = (*nodes.node_selector)[i];
      if (term.empty()) continue;
      const CompiledNodeTerm checked(term, *symbols, fmt::format("nodeSelectorTerms[{}]", i));
      errors.insert(errors.end(), checked.errors().begin(), checked.errors().end());
    }
    if (errors.empty()) {
      compiled = NodeSelector::compile(*nodes.node_selector, *symbols);
    } else {
      compiled = fail(aggregate(errors));
    }
  }
  if (!*compiled)
    return fail(ErrorKind::kInvalid, "failed to parse node selector: " + compiled->error().message);
  return (*compiled)->matches(node, *symbols);
}

Result<bool> DevicePools::device_matches(OfferedSlice& offered, std::uint32_t device,
                                         const Node& node) {
  if (offered.by_device.empty()) offered.by_device.resize(offered.slice->devices.size());
  return matches(offered.by_device[device], offered.slice->devices[device].nodes, node);
}

// Of slices that do not concern every node.
Result<bool> DevicePools::relevant(OfferedSlice& offered, const Node& node) {
  const ResourceSlice& slice = *offered.slice;
  if (!offered.node_name().empty() || slice.nodes.all_nodes || slice.nodes.node_selector) {
    const Result<bool> match = matches(offered.nodes, slice.nodes, node);
    if (match) return match;
    return fail(ErrorKind::kInvalid,
                fmt::format("failed to perform node selection for slice {}: {}", slice.name,
                            match.error().message));
  }
  if (!offered.per_device()) return false;
  for (std::uint32_t i = 0; i < slice.devices.size(); ++i) {
    const Result<bool> match = device_matches(offered, i, node);
    if (!match) {
      return fail(
          ErrorKind::kInvalid,
          fmt::format("failed to perform node selection for device {} in slice {}: {}",
                      symbols->text(slice.devices[i].name), slice.name, match.error().message));
    }
    if (*match) return true;
  }
  return false;
}

NodePools& DevicePools::of(const Node& node) {
  Index& index = *index_;
  std::unique_ptr<NodePools>& known = index.nodes[node.symbol];
  if (known && known->node.get() == &node && known->shared_version == index.shared_version) {
    return *known;
  }
  known = std::make_unique<NodePools>();
  known->node = Ref<const Node>(&node);
  known->shared_version = index.shared_version;
  gather(node, *known);
  return *known;
}

void DevicePools::gather(const Node& node, NodePools& out) {
  Index& index = *index_;
  struct Group {
    PoolEntry* entry;
    std::vector<OfferedSlice*> slices;
  };
  std::vector<Group> groups;
  const auto add = [&](OfferedSlice* offered) {
    auto group = std::ranges::find(groups, offered->pool, &Group::entry);
    if (group == groups.end()) group = groups.insert(group, {offered->pool, {}});
    group->slices.push_back(offered);
  };
  const auto add_relevant = [&](const std::vector<OfferedSlice*>& slices) {
    for (OfferedSlice* offered : slices) {
      if (ignored(*offered)) continue;
      const Result<bool> concerns = relevant(*offered, node);
      if (!concerns) {
        out.error =
            Error{ErrorKind::kInvalid, "gather pool information: " + concerns.error().message};
        return false;
      }
      if (*concerns) add(offered);
    }
    return true;
  };
  const auto own = index.by_node.find(node.symbol);
  if (own != index.by_node.end() && !add_relevant(own->second)) return;
  if (!add_relevant(index.anywhere)) return;

  for (Group& group : groups) {
    if (features.partitionable_devices && index.with_counters.contains(group.entry))
      for (OfferedSlice* offered : group.entry->slices)
        if (offered->counters()) group.slices.push_back(offered);
    std::ranges::sort(group.slices, {}, name_of);
    if (std::optional<NodePool> pool = make_pool(*group.entry, std::move(group.slices)))
      out.pools.push_back(*std::move(pool));
  }
  // A node that sees the counters of every pool also sees whether the pool is sound.
  for (const NodePool& pool : unusable_counter_pools())
    if (std::ranges::find(groups, pool.entry, &Group::entry) == groups.end())
      out.pools.push_back(pool);

  sort_pools(out.pools);
  out.any_invalid = std::ranges::any_of(out.pools, &NodePool::invalid);
  list_candidates(out, features.consumable_capacity);
}

const std::vector<NodePool>& DevicePools::unusable_counter_pools() {
  Index& index = *index_;
  if (index.unusable_version == index.shared_version) return index.unusable;
  index.unusable_version = index.shared_version;
  index.unusable.clear();
  if (!features.partitionable_devices) return index.unusable;
  for (const PoolEntry* entry : index.with_counters) {
    std::vector<OfferedSlice*> slices;
    std::ranges::copy_if(entry->slices, std::back_inserter(slices), &OfferedSlice::counters);
    std::optional<NodePool> pool = make_pool(*entry, std::move(slices));
    if (pool && (pool->incomplete || pool->invalid)) index.unusable.push_back(*std::move(pool));
  }
  return index.unusable;
}

// `slices`: those of the pool that concern the node, by name. Nothing: the pool is being replaced.
std::optional<NodePool> DevicePools::make_pool(const PoolEntry& entry,
                                               std::vector<OfferedSlice*> slices) const {
  NodePool pool;
  pool.entry = &entry;
  pool.generation = std::numeric_limits<std::int64_t>::min();
  for (const OfferedSlice* offered : slices)
    pool.generation = std::max(pool.generation, offered->slice->pool.generation);
  std::erase_if(slices, [&](const OfferedSlice* offered) {
    return offered->slice->pool.generation != pool.generation;
  });

  const std::int64_t expected = slices.front()->slice->pool.resource_slice_count;
  if (static_cast<std::int64_t>(slices.size()) == expected) {
    build_pool(pool, std::move(slices), {});
    return pool;
  }
  // Some may be for other nodes only.
  std::vector<OfferedSlice*> all;
  for (OfferedSlice* offered : entry.slices) {
    const std::int64_t generation = offered->slice->pool.generation;
    if (generation > pool.generation) return std::nullopt;
    if (generation == pool.generation && !offered->compatibility_groups) all.push_back(offered);
  }
  if (static_cast<std::int64_t>(all.size()) == expected) {
    build_pool(pool, std::move(slices), all);
  } else {
    pool.incomplete = true;
  }
  return pool;
}

// `all`: every slice of this generation; none if `slices` is all there is.
void DevicePools::build_pool(NodePool& pool, std::vector<OfferedSlice*> slices,
                             std::span<OfferedSlice* const> all) const {
  std::vector<OfferedSlice*> with_devices;
  const auto only_counters = [&](const OfferedSlice* offered) {
    return features.partitionable_devices && offered->counters();
  };
  std::ranges::copy_if(slices, std::back_inserter(with_devices), std::not_fn(only_counters));
  if (device_names_repeat(with_devices)) {
    pool.invalid = true;
    return;
  }
  if (features.partitionable_devices) {
    // In the order of the slices' names, whichever of them are the node's: CounterBalances goes by
    // their numbers.
    for (OfferedSlice* offered : all.empty() ? std::span<OfferedSlice* const>(slices) : all) {
      if (only_counters(offered)) {
        for (const CounterSet& set : offered->slice->shared_counters)
          pool.counter_sets.push_back(&set);
      } else if (std::ranges::find(slices, offered) == slices.end()) {
        pool.others.push_back(offered);
      }
    }
    if (counter_sets_repeat(pool.counter_sets) ||
        unknown_counters(pool.counter_sets, with_devices) ||
        unknown_counters(pool.counter_sets, pool.others)) {
      pool.invalid = true;
      return;
    }
  }
  pool.binding_conditions = has_binding_conditions(with_devices);
  pool.slices = std::move(with_devices);
}

void DevicePools::sort_pools(std::vector<NodePool>& pools) const {
  std::ranges::sort(pools, [&](const NodePool& a, const NodePool& b) {
    if (a.binding_conditions != b.binding_conditions) return b.binding_conditions;
    if (a.entry->driver != b.entry->driver)
      return symbols->text(a.entry->driver) < symbols->text(b.entry->driver);
    return symbols->text(a.entry->pool) < symbols->text(b.entry->pool);
  });
}

void DevicePools::list_candidates(NodePools& out, bool consumable_capacity) {
  const auto position = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  for (std::uint32_t p = 0; p < out.pools.size(); ++p) {
    NodePool& pool = out.pools[p];
    pool.first_candidate = position(out.candidates);
    for (OfferedSlice* offered : pool.slices) {
      const std::vector<Device>& devices = offered->slice->devices;
      for (std::uint32_t i = 0; i < devices.size(); ++i) {
        Candidate& candidate = out.candidates.emplace_back();
        candidate.offered = offered;
        candidate.device = &devices[i];
        candidate.id = {pool.entry->driver, pool.entry->pool, devices[i].name};
        candidate.index = i;
        candidate.pool = p;
        candidate.shared = consumable_capacity && devices[i].allow_multiple_allocations;
        candidate.plain_capacity =
            std::ranges::all_of(devices[i].capacity, [](const DeviceCapacity& capacity) {
              return !capacity.request_policy && capacity.value.sign() >= 0;
            });
        candidate.first_use = position(out.uses);
        for (const DeviceCounterConsumption& consumption : devices[i].consumes_counters)
          for (const ResourceAmount& counter : consumption.counters)
            if (const auto number =
                    counter_number(pool.counter_sets, consumption.counter_set, counter.name))
              out.uses.push_back({*number, counter.amount});
        candidate.end_use = position(out.uses);
      }
    }
    pool.end_candidate = position(out.candidates);
  }
}

}  // namespace berth::plugins
