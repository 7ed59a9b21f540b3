// affinity and topologySpreadConstraints of a pod, from protobuf. For the pod decoder.
#pragma once

#include <memory>
#include <vector>

#include "api/pod.h"
#include "api/proto_reader.h"

namespace berth {

std::shared_ptr<const Affinity> read_affinity(ProtoReader& proto, SymbolHold& symbols);
TopologySpreadConstraint read_spread_constraint(ProtoReader& proto, SymbolHold& symbols);
// A v1.NodeSelector: its nodeSelectorTerms.
std::vector<NodeSelectorTerm> read_node_selector(ProtoReader& proto, SymbolHold& symbols);

}  // namespace berth
