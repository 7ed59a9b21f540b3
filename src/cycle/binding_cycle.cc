#include "cycle/binding_cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth {

Outcome as_fit_error(Outcome rejection) {
  if (!rejection.rejected()) return rejection;
  Outcome outcome;
  outcome.code = rejection.code;
  outcome.plugin = rejection.plugin;
  outcome.fit_error = fit_error_for_one(rejection);
  outcome.error = outcome.fit_error->message();
  return outcome;
}

namespace {

// Concatenated without formatting: every pod has one.
std::string scheduled_note(const Attempt& attempt) {
  const std::string_view parts[] = {"Successfully assigned ",
                                    attempt.pod().namespace_name(),
                                    "/",
                                    attempt.pod().name(),
                                    " to ",
                                    attempt.node};
  std::size_t length = 0;
  for (const std::string_view part : parts) length += part.size();
  std::string note;
  note.reserve(length);
  for (const std::string_view part : parts) note += part;
  return note;
}

}  // namespace

// Awaitables of run(). They store their outcome in the attempt: as a local variable of run() an
// Outcome would take space in the coroutine frame of every waiting pod.

struct BindingCycle::WaitOnPermit {
  BindingCycle& cycle;
  Attempt& attempt;
  WaitingPods::Settled settled;

  bool await_ready() const noexcept { return settled.await_ready(); }
  bool await_suspend(std::coroutine_handle<> awaiter) { return settled.await_suspend(awaiter); }
  void await_resume() { cycle.permit_wait_ended(attempt, settled.await_resume()); }
};

struct BindingCycle::Step {
  Attempt& attempt;
  Task<Outcome> task;

  bool await_ready() const noexcept { return task.await_ready(); }
  auto await_suspend(std::coroutine_handle<> awaiter) { return task.await_suspend(awaiter); }
  void await_resume() { attempt.end_with(task.await_resume()); }
};

Task<void> BindingCycle::run(std::unique_ptr<Attempt> attempt) {
  count_running(+1);
  ChangeGate::Passed gate(with_.gate);
  if (options_.nominates && pre_bind_pre_flight(*attempt)) {
    Task<void> nominating = nominate(attempt->queued.pod, attempt->node);
    if (options_.waits_for_nomination)
      co_await nominating;
    else
      with_.tasks.spawn(std::move(nominating));
  }
  if (attempt->held) {
    WaitOnPermit wait{*this, *attempt, with_.waiting_pods.settled(attempt->pod().uid())};
    co_await wait;
  }
  if (!attempt->failure) {
    co_await gate;
    with_.queue.done(attempt->pod().uid());  // events seen from here on are not replayed for it
    if (attempt->has_pre_bind_work) {
      Step pre_binding{*attempt, pre_bind(*attempt)};
      co_await pre_binding;
    } else {
      measure_no_pre_bind(*attempt);
    }
  }
  if (!attempt->failure) {
    Step binding{*attempt, bind(*attempt)};
    co_await binding;
  }
  co_await gate;
  count_running(-1);
  if (attempt->failure)
    handle_binding_cycle_error(*attempt, *attempt->failure);
  else
    post_bind(*attempt);
}

void BindingCycle::count_running(int change) {
  running_ += change;
  if (measured_) measured_->running_bindings(static_cast<std::size_t>(running_));
}

bool BindingCycle::pre_bind_pre_flight(Attempt& attempt) {
  Outcome flight = attempt.framework.run_pre_bind_pre_flight(attempt.cycle, attempt.node);
  attempt.has_pre_bind_work = flight.ok();
  if (flight.code == Code::kSkip) return attempt.held.has_value() && !attempt.wait_is_over;
  if (flight.ok()) return true;
  // The pod cannot be bound: end its wait.
  if (attempt.held) with_.waiting_pods.reject(attempt.pod().uid(), flight.plugin, flight.message());
  attempt.end_with(std::move(flight));
  return false;
}

void BindingCycle::permit_wait_ended(Attempt& attempt, Outcome settlement) {
  with_.observer.wait_ended(attempt.pod(), settlement, with_.loop.now() - *attempt.held);
  if (settlement.ok() || attempt.failure) return;
  attempt.end_with(settlement.rejected() ? as_fit_error(std::move(settlement))
                                         : wrap_failure("waiting on permit for pod: ", settlement,
                                                        settlement.plugin));
}

// Parity: that nobody had anything to do is a run of the extension point, too.
void BindingCycle::measure_no_pre_bind(const Attempt& attempt) {
  if (ProfileMeasurements* measured = attempt.framework.measurements())
    measured->point_ran(Point::kPreBind, Code::kSuccess, Duration(0));
}

