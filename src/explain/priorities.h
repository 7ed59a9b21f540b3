// A priority with which preemption makes room.
#pragma once

#include <optional>

#include "explain/edits.h"

namespace berth::explain {

// The lowest such priority above the pod's own, found by asking PostFilter; with the next lower one
// it does not succeed. nullopt if none does, or if the pod may not preempt.
std::optional<Edit> raise_priority(const UnplacedPod& unplaced);

// The rows on which the pod fits when those of lower priority are gone: PostFilter nominates one of
// them, and which one is a matter of chance where several are as good. Of a large cluster the first
// thousands.
NodeSet rows_for_preemption(const UnplacedPod& unplaced, const Ref<const Pod>& pod);

}  // namespace berth::explain
