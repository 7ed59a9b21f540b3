// Decisions as text: JSON for programs, a table for people.
#pragma once

#include <span>
#include <string>

#include "explain/pod_decision.h"

namespace berth::explain {

// {"decisions":[…]}, indented; what is empty is left out.
std::string to_json(std::span<const PodDecision> decisions);

// A paragraph per pod: the choice, the scores of the best nodes, and why not elsewhere. Lines stay
// within about a hundred columns.
std::string to_table(std::span<const PodDecision> decisions);

}  // namespace berth::explain
