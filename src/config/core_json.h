// The core/v1 types that stand in plugin arguments, strictly decoded and written back. Only for
// this room.
#pragma once

#include <string>

#include "berth/node_selector.h"
#include "berth/pod.h"
#include "config/strict_decoder.h"
#include "wire/json_tree.h"

namespace berth::config {

void decode(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols, NodeAffinity& out);
JsonValue to_tree(const NodeAffinity& affinity, const SymbolHold& symbols);

// `unknown_action` is the value of whenUnsatisfiable if it is neither of the two valid ones.
void decode(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
            TopologySpreadConstraint& out, std::string& unknown_action);
JsonValue to_tree(const TopologySpreadConstraint& constraint, const SymbolHold& symbols);

}  // namespace berth::config
