// Nodes from JSON.
#pragma once

#include <string_view>

#include "api/interner.h"
#include "api/node.h"
#include "base/result.h"

namespace berth {

// Still open to changes: admission may fill in what was left out, finish() computes what follows.
Result<Ref<Node>> decode_written_node(std::string_view json, Interner& interner);
void finish(Node& node);

// As an API server has it.
Result<Ref<const Node>> decode_node(std::string_view json, Interner& interner);

}  // namespace berth
