#include "plugins/inter_pod_affinity/topology_counts.h"

#include <algorithm>

#include "plugins/arithmetic.h"

namespace berth::plugins {

std::size_t TopologyCounts::place_of(Symbol key, const Cluster& cluster) {
  const auto found = std::ranges::find(keys_, key, &OfKey::key);
  if (found != keys_.end()) return static_cast<std::size_t>(found - keys_.begin());
  const TopologyColumn column = cluster.topology().column(key);
  keys_.push_back({key, column.by_row, std::vector<std::int64_t>(column.size)});
  return keys_.size() - 1;
}

bool TopologyCounts::add(std::size_t place, NodeRow row, std::int64_t number) {
  OfKey& of_key = keys_[place];
  const Domain domain = of_key.domain(row);
  if (domain == kNoDomain) return false;
  std::int64_t& at = of_key.numbers[domain];
  others_than_zero_ -= at != 0;
  at = wrapping_add(at, number);
  others_than_zero_ += at != 0;
  return true;
}

bool TopologyCounts::add(std::size_t place, const PodCount& pods, std::int64_t number) {
  bool any = false;
  pods.rows.for_each(
      [&](NodeRow row) { any |= add(place, row, wrapping_mul(pods.by_row[row], number)); });
  return any;
}

}  // namespace berth::plugins
