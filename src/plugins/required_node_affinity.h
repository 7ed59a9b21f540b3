// What a pod demands of its node's labels and name: nodeSelector and required node affinity
// (plugins.md §2.2). For plugins that keep to it: NodeAffinity filters by it, PodTopologySpread
// counts only nodes that a pod could be on.
#pragma once

#include "berth/node_selector.h"
#include "berth/pod.h"

namespace berth::plugins {

// The node affinity that the pod has in writing; null when it has none.
const ::berth::NodeAffinity* node_affinity_of(const PodSpec& spec);

// Checked and ready to be asked, as long as the pod's spec lives. empty(): every node will do.
RequiredNodeAffinity required_node_affinity(const Pod& pod);

}  // namespace berth::plugins
