// Decisions as text: JSON for programs, a table for people.
#pragma once

#include <span>
#include <string>

#include "explain/pod_decision.h"

namespace berth::explain {

// {"decisions":[…]}, indented; what is empty is left out.
std::string to_json(std::span<const PodDecision> decisions);
// One of them, on one line.
std::string to_json_line(const PodDecision& decision);

// A paragraph per pod: the choice, the scores of the best nodes, and why not elsewhere. Lines stay
// within about a hundred columns.
std::string to_table(std::span<const PodDecision> decisions);
// One such paragraph.
std::string to_paragraph(const PodDecision& decision);

}  // namespace berth::explain
