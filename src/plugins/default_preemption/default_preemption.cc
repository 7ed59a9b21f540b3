#include "plugins/default_preemption/default_preemption.h"

#include <fmt/format.h>

#include <utility>

#include "berth/observer.h"
#include "config/feature_gates.h"
#include "plugins/arguments.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kStillEvicting =
    "waiting for the preemption for this pod to be finished";
constexpr std::string_view kStillEvictingForGroup =
    "waiting for the preemption for this pod group to be finished";

}  // namespace

Result<std::unique_ptr<Plugin>> DefaultPreemption::create(const config::PluginArgs& arguments,
                                                          const Handle& handle) {
  const Result<config::DefaultPreemptionArgs> own =
      typed_arguments<config::DefaultPreemptionArgs>(arguments, "DefaultPreemptionArgs");
  if (!own) return fail(own.error());
  return std::make_unique<DefaultPreemption>(*own, handle);
}

DefaultPreemption::DefaultPreemption(const config::DefaultPreemptionArgs& arguments,
                                     const Handle& handle)
    : handle_(handle),
      in_background_(handle.gates.enabled("SchedulerAsyncPreemption")),
      groups_(handle.gates.enabled("GenericWorkload")),
      preemption_(handle, {arguments.min_candidate_nodes_percentage,
                           arguments.min_candidate_nodes_absolute}),
      group_preemption_(handle),
      evictions_(std::make_unique<Evictions>(handle, "DefaultPreemption")) {}

Outcome DefaultPreemption::pre_enqueue(const Pod& pod) const {
  if (in_background_ && evictions_->running_for(pod.uid()))
    return Outcome::of(Code::kUnschedulableAndUnresolvable, std::string(kStillEvicting));
  if (groups_ && in_background_ && in_group(pod) && evictions_->any_running())
    if (const Ref<const Object> group = handle_.cluster.find(
            ObjectKind::kPodGroup, pod.namespace_name(), pod.text(pod.spec().scheduling_group));
        group && evictions_->running_for(Uid::of(group->uid)))
      return Outcome::of(Code::kUnschedulableAndUnresolvable, std::string(kStillEvictingForGroup));
  return Outcome::success();
}

Task<GroupPostFilterResult> DefaultPreemption::post_filter_group(UnplacedGroup& group) const {
  Observer* const measured = handle_.observer ? handle_.observer->measuring() : nullptr;
  const TimePoint begun = measured ? measured->tick() : TimePoint{};
  Task<GroupPreemption::Choice> choosing = group_preemption_.choose(group);
  GroupPreemption::Choice choice = co_await choosing;
  if (measured) measured->group_preemption_ended(choice.outcome.code, measured->tick() - begun);
  GroupPostFilterResult result;
  result.outcome =
      Outcome::of(choice.outcome.code, "pod group preemption: " + choice.outcome.message());
  result.nominations = std::move(choice.nominations);
  if (choice.victims.empty()) co_return result;
  const Evictions::Target target{group.members().front().pod, "cluster",
                                 Ref<const PodGroup>(&group.group())};
  if (in_background_) {
    evictions_->begin(target, std::move(choice.victims));
  } else {
    Task<Result<void>> evicting = evictions_->carry_out(target, std::move(choice.victims));
    if (const Result<void> evicted = co_await evicting; !evicted)
      co_return GroupPostFilterResult{Outcome::failure(evicted.error().message), {}};
  }
  co_return result;
}

Task<PostFilterResult> DefaultPreemption::post_filter(Cycle& cycle,
                                                      const Diagnosis& diagnosis) const {
  Task<PostFilterResult> making = make_room(cycle, diagnosis);
  PostFilterResult result = co_await making;
  if (const std::string message = result.outcome.message(); !message.empty())
    result.outcome = Outcome::of(result.outcome.code, "preemption: " + message);
  co_return result;
}

Task<PostFilterResult> DefaultPreemption::make_room(Cycle& cycle,
                                                    const Diagnosis& diagnosis) const {
  Task<Preemption::Choice> choosing = preemption_.choose(cycle, diagnosis);
  Preemption::Choice choice = co_await choosing;
  if (!choice.candidate)
    co_return PostFilterResult{std::move(choice.outcome), std::move(choice.nominating)};
  std::string found =
      fmt::format("found a potential placement for pod on node {}, preempting {} victims",
                  choice.candidate->node, choice.candidate->victims.pods.size());
  if (in_background_) {
    evictions_->begin(cycle.pod_ref(), std::move(*choice.candidate));
  } else {
    Task<Result<void>> evicting =
        evictions_->carry_out(cycle.pod_ref(), std::move(*choice.candidate));
    if (const Result<void> evicted = co_await evicting; !evicted)
      co_return PostFilterResult{Outcome::failure(evicted.error().message), {}};
  }
  co_return PostFilterResult{Outcome::of(Code::kSuccess, std::move(found)),
                             std::move(choice.nominating)};
}

std::optional<std::vector<EventRegistration>> DefaultPreemption::events_to_register() const {
  if (!in_background_) return std::vector<EventRegistration>{};
  // Only so that a pod which is gated here is looked at again when a pod goes; whether that helps
  // it is for its other rejectors to say.
  const auto not_by_itself = [](const Pod&, const AnyObject&,
                                const AnyObject&) -> Result<QueueingHint> {
    return QueueingHint::kSkip;
  };
  return {{{{EventResource::kAssignedPod, action::kDelete, {}}, not_by_itself, HintScope::kClass}}};
}

}  // namespace berth::plugins
