#include "cycle/failure_handler.h"

#include <fmt/format.h>

#include <utility>

namespace berth {
namespace {

constexpr std::size_t kNoteLimit = 1024;
constexpr std::string_view kCut = " ...";

}  // namespace

std::string event_note(std::string message) {
  if (message.size() <= kNoteLimit) return message;
  message.resize(kNoteLimit - kCut.size());
  return message += kCut;
}

void FailureHandler::skip_deleted(const Pod& pod, const std::string& profile_name) {
  PodEvent event;
  event.pod = Ref<const Pod>(&pod);
  event.type = EventType::kWarning;
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = fmt::format("skip schedule deleting pod: {}", pod.full_name());
  event.reporting_controller = profile_name;
  observer_.event(event);
  api_.record(std::move(event));
}

void FailureHandler::handle(Attempt& attempt, const Outcome& outcome,
                            const std::optional<Nominating>& nominating) {
  if (ProfileMeasurements* measured = attempt.framework.measurements())
    measured->attempt_ended(
        outcome.rejected() ? AttemptResult::kUnschedulable : AttemptResult::kError,
        measured->tick() - attempt.started);
  observer_.failed(attempt.pod(), outcome);
  const Uid uid = attempt.pod().uid();
  const Fate fate = requeue(attempt, outcome);
  if (fate != Fate::kReplaced) {
    // The newest version: its nomination is kept where nothing else was decided.
    const Ref<const Pod> pod =
        fate == Fate::kRequeued ? cluster_.seen_pod(attempt.pod()) : attempt.queued.pod;
    queue_.nominate(*pod, nominating);
    report(attempt, outcome, nominating);
  }
  if (fate != Fate::kRequeued) queue_.done(uid);
}

FailureHandler::Fate FailureHandler::requeue(Attempt& attempt, const Outcome& outcome) {
  QueuedPod& queued = attempt.queued;
  queued.unschedulable_plugins = {};
  queued.pending_plugins = {};
  queued.gating_plugin.clear();
  if (outcome.fit_error) {
    queued.unschedulable_plugins = outcome.fit_error->unschedulable_plugins;
    queued.pending_plugins = outcome.fit_error->pending_plugins;
  }
  // The newest version, with the updates that arrived during the attempt.
  Ref<const Pod> newest = cluster_.seen_pod(attempt.pod());
  if (!newest) return Fate::kLeftAlone;
  if (!newest->node().empty()) return Fate::kLeftAlone;  // bound after all, or by another scheduler
  if (newest->uid() != attempt.pod().uid()) return Fate::kReplaced;
  QueuedPod returning = queued;
  returning.pod = std::move(newest);
  if (const Result<void> returned = queue_.return_failed(std::move(returning)); !returned)
    observer_.internal_error(returned.error().message);
  return Fate::kRequeued;
}

void FailureHandler::report(const Attempt& attempt, const Outcome& outcome,
                            const std::optional<Nominating>& nominating) {
  // Parity: when every Bind plugin skipped there is no error to tell of, and nothing is written.
  if (outcome.code == Code::kSkip) return;
  const std::string message = outcome.message();
  Ref<const Pod> pod = cluster_.seen_pod(attempt.pod());
  if (!pod) pod = attempt.queued.pod;

  PodEvent event;
  event.pod = pod;
  event.type = EventType::kWarning;
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = event_note(message);
  event.reporting_controller = attempt.framework.profile_name();
  observer_.event(event);
  api_.record(std::move(event));

  PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = outcome.rejected() ? "Unschedulable" : "SchedulerError";
  condition.message = message;
  condition.last_transition_time = loop_.wall_now();
  condition.observed_generation = pod->generation();
  PodStatusPatch decided{.condition = std::move(condition)};
  if (nominating && nominating->mode == Nominating::Mode::kOverride)
    decided.nominated_node_name = nominating->node_name;
  tasks_.spawn(patch(std::move(pod), std::move(decided)));
}

Task<void> FailureHandler::patch(Ref<const Pod> pod, PodStatusPatch change) {
  Task<Result<std::string>> writing = api_.patch_status(pod, std::move(change));
  const Result<std::string> written = co_await writing;
  if (!written)
    observer_.internal_error(fmt::format("updating the status of pod {}: {}", pod->full_name(),
                                         written.error().message));
}

}  // namespace berth
