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

std::optional<PodStatusPatch> status_patch(const Pod& pod, PodStatusPatch wanted) {
  if (wanted.condition) {
    const PodCondition* present = pod.condition(wanted.condition->type);
    if (present && present->status == wanted.condition->status)
      wanted.condition->last_transition_time = present->last_transition_time;
    if (present && same_condition(*present, *wanted.condition)) wanted.condition.reset();
  }
  if (wanted.nominated_node_name == pod.nominated_node_name()) wanted.nominated_node_name.reset();
  if (!wanted.condition && !wanted.nominated_node_name) return std::nullopt;
  return wanted;
}

void set_condition(PodDraft& draft, const PodCondition& condition) {
  if (condition.type == "PodScheduled") draft.scheduled_condition = condition.status == "True";
  if (!draft.extra)
    draft.extra = std::make_unique<PodExtra>(SymbolHold(draft.spec->symbols.table()));
  std::erase_if(draft.extra->conditions,
                [&](const PodCondition& present) { return present.type == condition.type; });
  if (!draft.scheduled_condition || condition.type != "PodScheduled")
    draft.extra->conditions.push_back(condition);
}

Ref<const Pod> with_status(const Pod& pod, const PodStatusPatch& patch, std::string version) {
  PodDraft draft = draft_of(pod);
  draft.resource_version = std::move(version);
  if (patch.condition) set_condition(draft, *patch.condition);
  if (patch.nominated_node_name) draft.nominated_node_name = *patch.nominated_node_name;
  if (patch.extended_resource_claim) {
    if (!draft.extra)
      draft.extra = std::make_unique<PodExtra>(SymbolHold(draft.spec->symbols.table()));
    draft.extra->extended_resource_claim_status = *patch.extended_resource_claim;
  }
  return make_pod(std::move(draft));
}

bool is_bound_to(const Result<AnyObject>& stored, const Pod& pod, std::string_view node_name) {
  const auto* found = stored ? std::get_if<Ref<const Pod>>(&*stored) : nullptr;
  return found && (*found)->uid() == pod.uid() && (*found)->node_name() == node_name;
}

}  // namespace berth
