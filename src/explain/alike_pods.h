// alike_pods: pods of which the same is true, so that they are explained once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "berth/pod.h"

namespace berth::explain {

// Pods without a node, as places in `pods`: those with the same spec and metadata (namespace, labels,
// owner) together, in the order of the first of them. A pod with claims of its own, or whose status
// counts, is alone.
std::vector<std::vector<std::size_t>> alike_pods(std::span<const Ref<const Pod>> pods);

}  // namespace berth::explain
