#include "cycle/schedule_one.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth {

ScheduleOne::ScheduleOne(const CycleCollaborators& with, BindingCycle& bindings,
                         std::vector<ScheduleProfile> profiles, NodeSearch& search)
    : with_(with), bindings_(bindings), profiles_(std::move(profiles)), search_(search) {
  with_.queue.on_ready([this] { wake(); });
}

void ScheduleOne::start() {
  running_ = true;
  wake();
}

void ScheduleOne::stop() { running_ = false; }

void ScheduleOne::wake() {
  if (!running_ || turn_posted_ || open_) return;
  turn_posted_ = true;
  with_.loop.post(lifetime_.guard([this] {
    turn_posted_ = false;
    take_turn();
  }));
}

void ScheduleOne::take_turn() {
  if (!running_) return;
  const TimePoint begun = with_.loop.tick();
  for (int taken = 0; taken < kPodsPerTurn; ++taken) {
    if (!run_one()) return;
    if (with_.loop.tick() - begun >= kLongestTurn) break;
  }
  if (with_.queue.ready()) wake();
}

const ScheduleProfile* ScheduleOne::profile_of(const Pod& pod) const {
  const auto found =
      std::ranges::find(profiles_, pod.scheduler_name(), &ScheduleProfile::scheduler_name);
  return found == profiles_.end() ? nullptr : &*found;
}

bool ScheduleOne::run_one() {
  if (open_) return false;
  std::optional<QueuedPod> popped = with_.queue.pop();
  if (!popped) return false;
  ++cycles_;
  if (groups_)
    if (std::optional<QueuedGroup> group = with_.queue.take_popped_group()) {
      open_cycle();
      with_.tasks.spawn(attempt_group(*std::move(group)));
      return true;
    }
  const Ref<const Pod> pod = popped->pod;
  const ScheduleProfile* profile = profile_of(*pod);
  if (!profile) {
    with_.observer.internal_error(fmt::format("profile not found for scheduler name \"{}\"",
                                              pod->text(pod->scheduler_name())));
    with_.queue.done(pod->uid());
    return true;
  }
  if (skip_pod_schedule(*pod, *profile)) {
    with_.queue.done(pod->uid());
    return true;
  }
  open_cycle();
  with_.observer.attempt_started(*pod, popped->attempts);
  auto begun = std::make_unique<Attempt>(std::move(*popped), *profile->framework, with_.cluster);
  if (ProfileMeasurements* measured = profile->framework->measurements()) {
    begun->started = measured->tick();
    begun->cycle.sampled = measured->sample();
  }
  with_.tasks.spawn(attempt(std::move(begun), *profile));
  return true;
}

void ScheduleOne::open_cycle() {
  open_ = true;
  with_.gate.close();
  with_.cluster.begin_cycle();
}

Task<void> ScheduleOne::attempt_group(QueuedGroup group) {
  Task<GroupCycle::Attempts> trying = groups_->run(std::move(group));
  GroupCycle::Attempts to_bind = co_await trying;
  open_ = false;
  with_.gate.open();
  for (std::unique_ptr<Attempt>& attempt : to_bind)
    with_.tasks.spawn(bindings_.run(std::move(attempt)));
  measure_cluster();
  if (with_.queue.ready()) wake();
}

void ScheduleOne::measure_cluster() {
  if (Observer* measured = with_.observer.measuring())
    measured->cluster_size(with_.cluster.nodes().node_count(), with_.cluster.placed_count(),
                           with_.cluster.assumed_count());
}

bool ScheduleOne::skip_pod_schedule(const Pod& pod, const ScheduleProfile& profile) {
  if (pod.terminating()) {
    with_.failures.skip_deleted(pod, profile.framework->profile_name());
    return true;
  }
  return with_.cluster.is_assumed(pod.uid());  // an update put it back while it is binding
}

// For metrics only. The pod is not assumed yet.
void ScheduleOne::measure_search(Attempt& attempt, const ScheduleProfile& profile,
                                 const SearchResult& result) {
  if (!result.pre_filtered) return;
  ProfileMeasurements& measured = *attempt.framework.measurements();
  measured.searched(result.from_class);
  if (!profile.batching) return;
  BatchingCounts::Search search;
  search.cycle = cycles_;
  if (profile.signs) search.signature = attempt.framework.sign(attempt.pod());
  search.nominated = !attempt.pod().nominated_node().empty();
  search.feasible = result.outcome.ok() ? result.feasible : 0;
  if (result.outcome.ok()) search.node = with_.cluster.nodes().name(result.row);
  const auto look = [&](Symbol last) {
    using enum BatchingCounts::LastNode;
    const NodeTable& nodes = with_.cluster.nodes();
    const NodeRow row = nodes.find(last);
    if (row == kNoRow || !nodes.has_node(row)) return kMissing;
    if (result.outcome.rejected()) return kFull;
    if (result.outcome.ok() && row == result.row) return kHasRoom;
    const Status status = attempt.framework.filter_row(attempt.cycle, row);
    if (status.code == Code::kError) return kFilterError;
    return status.ok() ? kHasRoom : kFull;
  };
  profile.batching->searched(search, std::cref(look), measured);  // without an allocation
}