Task<void> BindingCycle::nominate(Ref<const Pod> pod, std::string node) {
  PodStatusPatch patch;
  patch.nominated_node_name = node;
  Task<Result<std::string>> writing = with_.api.patch_status(pod, std::move(patch));
  const Result<std::string> written = co_await writing;
  if (!written)
    with_.observer.internal_error(fmt::format("nominating node {} for pod {}: {}", node,
                                              pod->full_name(), written.error().message));
}

Task<Outcome> BindingCycle::pre_bind(Attempt& attempt) {
  PodsInPreBind::Stay stay(with_.pods_in_pre_bind, attempt.pod().uid());
  Task<Outcome> running = attempt.framework.run_pre_bind(attempt.cycle, attempt.node, stay.token());
  Outcome outcome = co_await running;
  if (outcome.ok() && !stay.mark_prebound()) co_return Outcome::failure(stay.token().cause());
  co_return outcome;
}

Task<Outcome> BindingCycle::bind(Attempt& attempt) {
  if (extenders_.empty()) return attempt.framework.run_bind(attempt.cycle, attempt.node);
  return bind_with_extenders(attempt);
}

Task<Outcome> BindingCycle::bind_with_extenders(Attempt& attempt) {
  for (Extender* extender : extenders_) {
    if (!extender->binds() || !extender->interested_in(attempt.pod())) continue;
    Task<Result<void>> asking = extender->bind(attempt.queued.pod, attempt.node);
    const Result<void> bound = co_await asking;
    if (bound) co_return Outcome::success();
    // The binding may have been done although the answer was an error: its place must not be given
    // to another pod.
    Task<Result<bool>> looking = with_.api.is_bound(attempt.queued.pod, attempt.node,
                                                    bound.error().kind == ErrorKind::kTimeout);
    const Result<bool> done = co_await looking;
    if (done && *done) co_return Outcome::success();
    if (!extender->ignorable()) co_return Outcome::failure(bound.error().message);
    with_.observer.internal_error(bound.error().message);
  }
  Task<Outcome> binding = attempt.framework.run_bind(attempt.cycle, attempt.node);
  Outcome outcome = co_await binding;
  co_return outcome;
}

void BindingCycle::post_bind(Attempt& attempt) {
  PodEvent event;
  event.pod = attempt.queued.pod;
  event.reason = "Scheduled";
  event.action = "Binding";
  event.note = scheduled_note(attempt);
  event.reporting_controller = attempt.framework.profile_name();
  with_.observer.event(event);
  with_.api.record(std::move(event));
  with_.observer.bound(attempt.pod(), attempt.node, attempt.queued.attempts);
  if (measured_) measure_success(attempt);

  attempt.framework.run_post_bind(attempt.cycle, attempt.node);
  if (!attempt.cycle.pods_to_activate.empty()) with_.queue.activate(attempt.cycle.pods_to_activate);
}

void BindingCycle::measure_success(const Attempt& attempt) {
  if (ProfileMeasurements* profile = attempt.framework.measurements())
    profile->attempt_ended(AttemptResult::kScheduled, profile->tick() - attempt.started);
  const QueuedPod& queued = attempt.queued;
  const WallTime now = with_.loop.wall_now();
  measured_->pod_scheduled(queued.attempts, now - queued.initial_attempt.value_or(now),
                           queued.tried_after_flush);
}

void BindingCycle::handle_binding_cycle_error(Attempt& attempt, const Outcome& outcome) {
  attempt.framework.run_unreserve(attempt.cycle, attempt.node);
  const Result<void> forgotten = with_.cluster.forget(attempt.pod());
  if (with_.groups && in_group(attempt.pod())) with_.groups->forget(attempt.pod());
  if (!forgotten) with_.observer.internal_error(forgotten.error().message);

  // The place is free again, which may help other pods. A rejected pod must not be requeued because
  // of its own place; a pod that failed with an error may.
  const AnyObject before = with_node(attempt.pod(), attempt.node);
  if (forgotten && !outcome.rejected())
    with_.queue.move_all(events::kAssignedPodDelete, before, {});
  with_.failures.handle(attempt, outcome, Nominating::clear());
  if (forgotten && outcome.rejected()) {
    const Uid uid = attempt.pod().uid();
    with_.queue.move_all(events::kAssignedPodDelete, before, {},
                         [uid](const Pod& other) { return other.uid() != uid; });
  }
}

}  // namespace berth
