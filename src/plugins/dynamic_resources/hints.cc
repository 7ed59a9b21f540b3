// DynamicResources: what may change its mind (volumes-dra-gang.md §10.9).
#include <algorithm>

#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/event_objects.h"

namespace berth::plugins {

std::optional<std::vector<EventRegistration>> DynamicResources::events_to_register() const {
  constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;
  constexpr std::uint32_t kNodeChange =
      action::kAdd | action::kUpdateNodeLabel | action::kUpdateNodeAllocatable;
  const auto claim_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_claim_change(pod, before, after);
  };
  const auto pod_hint = [this](const Pod&, const AnyObject&, const AnyObject& after) {
    return after_own_update(after);
  };
  // Where devices can be used may depend on labels, and what devices there are on classes and
  // slices: any change of those may help.
  return {{{{EventResource::kNode, kNodeChange, {}}, {}},
           {{EventResource::kResourceClaim, kAddOrUpdate | action::kDelete, {}}, claim_hint},
           {{EventResource::kTargetPod, action::kUpdatePodGeneratedResourceClaim, {}}, pod_hint},
           {{EventResource::kDeviceClass, kAddOrUpdate, {}}, {}},
           {{EventResource::kResourceSlice, kAddOrUpdate, {}}, {}}}};
}

Result<QueueingHint> DynamicResources::after_claim_change(const Pod& pod, const AnyObject& before,
                                                          const AnyObject& after) const {
  const auto change = change_in<ResourceClaim>(before, after);
  if (!change)
    return fail(change.error().kind,
                "unexpected object in isSchedulableAfterClaimChange: " + change.error().message);
  const auto [old_claim, new_claim] = *change;
  if (!new_claim)  // deleted; one that was still allocated has freed its devices
    return old_claim && !old_claim->allocated() ? QueueingHint::kSkip : QueueingHint::kQueue;
  const auto claims = claims_of(pod, *tracker_);
  if (!claims) return QueueingHint::kSkip;  // the pod would be turned away again
  // Devices have become free.
  if (old_claim && old_claim->allocated() && !new_claim->allocated()) return QueueingHint::kQueue;
  const bool used = std::ranges::any_of(
      *claims, [&](const Ref<const ResourceClaim>& claim) { return claim->uid == new_claim->uid; });
  if (!used) return QueueingHint::kSkip;
  return old_claim && old_claim->status == new_claim->status ? QueueingHint::kSkip
                                                             : QueueingHint::kQueue;
}

Result<QueueingHint> DynamicResources::after_own_update(const AnyObject& after) const {
  const Result<const Pod*> changed = object_in<Pod>(after);
  if (!changed)
    return fail(changed.error().kind, "unexpected object in isSchedulableAfterTargetPodUpdate: " +
                                          changed.error().message);
  if (!*changed) return QueueingHint::kSkip;
  return queue_if(claims_of(**changed, *tracker_).has_value());
}

}  // namespace berth::plugins
