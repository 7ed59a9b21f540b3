// What has to be written to a pod's status, and when nothing has: the rules of conditions that
// failure handling and preemption share (core.md §9).
#pragma once

#include <optional>

#include "framework/cluster_api.h"
#include "framework/plugin.h"

namespace berth {

// What has to be written so that `pod` has `condition` (and, with Override, the nominated node);
// nothing when it has them already.
std::optional<PodStatusPatch> status_patch(const Pod& pod, PodCondition condition,
                                           const std::optional<Nominating>& nominating);

}  // namespace berth