Task<void> ScheduleOne::attempt(std::unique_ptr<Attempt> attempt, const ScheduleProfile& profile) {
  const TimePoint begun = with_.loop.tick();
  std::unique_ptr<SearchTrace> trace;
  if (with_.observer.wants_trace(attempt->pod())) trace = std::make_unique<SearchTrace>();
  Task<SearchResult> searching = search_.run(attempt->cycle, attempt->framework,
                                             profile.percentage_of_nodes_to_score, trace.get());
  SearchResult result = co_await searching;
  if (trace) with_.observer.traced(attempt->pod(), with_.cluster.nodes(), *trace);
  if (const Duration took = with_.loop.tick() - begun; took > kSlowSearch)
    report_slow_search(attempt->pod(), result, begun, took);
  ProfileMeasurements* const measured = attempt->framework.measurements();
  if (measured) {
    measured->algorithm_ran(measured->tick() - attempt->started);
    measure_search(*attempt, profile, result);
  }
  Outcome outcome = std::move(result.outcome);
  std::optional<Nominating> nominating = std::move(result.nominating);
  if (outcome.ok()) {
    outcome = prepare_for_binding(*attempt, result.row);
    nominating = Nominating::clear();
  }
  attempt->framework.end_search(attempt->cycle);

  Decision decision;
  decision.pod = attempt->queued.pod;
  decision.attempt = attempt->queued.attempts;
  decision.node = outcome.ok() ? attempt->node : std::string();
  decision.evaluated_nodes = result.evaluated;
  decision.feasible_nodes = result.feasible;
  decision.score = result.score;
  decision.outcome = outcome;
  with_.observer.decided(decision);

  if (outcome.ok()) {
    open_ = false;
    with_.gate.open();
    with_.tasks.spawn(bindings_.run(std::move(attempt)));
  } else {
    with_.failures.handle(*attempt, outcome, nominating);
    open_ = false;
    with_.gate.open();
  }
  if (measured) measure_cluster();
  if (with_.queue.ready()) wake();
}

void ScheduleOne::report_slow_search(const Pod& pod, const SearchResult& result, TimePoint begun,
                                     Duration took) {
  SlowSearch trace;
  trace.begun = {with_.loop.wall_now().since_epoch - took};
  trace.total = took;
  if (result.filtered) trace.filtered = *result.filtered - begun;
  if (result.scored) trace.scored = *result.scored - begun;
  with_.observer.searched_slowly(pod, trace);
}

Outcome ScheduleOne::prepare_for_binding(Attempt& attempt, NodeRow row) {
  attempt.node = with_.cluster.nodes().name_text(row);
  if (const Result<void> assumed = with_.cluster.assume(attempt.queued.pod, row); !assumed)
    return Outcome::failure(assumed.error().message);
  with_.queue.remove_nomination(attempt.pod().uid());

  if (Outcome reserved = attempt.framework.run_reserve(attempt.cycle, attempt.node); !reserved.ok())
    return unreserve_and_forget(attempt, std::move(reserved));
  PermitRun permit = attempt.framework.run_permit(attempt.cycle, attempt.node);
  if (permit.outcome.code == Code::kWait) {
    attempt.held = with_.loop.now();
    with_.waiting_pods.hold(attempt.queued.pod, attempt.node, permit.holds);
    with_.observer.wait_started(attempt.pod(), permit.holds);
  } else if (!permit.outcome.ok()) {
    return unreserve_and_forget(attempt, std::move(permit.outcome));
  }

  const std::vector<Ref<const Pod>> sleepers = std::exchange(attempt.cycle.pods_to_activate, {});
  if (!sleepers.empty()) with_.queue.activate(sleepers);
  return Outcome::success();
}

// Reserve or Permit failed: unreserves the pod and removes it from its node.
Outcome ScheduleOne::unreserve_and_forget(Attempt& attempt, Outcome outcome) {
  attempt.framework.run_unreserve(attempt.cycle, attempt.node);
  if (const Result<void> forgotten = with_.cluster.forget(attempt.pod()); !forgotten)
    with_.observer.internal_error(forgotten.error().message);
  return as_fit_error(std::move(outcome));
}

}  // namespace berth
