// Whether the cluster has room for a group, added up over all nodes: what is missing.
#pragma once

#include <optional>
#include <string>

#include "berth/views.h"
#include "plugins/coscheduling/pod_groups.h"

namespace berth::plugins::coscheduling {

// What minResources (and minMember pods) need beyond what is free on all nodes together, as upstream
// prints it: `map[cpu:{{2100 -3} {<nil>}  DecimalSI}]`; nullopt: nothing. Pods of the group take no
// room. The PodGroup has minResources.
std::optional<std::string> resource_gap(const Group& group, const Cluster& cluster);

}  // namespace berth::plugins::coscheduling
