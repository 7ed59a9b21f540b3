#include "cycle/schedule_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cycle/group_run.h"

namespace berth {
namespace {

const ScheduleProfile* profile_named(const std::vector<ScheduleProfile>& profiles, Symbol name) {
  const auto found = std::ranges::find(profiles, name, &ScheduleProfile::scheduler_name);
  return found == profiles.end() ? nullptr : &*found;
}

std::string_view policy_text(PreemptionPolicy policy) {
  return policy == PreemptionPolicy::kNever ? "Never" : "PreemptLowerPriority";
}

GroupEnd end_of(const Outcome& outcome) {
  if (outcome.ok()) return GroupEnd::kSuccess;
  return outcome.rejected() ? GroupEnd::kRejected : GroupEnd::kError;
}

}  // namespace

GroupCycle::GroupCycle(const CycleCollaborators& with, const std::vector<ScheduleProfile>& profiles,
                       NodeSearch& search, std::shared_ptr<GroupStates> states, Options options)
    : with_(with),
      profiles_(profiles),
      search_(search),
      states_(std::move(states)),
      options_(options),
      conditions_(with.loop, with.cluster, with.api, with.tasks, with.observer) {}

// What is wrong with the group's pods; empty if nothing is. First those that were popped.
std::string GroupCycle::find_fault(const QueuedGroup& popped) const {
  std::vector<const Pod*> pods;
  for (const QueuedPod& member : popped.members) pods.push_back(member.pod.get());
  const Pod& first = *pods.front();
  if (const GroupState* state = states_->find(group_key(*popped.group)))
    for (const auto& [uid, member] : state->members)
      if (member.stage != GroupState::Stage::kUnscheduled) pods.push_back(member.pod.get());
  const PodGroup& group = *popped.group;
  for (const Pod* pod : pods) {
    if (pod->scheduler_name() != first.scheduler_name())
      return fmt::format(
          "all pods in a single pod group should have the same .spec.schedulerName set, got: "
          "\"{}\" and \"{}\"",
          pod->text(pod->scheduler_name()), first.text(first.scheduler_name()));
    if (pod->priority() != group.effective_priority())
      return fmt::format(
          "all pods in a single pod group should have the same priority as the pod group's "
          "priority, got {} and {}",
          pod->priority(), group.effective_priority());
    const PreemptionPolicy own = pod->spec().preemption_policy;
    const PreemptionPolicy of_group =
        group.preemption_policy.value_or(PreemptionPolicy::kPreemptLowerPriority);
    if (options_.preemption_policy && own != of_group)
      return fmt::format(
          "all pods in a single pod group should have the same preemption policy as the pod "
          "group's preemption policy, got {} and {}",
          policy_text(own), policy_text(of_group));
    if (!options_.preemption_policy && own != first.spec().preemption_policy)
      return fmt::format(
          "all pods in a single pod group should have the same preemption policy, got {} and {}",
          policy_text(own), policy_text(first.spec().preemption_policy));
  }
  if (!profile_named(profiles_, first.scheduler_name()))
    return fmt::format("profile not found for scheduler name \"{}\"",
                       first.text(first.scheduler_name()));
  return {};
}

std::unique_ptr<Attempt> GroupCycle::begin(QueuedPod member, const ScheduleProfile& profile) {
  with_.observer.attempt_started(*member.pod, member.attempts);
  auto attempt = std::make_unique<Attempt>(std::move(member), *profile.framework, with_.cluster);
  if (ProfileMeasurements* measured = profile.framework->measurements()) {
    attempt->started = measured->tick();
    attempt->cycle.sampled = measured->sample();
  }
  return attempt;
}

void GroupCycle::fail(Attempt& attempt, const Outcome& outcome,
                      const std::optional<Nominating>& nominating) {
  attempt.framework.end_search(attempt.cycle);
  with_.failures.handle(attempt, outcome, nominating);
}

// Nothing was tried: what is wrong concerns all of them.
void GroupCycle::fail_all(QueuedGroup& popped, const Outcome& outcome) {
  for (QueuedPod& member : popped.members) {
    const ScheduleProfile* profile = profile_named(profiles_, member.pod->scheduler_name());
    if (!profile) {
      with_.queue.done(member.pod->uid());
      continue;
    }
    const std::unique_ptr<Attempt> attempt = begin(std::move(member), *profile);
    fail(*attempt, outcome, Nominating::clear());
  }
  conditions_.decided(*popped.group, outcome);
  with_.observer.group_decided(*popped.group, outcome);
}

bool GroupCycle::skips(const Pod& pod, const ScheduleProfile& profile) {
  if (!pod.terminating()) return with_.cluster.is_assumed(pod.uid());
  with_.failures.skip_deleted(pod, profile.framework->profile_name());
  return true;
}

Task<GroupCycle::Attempts> GroupCycle::run(QueuedGroup popped) {
  Observer* const measured = with_.observer.measuring();
  const TimePoint begun = measured ? measured->tick() : TimePoint{};
  std::set<Uid> uids;
  for (const QueuedPod& member : popped.members) uids.insert(member.pod->uid());

  Attempts to_bind;
  if (std::string fault = find_fault(popped); !fault.empty()) {
    const Outcome outcome = Outcome::failure(std::move(fault));
    fail_all(popped, outcome);
    with_.queue.group_attempted(std::move(popped.entity), uids, GroupEnd::kError);
    co_return to_bind;
  }
  const ScheduleProfile& profile =
      *profile_named(profiles_, popped.members.front().pod->scheduler_name());
  GroupRun group(with_, search_, popped.group, states_->find(group_key(*popped.group)), profile,
                 options_.placements);
  for (QueuedPod& member : popped.members) {
    if (skips(*member.pod, profile))
      with_.queue.done(member.pod->uid());
    else
      group.add(begin(std::move(member), profile));
  }
  if (group.tried().empty()) {
    with_.queue.group_attempted(std::move(popped.entity), uids, GroupEnd::kSuccess);
    co_return to_bind;
  }

  Task<Outcome> deciding = group.decide();
  Outcome verdict = co_await deciding;
  if (measured) measured->group_algorithm_ran(measured->tick() - begun);
  const GroupEnd end = end_of(verdict);
  const Outcome before_post_filter = verdict;
  if (verdict.code == Code::kUnschedulable) {
    Task<void> helping = group.post_filter(verdict);
    co_await helping;
  }
  submit(group, verdict, before_post_filter, to_bind);
  conditions_.decided(*popped.group, verdict);
  with_.observer.group_decided(*popped.group, verdict);
  if (measured)
    measured->group_attempted(profile.framework->profile_name(),
                              verdict.ok()                   ? GroupResult::kScheduled
                              : group.waits_for_preemption() ? GroupResult::kWaitingOnPreemption
                              : verdict.rejected()           ? GroupResult::kUnschedulable
                                                             : GroupResult::kError,
                              measured->tick() - begun);
  with_.queue.group_attempted(std::move(popped.entity), uids, end);
  co_return to_bind;
}

// Upstream's table of what becomes of a member, by the group's verdict and its own.
void GroupCycle::submit(GroupRun& group, const Outcome& verdict, const Outcome& before_post_filter,
                        Attempts& to_bind) {
  // Permit first for all: the last of a gang lets the others go.
  for (GroupRun::Member& member : group.tried()) {
    const bool fits = member.outcome && member.outcome->ok();
    if (verdict.ok() && fits && permit(group, member)) continue;
    Outcome outcome = member.outcome.value_or(before_post_filter);
    std::optional<Nominating> nominating = member.nominating;
    const std::string* room = group.nomination_of(member.attempt->pod());
    if (verdict.code == Code::kError) {
      if (outcome.code != Code::kError) outcome = verdict;
      nominating = Nominating::clear();
    } else if (verdict.ok() && fits) {
      nominating = Nominating::clear();  // Permit refused it
    } else if (fits) {
      outcome = verdict;
      if (!group.waits_for_preemption()) {
        outcome = Outcome::of(Code::kUnschedulable, verdict.message());
        outcome.error = std::string(kGroupUnschedulable);
      }
      nominating = room ? Nominating::to(*room) : Nominating::clear();
    } else if (room) {
      nominating = Nominating::to(*room);
    }
    report(member, outcome);
    fail(*member.attempt, outcome, nominating);
  }
  for (GroupRun::Member& member : group.tried()) {
    if (member.row == kNoRow) continue;
    Attempt& attempt = *member.attempt;
    if (attempt.held) {
      const std::optional<WaitingPod> waiting = with_.waiting_pods.find(attempt.pod().uid());
      attempt.wait_is_over = !waiting || waiting->pending_plugins.empty();
    }
    member.attempt->framework.end_search(member.attempt->cycle);
    report(member, Outcome::success());
    to_bind.push_back(std::move(member.attempt));
  }
}

bool GroupCycle::permit(GroupRun& group, GroupRun::Member& member) {
  Attempt& attempt = *member.attempt;
  states_->assume(attempt.pod());
  PermitRun permit = attempt.framework.run_permit(attempt.cycle, attempt.node);
  if (permit.outcome.code == Code::kWait) {
    attempt.held = with_.loop.now();
    with_.waiting_pods.hold(attempt.queued.pod, attempt.node, permit.holds);
    with_.observer.wait_started(attempt.pod(), permit.holds);
  } else if (!permit.outcome.ok()) {
    states_->forget(attempt.pod());
    group.give_up_place(member);
    member.outcome = as_fit_error(std::move(permit.outcome));
    return false;
  }
  const std::vector<Ref<const Pod>> sleepers = std::exchange(attempt.cycle.pods_to_activate, {});
  if (!sleepers.empty()) with_.queue.activate(sleepers);
  return true;
}

void GroupCycle::report(const GroupRun::Member& member, const Outcome& outcome) {
  const Attempt& attempt = *member.attempt;
  Decision decision;
  decision.pod = attempt.queued.pod;
  decision.attempt = attempt.queued.attempts;
  decision.node = outcome.ok() ? attempt.node : std::string();
  decision.evaluated_nodes = member.evaluated;
  decision.feasible_nodes = member.feasible;
  decision.score = member.score;
  decision.outcome = outcome;
  with_.observer.decided(decision);
}

}  // namespace berth
