// The strategic merge patch that brings a pod's status from what we know of it to what we want:
// only what differs, as upstream computes it (shell.md §6.4). Any thread.
#pragma once

#include <optional>
#include <string>

#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "berth/pod.h"

namespace berth::kube {

// `{"status":{…}}`, with the version that is the patch's precondition, if it has one; nothing when
// there is nothing to change. A condition that changes its status has changed `now`, unless the
// patch has a time; one that keeps it keeps its time.
std::optional<std::string> pod_status_patch(const Pod& pod, const PodStatusPatch& patch,
                                            WallTime now);

}  // namespace berth::kube
