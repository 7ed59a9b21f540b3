// find_objections: what each plugin of a profile has against each node when it is asked as if it
// were the only one. The search itself stops at the first plugin that rejects a node, and at the
// first that rejects the pod in PreFilter.
#pragma once

#include <vector>

#include "berth/search_trace.h"
#include "berth/views.h"
#include "framework/framework.h"

namespace berth {

// In snapshot order, nodes without objections left out. Pods that are nominated to a node count as
// in a search. Filters may not defer rows here, so this may take as long as they allow themselves.
std::vector<SearchTrace::Objections> find_objections(const Ref<const Pod>& pod, Cluster& cluster,
                                                     const Framework& framework);

}  // namespace berth
