#include "framework/preemption_evictions.h"

#include <fmt/format.h>

#include <utility>

#include "base/change_gate.h"
#include "berth/observer.h"
#include "berth/waiting_pods.h"
#include "framework/pod_status.h"
#include "framework/pods_in_pre_bind.h"

namespace berth {
namespace {

// Terminating pods are victims, too, but need no second deletion.
std::vector<Ref<const Pod>> still_to_go(std::vector<Ref<const Pod>> victims) {
  std::erase_if(victims, [](const Ref<const Pod>& pod) { return pod->terminating(); });
  return victims;
}

}  // namespace

Evictions::Evictions(const Handle& handle, std::string plugin)
    : handle_(handle), plugin_(std::move(plugin)) {}

Evictions::~Evictions() = default;

void Evictions::begin(Target target, std::vector<Ref<const Pod>> victims) {
  count_victims(target, victims.size());
  victims = still_to_go(std::move(victims));
  if (victims.empty()) return;
  preempting_.insert_or_assign(target.uid(), nullptr);
  tasks_.spawn(run(std::move(target), std::move(victims)));
}

void Evictions::count_victims(const Target& target, std::size_t count) const {
  Observer* const measured = measuring();
  if (!measured) return;
  if (target.group)
    measured->group_victims_chosen(count);
  else
    measured->victims_chosen(count);
}

Task<void> Evictions::run(Target target, std::vector<Ref<const Pod>> victims) {
  // Not before the cycle that decided this is over: it sees one state of the world to its end.
  if (handle_.gate) {
    ChangeGate::Passed passed(*handle_.gate);
    co_await passed;
  }
  const Uid uid = target.uid();
  Observer* const measured = measuring();
  const TimePoint start = measured ? measured->tick() : TimePoint{};
  if (measured) measured->evictions_began();
  // A nomination that stays is no reason to give up, but a reason to try the preemptor again.
  std::string error;
  Task<void> clearing = clear_lower_nominations(target, error);
  co_await clearing;

  const Ref<const Pod> last = std::move(victims.back());
  victims.pop_back();
  bool last_in_memory = false;
  Task<bool> evicting = evict_all(target, std::move(victims), error);
  const bool reached_last = co_await evicting;
  if (reached_last) {
    preempting_[uid] = last;
    Task<Result<bool>> finishing = evict(target, last);
    const Result<bool> evicted = co_await finishing;
    if (evicted)
      last_in_memory = *evicted;
    else
      error = evicted.error().message;
  }
  if (measured) measured->evictions_ended(error.empty(), measured->tick() - start);
  // The rejected pod gives up its place first; until then the preemptor would find it there again.
  if (last_in_memory) {
    NextTurn next(handle_.loop);
    co_await next;
  }
  if (handle_.gate) {
    ChangeGate::Passed passed(*handle_.gate);
    co_await passed;
  }
  // Another mark is of a later preemption: the preemptor may have been tried since `last` left.
  if (const auto mark = preempting_.find(uid);
      mark != preempting_.end() && mark->second == (reached_last ? last : nullptr))
    preempting_.erase(mark);
  if (!error.empty())
    internal_error(fmt::format("Error occurred during async preemption of pod {} on node {}: {}",
                               target.preemptor->full_name(), target.node, error));
  // No deletion will wake the preemptor then. If the victim is still in PreBind, its end emits
  // AssignedPod/Delete, which does.
  const bool left_in_memory = last_in_memory && !handle_.cluster.placed(last->uid());
  if (error.empty() && !left_in_memory) co_return;
  const Ref<const Pod> pods[] = {target.preemptor};
  handle_.activator.activate(pods);
}

Task<Result<void>> Evictions::carry_out(Target target, std::vector<Ref<const Pod>> victims) {
  count_victims(target, victims.size());
  std::string error;
  Task<bool> evicting = evict_all(target, still_to_go(std::move(victims)), error);
  if (!co_await evicting) co_return fail(ErrorKind::kInternal, error);
  Task<void> clearing = clear_lower_nominations(target, error);
  co_await clearing;
  co_return Result<void>();
}

bool Evictions::running_for(const Uid& preemptor) const {
  const auto found = preempting_.find(preemptor);
  if (found == preempting_.end()) return false;
  const Ref<const Pod>& last = found->second;
  if (!last) return true;
  // The watch may be faster than the answer. A pod that was rejected in memory stays in the API,
  // but not on its node.
  const Ref<const Pod> seen = handle_.cluster.seen_pod(*last);
  return seen && !seen->terminating() && handle_.cluster.placed(last->uid());
}

// False when one of them could not be evicted; `error` is the first one's.
Task<bool> Evictions::evict_all(const Target& target, std::vector<Ref<const Pod>> victims,
                                std::string& error) {
  std::vector<Task<Result<bool>>> evicting;
  for (Ref<const Pod>& victim : victims) evicting.push_back(evict(target, std::move(victim)));
  WhenAll<Result<bool>> all(std::move(evicting));
  const std::vector<Result<bool>> answers = co_await all;
  for (const Result<bool>& answer : answers) {
    if (answer) continue;
    error = answer.error().message;
    co_return false;
  }
  co_return true;
}

// True: the victim was rejected in memory, and no API call was made.
Task<Result<bool>> Evictions::evict(Target target, Ref<const Pod> victim) {
  const bool in_memory = reject_in_memory(*victim);
  if (!in_memory) {
    bool gone = false;
    Task<Result<void>> evicting = evict_through_api(target, victim, gone);
    const Result<void> evicted = co_await evicting;
    if (!evicted) co_return fail(evicted.error());
    if (gone) co_return false;
  }
  record_preemption(target, victim, in_memory);
  co_return in_memory;
}

// A pod that is not bound yet needs no API server to leave. False: it is too late for that.
bool Evictions::reject_in_memory(const Pod& victim) {
  if (handle_.waiting_pods.contains(victim.uid()))
    return handle_.waiting_pods.preempt(victim.uid(), plugin_, "preempted");
  return handle_.pods_in_pre_bind.cancel(victim.uid(), fmt::format("preempted by {}", plugin_));
}

// `gone`: it went before we came.
Task<Result<void>> Evictions::evict_through_api(const Target& target, const Ref<const Pod>& victim,
                                                bool& gone) {
  PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  condition.message =
      fmt::format("{}: preempting to accommodate a higher priority {}",
                  target.preemptor->text(target.preemptor->scheduler_name()), target.kind());
  condition.last_transition_time = handle_.loop.wall_now();
  condition.observed_generation = victim->generation();
  if (std::optional<PodStatusPatch> needed =
          status_patch(*victim, {.condition = std::move(condition)})) {
    Task<Result<std::string>> writing = handle_.api.patch_status(victim, std::move(*needed));
    const Result<std::string> written = co_await writing;
    gone = !written && written.error().kind == ErrorKind::kNotFound;
    if (gone) co_return Result<void>();
    if (!written) co_return fail(written.error());
  }
  Task<Result<void>> deleting = handle_.api.evict(victim);
  const Result<void> deleted = co_await deleting;
  gone = !deleted && deleted.error().kind == ErrorKind::kNotFound;
  if (gone) co_return Result<void>();
  co_return deleted;
}

void Evictions::record_preemption(const Target& target, const Ref<const Pod>& victim,
                                  bool in_memory) {
  PodEvent event;
  event.pod = victim;
  event.reason = "Preempted";
  event.action = "Preempting";
  event.note = fmt::format("Preempted by {} {} on node {}{}", target.kind(),
                           target.group ? target.group->uid : target.preemptor->uid_text(),
                           target.node, in_memory ? " (in kube-scheduler memory)." : "");
  event.reporting_controller = handle_.profile_name;
  if (!target.group) event.related = target.preemptor;
  if (handle_.observer) {
    handle_.observer->preempted(*victim, *target.preemptor, target.node);
    handle_.observer->event(event);
  }
  handle_.api.record(std::move(event));
}

// They may no longer fit, and are to look for another node. `error` is the last failure's.
Task<void> Evictions::clear_lower_nominations(const Target& target, std::string& error) {
  if (target.group) co_return;  // Parity: upstream looks for pods nominated to a node "cluster"
  const Symbol node = handle_.cluster.symbols().find(target.node);
  std::vector<Ref<const Pod>> lower;
  std::vector<Task<Result<std::string>>> writing;
  for (Ref<const Pod>& pod : handle_.nominator.nominated_pods(node)) {
    // Also if its status does not show the nomination yet: the write may be under way. A pod in
    // flight is known by its name only; its attempt will decide about its nomination.
    const bool in_flight = pod->scheduler_name().empty();
    if (in_flight || pod->priority() >= target.preemptor->priority()) continue;
    PodStatusPatch patch;
    patch.nominated_node_name = "";
    writing.push_back(handle_.api.patch_status(pod, std::move(patch)));
    lower.push_back(std::move(pod));
  }
  WhenAll<Result<std::string>> all(std::move(writing));
  const std::vector<Result<std::string>> answers = co_await all;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) continue;
    error = fmt::format("clearing the nominated node of pod {}: {}", lower[i]->full_name(),
                        answers[i].error().message);
    internal_error(error);
  }
}

Observer* Evictions::measuring() const {
  return handle_.observer ? handle_.observer->measuring() : nullptr;
}

void Evictions::internal_error(const std::string& message) const {
  if (handle_.observer) handle_.observer->internal_error(message);
}

}  // namespace berth
