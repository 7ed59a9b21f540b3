// Edits of one node: its taints, its labels, and whether it is cordoned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/edits.h"

namespace berth::explain {

ObjectName node_name(const UnplacedPod& unplaced, NodeRow row);

// Takes the cordon off, and the taint that stands for it if the node has it.
Edit uncordon(const UnplacedPod& unplaced, NodeRow row);
Edit remove_taint(const UnplacedPod& unplaced, NodeRow row, const Taint& taint);
// An edit for each of the taints against the pod; that of a cordon is taken off by uncordon().
Edits open_node(const UnplacedPod& unplaced, NodeRow row);

// Gives the node a label, or with nullopt takes it away.
Edit label_node(const UnplacedPod& unplaced, NodeRow row, const std::string& key,
                const std::optional<std::string>& value);
// What labels the node needs to be one of those that the pod, and the volumes of its claims, may be
// on; a single edit for each label. Empty: it is one, or no label makes it one.
Edits labels_missing(const UnplacedPod& unplaced, NodeRow row);

}  // namespace berth::explain
