// Several edits together, where no single one helps.
#pragma once

#include <string>
#include <vector>

#include "berth/search_trace.h"
#include "explain/edits.h"

namespace berth::explain {

// Combinations after which the pod fits, and without any part of which it does not; those of the
// fewest edits, cheapest first. `objections` say which nodes are near.
std::vector<Edits> find_combinations(const UnplacedPod& unplaced,
                                     const std::vector<SearchTrace::Objections>& objections);

// Without the edits that are not needed, and with requests as large as can be.
Edits minimized(const UnplacedPod& unplaced, Edits edits);

}  // namespace berth::explain
