#include "plugins/coscheduling/coscheduling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "config/load.h"
#include "plugins/arguments.h"
#include "plugins/coscheduling/resource_gap.h"

namespace berth::plugins {
namespace {

// How long room for minResources counts as found when no waiting time is configured.
constexpr std::int64_t kShortestPermittedSeconds = 3;
constexpr std::int64_t kDefaultWaitSeconds = 60;
// As pods back off.
constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLastRetry = std::chrono::seconds(10);

Duration in_seconds(std::int64_t count) {
  constexpr std::int64_t kAges = 1'000'000'000;  // more would overflow
  return std::chrono::seconds(std::clamp(count, -kAges, kAges));
}

}  // namespace

Result<std::unique_ptr<Plugin>> Coscheduling::create(const config::PluginArgs& arguments,
                                                     const Handle& handle) {
  Result<config::CoschedulingArgs> args =
      typed_arguments<config::CoschedulingArgs>(arguments, "CoschedulingArgs");
  if (!args) return fail(args.error());
  if (const std::vector<std::string> complaints = config::validate(*args); !complaints.empty()) {
    const std::string text = fmt::format("{}", fmt::join(complaints, ", "));
    return fail(ErrorKind::kInvalid, complaints.size() == 1 ? text : "[" + text + "]");
  }
  return std::make_unique<Coscheduling>(*args, handle);
}

Coscheduling::Coscheduling(const config::CoschedulingArgs& arguments, const Handle& handle)
    : args_(arguments),
      loop_(handle.loop),
      waiting_pods_(handle.waiting_pods),
      activator_(handle.activator),
      groups_(std::make_unique<coscheduling::PodGroups>(handle.cluster)) {}

// ---- QueueSort

// Parity: while pods are queued this changes, when their group fails; the queue's order is then only
// nearly right.
WallTime Coscheduling::rank(const QueuedPod& queued) const {
  const WallTime own = queued.initial_attempt.value_or(queued.timestamp);
  const Group* const group = groups_->find(*queued.pod);
  if (!group) return own;
  if (group->last_failed) return *group->last_failed;
  return group->object ? group->object->creation_time.value_or(WallTime{}) : own;
}

bool Coscheduling::less(const QueuedPod& a, const QueuedPod& b) const {
  if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
  const WallTime of_a = rank(a), of_b = rank(b);
  if (of_a != of_b) return of_a < of_b;
  // Parity: by `namespace/name`, which is another order than by namespace and then by name.
  if (a.pod->meta().namespace_name == b.pod->meta().namespace_name)
    return a.pod->name() < b.pod->name();
  return a.pod->full_name() < b.pod->full_name();
}

// ---- PreFilter

PreFilterResult Coscheduling::pre_filter(Cycle& cycle) const { return check_group(cycle); }

Outcome Coscheduling::check_group(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  Group* const group = groups_->find_with_object(pod);
  if (!group) return Outcome::success();
  const auto rejected = [](std::string why) {
    return Outcome::of(Code::kUnschedulableAndUnresolvable, std::move(why));
  };
  if (group->retry_at && loop_.now() < *group->retry_at) {
    wake_at_retry(*group, cycle.pod_ref());
    return rejected(fmt::format("podGroup {} failed recently", group->full_name()));
  }
  if (group->backed_off_until && loop_.now() < *group->backed_off_until)
    return rejected(fmt::format("podGroup {} failed recently", group->full_name()));
  const auto members = static_cast<std::int64_t>(group->members.size());
  const std::int64_t wanted = group->object->min_member;
  if (members < wanted)
    return rejected(fmt::format(
        "pre-filter pod {} cannot find enough sibling pods, current pods number: {}, minMember of "
        "group: {}",
        pod.name(), members, wanted));
  if (group->gated > 0 && members - static_cast<std::int64_t>(group->gated) < wanted)
    return rejected(fmt::format(
        "pre-filter pod {} cannot proceed due to gated pods in the same PodGroup", pod.name()));
  if (!group->object->min_resources) return Outcome::success();
  if (group->permitted_until && loop_.now() < *group->permitted_until) return Outcome::success();
  if (std::optional<std::string> gap = coscheduling::resource_gap(*group, cycle.cluster()))
    return rejected("resource gap: " + *gap);
  const std::int64_t seconds = args_.permit_waiting_time_seconds;
  group->permitted_until =
      loop_.now() + in_seconds(seconds == 0 ? kShortestPermittedSeconds : seconds);
  return Outcome::success();
}

// ---- PostFilter

Task<PostFilterResult> Coscheduling::post_filter(Cycle& cycle, const Diagnosis&) const {
  co_return PostFilterResult{no_node_for(cycle.pod()), {}};
}

Outcome Coscheduling::no_node_for(const Pod& pod) const {
  // Parity: said of plain pods, too.
  Group* const group = groups_->find_with_object(pod);
  if (!group) return Outcome::unschedulable("can not find pod group");
  const std::int64_t wanted = group->object->min_member;
  const auto assigned = static_cast<std::int64_t>(group->assigned.size());
  if (assigned >= wanted) return Outcome::of(Code::kUnschedulable);
  // A few are missing: the others may still find a place. As upstream computes it.
  const float missing = static_cast<float>(wanted - assigned) / static_cast<float>(wanted);
  if (missing <= static_cast<float>(args_.pod_group_reject_percentage) / 100)
    return Outcome::of(Code::kUnschedulable);

  // The places that are given back wake the pod that has none, which upstream tries at once, and so on
  // without a pause.
  if (reject_waiting(*group, "optimistic rejection in PostFilter")) {
    group->retry_delay = std::clamp<Duration>(2 * group->retry_delay, kFirstRetry, kLastRetry);
    group->retry_at = loop_.now() + group->retry_delay;
  }
  const bool backed_off = group->backed_off_until && loop_.now() < *group->backed_off_until;
  if (args_.pod_group_backoff_seconds > 0 && !backed_off &&
      static_cast<std::int64_t>(group->members.size()) >= wanted)
    group->backed_off_until = loop_.now() + in_seconds(args_.pod_group_backoff_seconds);
  group->permitted_until.reset();
  group->last_failed = loop_.wall_now();
  return Outcome::unschedulable(
      fmt::format("PodGroup {} gets rejected due to Pod {} is unschedulable even after PostFilter",
                  group->full_name(), pod.name()));
}

// ---- Reserve, Permit

Outcome Coscheduling::reserve(Cycle&, std::string_view) { return Outcome::success(); }

PermitResult Coscheduling::permit(Cycle& cycle, std::string_view) {
  const Pod& pod = cycle.pod();
  if (!groups_->has_label(pod)) return {};
  Group* const group = groups_->find_with_object(pod);
  if (!group) return {Outcome::unschedulable("PodGroup not found")};
  group->assigned.emplace(pod.name());
  group->any_permitted = true;
  if (static_cast<std::int64_t>(group->assigned.size()) >= group->object->min_member &&
      allow_waiting(*group)) {
    group->last_failed.reset();
    group->retry_at.reset();
    group->retry_delay = Duration::zero();
    return {};
  }
  const Duration timeout = std::min(waiting_time(*group), WaitingPods::kLongestWait);
  group->held[std::string(pod.name())] = loop_.now() + timeout;
  // The first one: the others may be asleep, and would not be in time.
  if (group->assigned.size() == 1)
    for (const auto& [name, member] : group->members)
      if (member->uid() != pod.uid() && member->node().empty())
        cycle.pods_to_activate.push_back(member);
  return PermitResult::wait(timeout);
}

Duration Coscheduling::waiting_time(const Group& group) const {
  const std::optional<std::int32_t> own = group.object->schedule_timeout_seconds;
  const std::int64_t usual = args_.permit_waiting_time_seconds;
  if (!own) return in_seconds(usual == 0 ? kDefaultWaitSeconds : usual);
  return in_seconds(*own == 0 ? usual : *own);
}

// False: one of those that wait has been rejected, or its time is up, and Unreserve is still to come,
// which rejects the others.
bool Coscheduling::allow_waiting(Group& group) const {
  if (group.held.empty()) return true;
  for (const auto& [pod_name, deadline] : group.held)
    if (deadline <= loop_.now()) return false;
  std::vector<Uid> members;
  for (const auto& [pod_name, member] : group.members) members.push_back(member->uid());
  if (!waiting_pods_.allow_together(members, name())) return false;
  group.held.clear();
  return true;
}

// Whichever plugin holds them. They do not count any more from now on, not only when they have given
// back their places: the next member must not complete the group with them. A member that has begun
// to bind goes on.
bool Coscheduling::reject_waiting(Group& group, std::string_view why) const {
  if (!std::exchange(group.any_permitted, false)) return false;
  bool any = false;
  for (const auto& [pod_name, member] : group.members)
    if (waiting_pods_.reject(member->uid(), name(), std::string(why))) {
      group.assigned.erase(pod_name);
      any = true;
    }
  group.held.clear();
  return any;
}

void Coscheduling::wake_at_retry(Group& group, const Ref<const Pod>& pod) const {
  if (std::exchange(group.retry_set, true)) return;
  loop_.at(*group.retry_at, lifetime_.guard([this, pod] {
    Group* const found = groups_->find(*pod);
    if (!found) return;
    found->retry_set = false;
    std::vector<Ref<const Pod>> members;
    for (const auto& [pod_name, member] : found->members)
      if (member->node().empty()) members.push_back(member);
    activator_.activate(members);
  }));
}

// Each member that is rejected comes here, too, and finds nobody waiting.
void Coscheduling::unreserve(Cycle& cycle, std::string_view) {
  const Pod& pod = cycle.pod();
  Group* const group = groups_->find_with_object(pod);
  if (group) {
    reject_waiting(*group, "rejection in Unreserve");
    group->permitted_until.reset();
    group->last_failed = loop_.wall_now();
  }
  groups_->unassign(pod);
}

std::optional<std::vector<EventRegistration>> Coscheduling::events_to_register() const {
  return {{{{EventResource::kPod, action::kAdd, {}}, {}},
           {{EventResource::kOther,
             action::kAdd | action::kUpdate,
             {},
             CoschedulingPodGroup::kResource},
            {}}}};
}

}  // namespace berth::plugins
