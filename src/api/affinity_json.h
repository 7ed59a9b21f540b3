// affinity and topologySpreadConstraints of a pod, from JSON. For the pod decoder.
#pragma once

#include <memory>
#include <vector>

#include "api/json_reader.h"
#include "api/pod.h"

namespace berth {

std::shared_ptr<const Affinity> read_affinity(JsonReader& json, SymbolHold& symbols);
std::vector<TopologySpreadConstraint> read_spread_constraints(JsonReader& json,
                                                              SymbolHold& symbols);
// A v1.NodeSelector: its nodeSelectorTerms.
std::vector<NodeSelectorTerm> read_node_selector(JsonReader& json, SymbolHold& symbols);

}  // namespace berth
