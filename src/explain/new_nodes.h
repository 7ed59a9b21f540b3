// A new node, like one that is there: its labels, taints and size, with a name of its own and no pods.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/edits.h"

namespace berth::explain {

enum class NewNodeParts : std::uint8_t {
  kNode,
  kCsiNode,         // with its CSINode
  kResourceSlices,  // with the devices that it offers
};
// nullopt if the node's own text is not known, or has not these parts.
std::optional<Edit> add_node_like(const UnplacedPod& unplaced, NodeRow row, NewNodeParts parts);

// One row of each kind of node, those that the pod would fit on if they were empty first (as far as
// size, taints and labels tell), small ones before large ones.
std::vector<NodeRow> kinds_of_nodes(const UnplacedPod& unplaced);

}  // namespace berth::explain
