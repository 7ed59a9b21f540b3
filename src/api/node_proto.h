// Nodes from protobuf: the same nodes that node_json.h reads from JSON. The bytes are a v1.Node,
// without envelope.
#pragma once

#include <string_view>

#include "api/interner.h"
#include "api/node.h"
#include "base/result.h"

namespace berth {

// Still open to changes, as node_json.h's.
Result<Ref<Node>> decode_written_node_proto(std::string_view message, Interner& interner);

// As an API server has it.
Result<Ref<const Node>> decode_node_proto(std::string_view message, Interner& interner);

}  // namespace berth
