#include "plugins/gang_scheduling/gang_scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace berth::plugins {
namespace {

constexpr Duration kLongestHold = std::chrono::minutes(5);

bool is_gang_of(const AnyObject& object, const Pod& pod) {
  const auto* other = std::get_if<Ref<const Pod>>(&object);
  return other && *other && in_group(**other) && pod_group_of(**other) == pod_group_of(pod);
}

const PodGroup* as_group(const AnyObject& object) {
  const auto* held = std::get_if<Ref<const Object>>(&object);
  return held && *held && (*held)->kind == ObjectKind::kPodGroup
             ? static_cast<const PodGroup*>(held->get())
             : nullptr;
}

}  // namespace

GangScheduling::GangScheduling(const Handle& handle)
    : handle_(handle), states_(group_states(*handle.shared)) {}

Result<std::unique_ptr<Plugin>> GangScheduling::create(const config::PluginArgs&,
                                                       const Handle& handle) {
  return std::make_unique<GangScheduling>(handle);
}

Ref<const PodGroup> GangScheduling::group_of_pod(const Pod& pod) const {
  const Ref<const Object> found = handle_.cluster.find(ObjectKind::kPodGroup, pod.namespace_name(),
                                                       pod.text(pod.spec().scheduling_group));
  return Ref<const PodGroup>(static_cast<const PodGroup*>(found.get()));
}

// ---- PreEnqueue

Outcome GangScheduling::pre_enqueue(const Pod& pod) const {
  if (!in_group(pod)) return Outcome::success();
  const Ref<const PodGroup> group = group_of_pod(pod);
  if (!group)
    return Outcome::of(
        Code::kUnschedulableAndUnresolvable,
        fmt::format("waiting for pods's pod group \"{}\" to appear in scheduling queue",
                    pod.text(pod.spec().scheduling_group)));
  if (!group->gang) return Outcome::success();
  const GroupState* state = states_->find(pod_group_of(pod));
  if (state && static_cast<std::int64_t>(state->all()) >= group->quorum())
    return Outcome::success();
  return Outcome::of(Code::kUnschedulableAndUnresolvable,
                     "waiting for minCount pods from a gang to appear in scheduling queue");
}

// ---- PlacementFeasible

Outcome GangScheduling::placement_feasible(const PodGroup& group,
                                           PlacementProgress progress) const {
  const auto least = static_cast<std::size_t>(std::max(group.quorum(), 0));
  if (progress.scheduled + progress.remaining < least)
    return Outcome::unschedulable(
        fmt::format("minCount ({}) cannot be satisfied: {} scheduled, {} remaining", least,
                    progress.scheduled, progress.remaining));
  if (progress.scheduled < least)
    return Outcome::of(Code::kWait,
                       fmt::format("minCount ({}) is not yet satisfied: {} scheduled, {} remaining",
                                   least, progress.scheduled, progress.remaining));
  return Outcome::success();
}

// ---- Permit

PermitResult GangScheduling::permit(Cycle& cycle, std::string_view) {
  const Pod& pod = cycle.pod();
  if (!in_group(pod)) return {};
  const Ref<const PodGroup> group = group_of_pod(pod);
  if (!group)
    return {Outcome::failure(fmt::format(
                "failed to get podGroup {}/{}: podgroup \"{}\" not found", pod.namespace_name(),
                pod.text(pod.spec().scheduling_group), pod.text(pod.spec().scheduling_group))),
            {}};
  const GroupState* state = states_->find(pod_group_of(pod));
  if (!group->gang || !state) return {};
  if (static_cast<std::int64_t>(state->scheduled()) < group->quorum()) {
    // Upstream activates the other members. Here they are in this cycle, or wait for its end.
    states_->hold(pod);
    return PermitResult::wait(kLongestHold,
                              "waiting for minCount pods from a gang to be scheduled");
  }
  for (const Uid& uid : states_->take_held(pod_group_of(pod)))
    handle_.waiting_pods.allow(uid, name());
  return {};
}

// ---- events

std::optional<std::vector<EventRegistration>> GangScheduling::events_to_register() const {
  const auto of_its_gang = [](const Pod& pod, const AnyObject&,
                              const AnyObject& after) -> Result<QueueingHint> {
    return is_gang_of(after, pod) ? QueueingHint::kQueue : QueueingHint::kSkip;
  };
  const auto is_its_group = [](const Pod& pod, const AnyObject&,
                               const AnyObject& after) -> Result<QueueingHint> {
    const PodGroup* group = as_group(after);
    return group && in_group(pod) && group_key(*group) == pod_group_of(pod) ? QueueingHint::kQueue
                                                                            : QueueingHint::kSkip;
  };
  const auto needs_fewer = [](const Pod& pod, const AnyObject& before,
                              const AnyObject& after) -> Result<QueueingHint> {
    const PodGroup *was = as_group(before), *is = as_group(after);
    const bool fewer = was && is && in_group(pod) && group_key(*is) == pod_group_of(pod) &&
                       was->gang && is->gang && is->gang->min_count < was->gang->min_count;
    return fewer ? QueueingHint::kQueue : QueueingHint::kSkip;
  };
  return {{
      {{EventResource::kUnscheduledPod, action::kAdd, {}}, of_its_gang, HintScope::kClass},
      {{EventResource::kAssignedPod, action::kAdd, {}}, of_its_gang, HintScope::kClass},
      {{EventResource::kPodGroup, action::kAdd, {}}, is_its_group, HintScope::kClass},
      {{EventResource::kPodGroup, action::kUpdate, {}}, needs_fewer, HintScope::kClass},
  }};
}

}  // namespace berth::plugins
