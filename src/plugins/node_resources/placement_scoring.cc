// NodeResourcesFit: which placement of a group of pods it prefers, the one that would be fullest.
#include <algorithm>

#include "plugins/node_resources/fit.h"

namespace berth::plugins {

// Parity: always by what would be allocated most, whatever the strategy for nodes is.
Score NodeResourcesFit::score_placement(const TriedPlacement& placement,
                                        const Cluster& cluster) const {
  ScoredAmounts all;
  for (const GroupMember& member : placement.members) {
    if (member.row == kNoRow) continue;
    const ScoredAmounts one = scored(*member.cycle);
    if (all.amounts.empty()) {
      all = one;
      continue;
    }
    for (std::size_t i = 0; i < one.amounts.size(); ++i) all.amounts[i] += one.amounts[i];
  }
  if (all.amounts.empty()) return 0;
  std::int64_t sum = 0, weights = 0;
  for (const AllocationColumn& column :
       resources_.columns(cluster.nodes(), all, Used::kNonzeroRequested)) {
    std::int64_t allocatable = 0, requested = column.request;
    placement.nodes.for_each([&](NodeRow row) {
      if (column.allocatable[row] == 0) return;
      allocatable = wrapping_add(allocatable, column.allocatable[row]);
      requested = wrapping_add(requested, column.used_on(row));
    });
    if (allocatable == 0) continue;
    const std::int64_t score =
        wrapping_div(wrapping_mul(std::min(requested, allocatable), kMaxScore), allocatable);
    sum = wrapping_add(sum, wrapping_mul(score, column.weight));
    weights += column.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

}  // namespace berth::plugins
