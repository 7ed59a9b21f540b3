// TopologyCounts: numbers by topology key and value, upstream's map of (key, value) to a count. For
// each key it is a small array by domain, so that a node's number is two lookups away.
//
// Kept in the Cycle by InterPodAffinity, for Filter and for Score; nodes do not change meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/pod_counts.h"
#include "cluster/topology.h"

namespace berth::plugins {

class TopologyCounts {
 public:
  struct OfKey {
    Symbol key;
    std::span<const Domain> domains;    // by row
    std::vector<std::int64_t> numbers;  // by domain; that of kNoDomain stays 0

    Domain domain(NodeRow row) const { return row < domains.size() ? domains[row] : kNoDomain; }
    std::int64_t at(NodeRow row) const { return numbers[domain(row)]; }
  };

  // A key's place in keys(), at the end if it is new.
  std::size_t place_of(Symbol key, const Cluster& cluster);
  std::span<const OfKey> keys() const { return keys_; }

  // Adds to the number of the row's domain; whether the row has the key, without which there is
  // nothing to add to.
  bool add(std::size_t place, NodeRow row, std::int64_t number);
  // For every row as many times as it has pods.
  bool add(std::size_t place, const PodCount& pods, std::int64_t number);

  // Whether every number is 0: what is 0 does not count as being there.
  bool empty() const { return others_than_zero_ == 0; }

 private:
  std::vector<OfKey> keys_;
  std::size_t others_than_zero_ = 0;
};

}  // namespace berth::plugins
