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

// Put together by hand, for every pod has one.
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

// The settlement goes straight into the attempt: as a local of the coroutine it would take its
// place in the frame of every waiting pod.
struct BindingCycle::PermitWait {
  BindingCycle& cycle;
  Attempt& attempt;
  WaitingPods::Settled settled;

  bool await_ready() const noexcept { return settled.await_ready(); }
  bool await_suspend(std::coroutine_handle<> awaiter) { return settled.await_suspend(awaiter); }
  void await_resume() { cycle.take_settlement(attempt, settled.await_resume()); }
};

Task<void> BindingCycle::run(std::unique_ptr<Attempt> attempt) {
  ++running_;
  if (measured_) measured_->bindings(running_);
  if (options_.nominates && !fly_ahead(*attempt)) {
    Task<void> beginning = begin(*attempt);
    co_await beginning;
  }
  if (!attempt->failure && waits(*attempt)) {
    PermitWait wait{*this, *attempt, with_.waiting_pods.settled(attempt->pod().uid())};
    co_await wait;
  }
  with_.tasks.spawn(bind_and_tell(std::move(attempt)));
}

bool BindingCycle::waits(const Attempt& attempt) const {
  return attempt.held && with_.waiting_pods.contains(attempt.pod().uid());
}

bool BindingCycle::fly_ahead(Attempt& attempt) {
  Outcome flight = attempt.framework.run_pre_bind_pre_flight(attempt.cycle, attempt.node);
  attempt.has_pre_bind_work = flight.ok();
  if (flight.code == Code::kSkip) return !waits(attempt);
  if (!flight.ok()) attempt.failure = std::make_unique<Outcome>(std::move(flight));
  return false;
}

Task<void> BindingCycle::begin(Attempt& attempt) {
  if (attempt.failure) {
    const Outcome& flight = *attempt.failure;
    if (waits(attempt)) {
      // Nobody will come for the outcome of its wait, so that ends here.
      with_.waiting_pods.reject(attempt.pod().uid(), flight.plugin, flight.message());
      WaitingPods::Settled settled = with_.waiting_pods.settled(attempt.pod().uid());
      const Outcome ended = co_await settled;
      with_.observer.wait_ended(attempt.pod(), ended, with_.loop.now() - *attempt.held);
    }
    co_return;
  }
  // Binding will take a while: others are told where this pod is about to be.
  Task<void> nominating = nominate(attempt.queued.pod, attempt.node);
  if (options_.waits_for_nomination)
    co_await nominating;
  else
    with_.tasks.spawn(std::move(nominating));
}

void BindingCycle::take_settlement(Attempt& attempt, Outcome settlement) {
  with_.observer.wait_ended(attempt.pod(), settlement, with_.loop.now() - *attempt.held);
  if (settlement.ok()) return;
  attempt.failure = std::make_unique<Outcome>(
      settlement.rejected()
          ? as_fit_error(std::move(settlement))
          : wrap_failure("waiting on permit for pod: ", settlement, settlement.plugin));
}

Task<void> BindingCycle::bind_and_tell(std::unique_ptr<Attempt> attempt) {
  if (!attempt->failure) {
    ChangeGate::Passed before(with_.gate);
    co_await before;
    with_.queue.done(attempt->pod().uid());  // events seen from here on are not replayed for it
    Task<Outcome> advancing = advance(*attempt);
    Outcome outcome = co_await advancing;
    if (!outcome.ok()) attempt->failure = std::make_unique<Outcome>(std::move(outcome));
  }
  ChangeGate::Passed passed(with_.gate);
  co_await passed;
  --running_;
  if (measured_) measured_->bindings(running_);
  if (attempt->failure)
    fail(*attempt, *attempt->failure);
  else
    succeed(*attempt);
}

Task<Outcome> BindingCycle::advance(Attempt& attempt) {
  if (attempt.has_pre_bind_work) return pre_bind_and_bind(attempt);
  // Parity: that nobody had anything to do is a run of the extension point, too.
  if (ProfileMeasurements* measured = attempt.framework.measurements())
    measured->point_ran(Point::kPreBind, Code::kSuccess, Duration(0));
  return bind(attempt);
}

Task<Outcome> BindingCycle::pre_bind_and_bind(Attempt& attempt) {
  Task<Outcome> preparing = pre_bind(attempt);
  Outcome prepared = co_await preparing;
  if (!prepared.ok()) co_return prepared;
  Task<Outcome> binding = bind(attempt);
  Outcome bound = co_await binding;
  co_return bound;
}

Task<void> BindingCycle::nominate(Ref<const Pod> pod, std::string node) {
  PodStatusPatch patch;
  patch.nominated_node_name = node;
  Task<Result<std::string>> writing = with_.api.patch_status(pod, std::move(patch));
  const Result<std::string> written = co_await writing;
  if (!written)
    with_.observer.trouble(fmt::format("nominating node {} for pod {}: {}", node, pod->full_name(),
                                       written.error().message));
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
    // A binding that was done, only not told, must not have its place given to others.
    Task<Result<bool>> looking = with_.api.is_bound(attempt.queued.pod, attempt.node,
                                                    bound.error().kind == ErrorKind::kTimeout);
    const Result<bool> done = co_await looking;
    if (done && *done) co_return Outcome::success();
    if (!extender->ignorable()) co_return Outcome::failure(bound.error().message);
    with_.observer.trouble(bound.error().message);
  }
  Task<Outcome> binding = attempt.framework.run_bind(attempt.cycle, attempt.node);
  Outcome outcome = co_await binding;
  co_return outcome;
}

void BindingCycle::succeed(Attempt& attempt) {
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
    profile->attempt_ended(AttemptResult::kScheduled, profile->now() - attempt.started);
  const QueuedPod& queued = attempt.queued;
  const WallTime now = with_.loop.wall_now();
  measured_->pod_scheduled(queued.attempts, now - queued.initial_attempt.value_or(now),
                           queued.tried_after_flush);
}

void BindingCycle::fail(Attempt& attempt, const Outcome& outcome) {
  attempt.framework.run_unreserve(attempt.cycle, attempt.node);
  const Result<void> forgotten = with_.cluster.forget(attempt.pod());
  if (!forgotten) with_.observer.trouble(forgotten.error().message);

  // The place is free again, which may help others. A pod that was turned away must not be woken by
  // the place that it had itself; one that failed may.
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
