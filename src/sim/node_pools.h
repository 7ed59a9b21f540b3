// Node pools of a scenario, as nodes.
#pragma once

#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/node.h"
#include "berth/result.h"
#include "sim/scenario.h"

namespace berth::sim {

// <pool>-1, <pool>-2, …, each with a hostname label of its own and a zone.
Result<std::vector<Ref<const Node>>> make_nodes(const NodePool& pool, Interner& interner,
                                                WallTime now);

}  // namespace berth::sim
