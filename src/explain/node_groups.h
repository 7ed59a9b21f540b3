// Nodes that are rejected for the same reasons, as groups. For the Explainer.
#pragma once

#include <vector>

#include "berth/search_trace.h"
#include "berth/views.h"
#include "explain/explanation.h"

namespace berth::explain {

// Nearest to fitting first: the fewest obstacles, then the smallest.
std::vector<NodeGroup> group_nodes(const std::vector<SearchTrace::Objections>& objections,
                                   const NodeTable& nodes);

}  // namespace berth::explain
