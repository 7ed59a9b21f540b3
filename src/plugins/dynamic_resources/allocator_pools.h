// DevicePools: what the cluster offers, by node. The pools that a node can draw from are slices that
// concern the node, grouped by driver and pool, of the newest generation, checked, in the order of
// the search. All but refresh() is for the allocator's own files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/devices.h"
#include "berth/node.h"
#include "berth/node_selector.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/allocator_selectors.h"
#include "plugins/dynamic_resources/taint_rules.h"

namespace berth::plugins {

struct PoolEntry;

// A ResourceSlice, and what has been found out about it.
struct OfferedSlice {
  Ref<const ResourceSlice> slice;
  PoolEntry* pool = nullptr;
  bool compatibility_groups = false;                           // some device has any
  std::optional<Result<NodeSelector>> nodes;                   // of the slice, once asked for
  std::vector<std::optional<Result<NodeSelector>>> by_device;  // of its devices
  SelectorAnswers answers;

  bool counters() const { return !slice->shared_counters.empty(); }
  bool per_device() const { return slice->per_device_node_selection.value_or(false); }
  // The one node it belongs to, if it does.
  Symbol node_name() const { return slice->nodes.node_name.value_or(Symbol{}); }
};

// All slices of one driver's pool, of every generation.
struct PoolEntry {
  Symbol driver;
  Symbol pool;
  std::vector<OfferedSlice*> slices;
};

// An amount that a device takes from one of its pool's counters.
struct CounterUse {
  std::uint32_t counter = 0;
  Quantity amount;
};

// A device that the search may choose.
struct Candidate {
  OfferedSlice* offered = nullptr;
  const Device* device = nullptr;
  DeviceId id;
  std::uint32_t index = 0;      // in its slice
  std::uint32_t pool = 0;       // in the node's pools
  std::uint32_t first_use = 0;  // its part of NodePools::uses
  std::uint32_t end_use = 0;
  bool shared = false;               // may be allocated several times
  bool plain_capacity = false;       // no policies: a request without amounts gets all of it
  std::optional<bool> node_matches;  // of perDeviceNodeSelection, once asked for
};

struct NodePool {
  const PoolEntry* entry = nullptr;
  std::int64_t generation = 0;
  bool incomplete = false;
  bool invalid = false;
  bool binding_conditions = false;
  std::vector<OfferedSlice*> slices;  // with devices for the node, by name
  std::vector<OfferedSlice*> others;  // of the same pool, for other nodes
  std::vector<const CounterSet*> counter_sets;
  std::uint32_t first_candidate = 0;  // its part of NodePools::candidates
  std::uint32_t end_candidate = 0;
};

// Everything that one node can draw from.
struct NodePools {
  Ref<const Node> node;
  std::uint64_t shared_version = 0;
  std::optional<Error> error;  // the pools of this node are not known
  bool any_invalid = false;
  std::vector<NodePool> pools;        // in the order of the search
  std::vector<Candidate> candidates;  // of usable pools, in the order of the search
  std::vector<CounterUse> uses;
};

// The counters of a pool as one list: which number a counter has.
std::optional<std::uint32_t> counter_number(std::span<const CounterSet* const> sets, Symbol set,
                                            Symbol counter);

class DevicePools {
 public:
  DevicePools(std::shared_ptr<Symbols> symbol_table, AllocatorFeatures allocator_features);
  ~DevicePools();
  DevicePools(const DevicePools&) = delete;
  DevicePools& operator=(const DevicePools&) = delete;

  // Takes over what has changed among the cluster's slices and device taint rules.
  void refresh(const Cluster& cluster);

  // Of the node, gathered now unless they are still good.
  NodePools& of(const Node& node);
  // The node that alone can draw from the pool, or the empty symbol where no node can; nullopt: there
  // may be several.
  std::optional<Symbol> only_node(Symbol driver, Symbol pool) const;
  // Whether the node is one that a device of its own is for.
  Result<bool> device_matches(OfferedSlice& offered, std::uint32_t device, const Node& node);

  const std::shared_ptr<Symbols> symbols;
  const AllocatorFeatures features;
  SelectorTable selectors;
  TaintRules taint_rules;  // none without their gate

 private:
  struct Index;

  void put(const Ref<const ResourceSlice>& slice);
  void remove(const std::string& name);
  void changed(const OfferedSlice& offered);
  bool ignored(const OfferedSlice& offered) const;
  bool concerns_every_node(const OfferedSlice& offered) const;
  std::optional<Symbol> only_node(const PoolEntry& pool) const;
  Result<bool> matches(std::optional<Result<NodeSelector>>& compiled,
                       const DeviceNodeSelection& nodes, const Node& node) const;
  Result<bool> relevant(OfferedSlice& offered, const Node& node);
  void gather(const Node& node, NodePools& out);
  std::optional<NodePool> make_pool(const PoolEntry& entry,
                                    std::vector<OfferedSlice*> slices) const;
  void build_pool(NodePool& pool, std::vector<OfferedSlice*> slices,
                  std::span<OfferedSlice* const> all) const;
  const std::vector<NodePool>& unusable_counter_pools();
  void sort_pools(std::vector<NodePool>& pools) const;
  static void list_candidates(NodePools& out, bool consumable_capacity);

  std::unique_ptr<Index> index_;
};

}  // namespace berth::plugins
