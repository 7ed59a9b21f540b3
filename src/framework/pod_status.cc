#include "framework/pod_status.h"

#include <utility>

namespace berth {
namespace {

bool same_condition(const PodCondition& a, const PodCondition& b) {
  // Parity: a change of observedGeneration alone is not worth a write.
  return a.status == b.status && a.reason == b.reason && a.message == b.message &&
         a.last_probe_time == b.last_probe_time && a.last_transition_time == b.last_transition_time;
}

}  // namespace

std::optional<PodStatusPatch> status_patch(const Pod& pod, PodCondition condition,
                                           const std::optional<Nominating>& nominating) {
  PodStatusPatch patch;
  const PodCondition* present = pod.condition(condition.type);
  if (present && present->status == condition.status)
    condition.last_transition_time = present->last_transition_time;
  if (!present || !same_condition(*present, condition)) patch.condition = std::move(condition);
  if (nominating && nominating->mode == Nominating::Mode::kOverride &&
      nominating->node_name != pod.nominated_node_name())
    patch.nominated_node_name = nominating->node_name;
  if (!patch.condition && !patch.nominated_node_name) return std::nullopt;
  return patch;
}

}  // namespace berth
