// Why preemption cannot help a pod on a node, or that it could: for every node that rejects the pod,
// by asking again without the pods of lower priority. docs/explain-codes.md lists the codes.
#pragma once

#include <string>
#include <vector>

#include "berth/search_trace.h"
#include "explain/evaluator.h"
#include "explain/explanation.h"

namespace berth::explain {

// Nodes with the same reason together, those where it would help first. `chosen` is the node where
// PostFilter makes room, which is left out; empty: none.
std::vector<Explanation::PreemptionReason> preemption_reasons(Evaluator& evaluator,
                                                              const Ref<const Pod>& pod,
                                                              const SearchTrace& trace,
                                                              const std::string& chosen);

// The nodes on which the pod would fit if nobody were nominated there, and who is.
std::vector<Explanation::Nominated> nominated_in_the_way(Evaluator& evaluator,
                                                         const Ref<const Pod>& pod);

}  // namespace berth::explain
