// Changes of a pod's status: what of one is left to write, and what the pod looks like afterwards;
// the rules of conditions (core.md §9).
#pragma once

#include <optional>

#include "berth/cluster_api.h"

namespace berth {

// What has to be written so that `pod` has the wanted condition and nominated node; nothing when it
// has them already. A condition that keeps its status keeps its time.
std::optional<PodStatusPatch> status_patch(const Pod& pod, PodStatusPatch wanted);

// The pod after the change.
Ref<const Pod> with_status(const Pod& pod, const PodStatusPatch& patch, std::string version);
// The same for a pod in the making. PodScheduled=True is kept as a bit, without its particulars.
void set_condition(PodDraft& draft, const PodCondition& condition);

// Whether what was read is this very pod, on that node.
bool is_bound_to(const Result<AnyObject>& stored, const Pod& pod, std::string_view node_name);

}  // namespace berth
