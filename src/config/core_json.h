// The core/v1 types that stand in plugin arguments, strictly decoded and written back. Only for
// this room.
#pragma once

#include <string>
#include <vector>

#include "api/json_tree.h"
#include "api/node_selector.h"
#include "api/pod.h"
#include "config/strict_decoder.h"

namespace berth::config {

void decode(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols, NodeAffinity& out);
JsonValue to_tree(const NodeAffinity& affinity, const SymbolHold& symbols);

// `unknown_action` is what whenUnsatisfiable says if it is neither of the two there are.
void decode(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
            TopologySpreadConstraint& out, std::string& unknown_action);
JsonValue to_tree(const TopologySpreadConstraint& constraint, const SymbolHold& symbols);

}  // namespace berth::config
