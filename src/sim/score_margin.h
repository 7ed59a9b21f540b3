// Why a search did not take some node: who rejected it, or by how much others were better.
#pragma once

#include <string>
#include <string_view>

#include "berth/search_trace.h"
#include "berth/symbols.h"
#include "berth/views.h"

namespace berth::sim {

// One sentence about the node called `name`; empty if the search took it.
//
//   n3: node(s) had untolerated taint(s) (TaintToleration)
//   n3 scored 287, n1 301: NodeResourcesFit -10, ImageLocality -4
std::string why_not_node(Symbol node, std::string_view name, const NodeTable& nodes,
                         const SearchTrace& trace);

}  // namespace berth::sim
