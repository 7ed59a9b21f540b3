// TopologyCounts: numbers by topology key and value, upstream's map of (key, value) to a count. For
// each key it is a small array by domain, so that a node's number is two lookups away. Keys that no
// node has are not there: whatever would be added, no node has it. Nor are, once there are many
// keys, those at which nothing would be added.
//
// Kept in the Cycle by InterPodAffinity, for Filter and for Score; nodes do not change meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/row_keys.h"
#include "berth/topology.h"
#include "berth/views.h"
#include "cluster/affinity_pods.h"
#include "cluster/domain_sums.h"
#include "cluster/pod_counts.h"

namespace berth::plugins {

class TopologyCounts {
 public:
  static constexpr std::size_t kManyKeys = 64;  // when there are so many, others have to count

  TopologyCounts() = default;
  TopologyCounts(TopologyCounts&&) = default;
  TopologyCounts& operator=(TopologyCounts&&) = default;

  struct OfKey {
    Symbol key;
    TopologyColumn column;
    // By domain; that of kNoDomain stays 0. Shared until it has to be changed.
    std::span<const std::int64_t> numbers;
    std::vector<std::int64_t> own;
    std::uint64_t version = 0;  // of what was added, not of how much

    Domain domain(NodeRow row) const { return column.domains[row]; }
    std::int64_t at(NodeRow row) const { return numbers[domain(row)]; }
  };

  // A key's place in keys(), at the end if it is new; something is then to be added there. nullopt
  // when no node has the key.
  std::optional<std::size_t> place_of(Symbol key, const Cluster& cluster);
  std::span<const OfKey> keys() const { return keys_; }
  // More than a node usually has labels.
  bool has_many_keys() const { return keys_.size() >= kManyKeys; }
  // Its place, if it is there.
  std::optional<std::size_t> find(Symbol key) const;
  // For one that is not there yet: whether so many are that it may stay away, since no pod of the
  // query is on a node that has it.
  bool can_do_without(Symbol key, const PodQuery& query, const Cluster& cluster) const;

  // Adds to the number of the row's domain; whether the row has the key, without which there is
  // nothing to add to.
  bool add(std::size_t place, NodeRow row, std::int64_t number);
  // For every domain as many times as it has pods, which are to stay as they are as long as this
  // does; whether there are any.
  bool add(std::size_t place, const DomainSums& pods, std::int64_t number);
  void add(std::size_t place, const PodCount& pods);
  // The same for the pods of a term, at its own key.
  bool add(const AffinityPods::Match& match, std::int64_t number, const Cluster& cluster);

  // As keys of rows.
  void add_to(RowKeys& keys) const;

  // Whether every number is 0: what is 0 does not count as being there.
  bool empty() const { return others_than_zero_ == 0; }

 private:
  static void make_own(OfKey& of_key);
  static void note(OfKey& of_key, std::uint64_t id, std::int64_t number);

  static constexpr std::size_t kFewKeys = 16;  // so many are looked through
  std::vector<OfKey> keys_;
  std::unordered_map<Symbol, std::size_t> places_;  // of keys_, once they are more
  std::size_t others_than_zero_ = 0;
};

}  // namespace berth::plugins
