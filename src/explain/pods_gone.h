// Pods whose absence lets the pod fit: a minimal set of pods of one node.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "explain/edits.h"

namespace berth::explain {

Edit delete_pods(const UnplacedPod& unplaced, std::vector<Ref<const Pod>> pods);

// Pods that are nominated to a node on which the pod would fit without them, a minimal set for each
// such node; at most so many nodes.
Edits nominated_gone(const UnplacedPod& unplaced, std::size_t most_nodes);

// The pods of the row that have to go so that the pod of `gone` fits there: nobody of them can stay,
// and the more important ones stay if any can. nullopt if it does not help that all go.
std::optional<Edit> pods_gone_from(const UnplacedPod& unplaced, PodsGone& gone, NodeRow row);
// The cheapest of these, of the rows where it is likely to be so.
std::optional<Edit> pods_gone(const UnplacedPod& unplaced, std::span<const Edit> others,
                              const std::vector<NodeRow>& rows);

// Without the pods that need not go: those of one row may also be in the way on others. The pod fits
// with `others` and this deletion.
Edit minimal_deletion(const UnplacedPod& unplaced, std::span<const Edit> others, Edit deletion);

// Pods that stand against the pod wherever they are: by required anti-affinity, theirs or its own,
// by a spread constraint, or by a volume that only one pod may use. By row, at most so many rows.
struct ConflictingPods {
  NodeRow row = kNoRow;
  std::vector<Ref<const Pod>> pods;
};
std::vector<ConflictingPods> conflicting_pods(const UnplacedPod& unplaced, std::size_t most_rows);
// A minimal set of these pods; nullopt if it does not help that all go.
std::optional<Edit> conflicts_gone(const UnplacedPod& unplaced, std::span<const Edit> others,
                                   const ConflictingPods& conflicting);

// Rows with pods, nearest to fitting first: those where little is missing, and with it few pods. Not
// those that are too small even if they were empty.
std::vector<NodeRow> rows_by_pods_in_the_way(const UnplacedPod& unplaced, const NodeSet& rows);

}  // namespace berth::explain
