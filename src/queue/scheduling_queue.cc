#include "queue/scheduling_queue.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "queue/state.h"

namespace berth {

SchedulingQueue::SchedulingQueue(Loop& loop, const Cluster& cluster, QueueOptions options,
                                 Observer& observer)
    : state_(std::make_unique<State>(loop, cluster, options, observer)) {}

SchedulingQueue::~SchedulingQueue() = default;

void SchedulingQueue::set_profiles(const QueueSortPlugin& sort,
                                   std::vector<QueueProfile> profiles) {
  state_->order.set_sort(sort);
  state_->hints.set_profiles(std::move(profiles));
  state_->gating.measure_profiles();
}

void SchedulingQueue::run() { state_->run(); }

void SchedulingQueue::on_ready(Callback callback) { state_->on_ready = std::move(callback); }

// ---- from ingest ------------------------------------------------------------------------------

void SchedulingQueue::add(Ref<const Pod> pod) {
  State::Operation operation(*state_);
  state_->enter(std::move(pod));
  operation.finish();
}

void SchedulingQueue::update(const Pod& before, Ref<const Pod> after) {
  State::Operation operation(*state_);
  const Ref<const Pod> held(&before);
  if (state_->in_flight.contains(after->uid())) {
    // Should it come back, it comes as the cluster shows it then; only the events have to be kept.
    // Parity: the hints of other pods in flight are asked about these events, too.
    for (const ClusterEvent& event : pod_update_events(before, *after, EventResource::kTargetPod))
      state_->in_flight.record(event, held, after);
  } else if (const Slot slot = state_->entries.find(before); slot == kNoSlot) {
    state_->enter(std::move(after));
  } else if (const Pod& queued = state_->entries[slot].pod(); queued.uid() != after->uid()) {
    // Parity: upstream finds no fault with a pod in the active or the backoff queue.
    if (state_->entries[slot].place == QueuePlace::kUnschedulable)
      state_->observer.internal_error(
          fmt::format("Failed to update pod in an entity {}: pod UID mismatch, expected {}, got {}",
                      queued.full_name(), queued.uid_text(), after->uid_text()));
    state_->enter(std::move(after));
  } else {
    state_->update_queued(slot, held, after);
  }
  operation.finish();
}

void SchedulingQueue::remove(const Pod& pod) {
  State::Operation operation(*state_);
  const Ref<const Pod> held(&pod);
  state_->nominations.remove(pod.uid());
  if (const Slot slot = state_->entries.find(pod); slot != kNoSlot) {
    state_->leave(slot);
    state_->count_rejectors(state_->entries.take(slot), -1);
  }
  operation.finish();
}

void SchedulingQueue::move_all(const ClusterEvent& event, const AnyObject& before,
                               const AnyObject& after,
                               const std::function<bool(const Pod&)>& only) {
  if (!state_->hints.concerns_anyone(event)) return;
  State::Operation operation(*state_);
  state_->move_all({.event = event, .before = before, .after = after, .only = only});
  operation.finish();
}

// ---- from the scheduling cycle ----------------------------------------------------------------

std::optional<QueuedPod> SchedulingQueue::pop() {
  State::Operation operation(*state_);
  std::optional<QueuedPod> popped;
  while (!popped && state_->ready()) {
    const bool early = state_->active.empty();
    const Slot slot = early ? state_->backoff.first_rejected() : state_->active.top();
    if (early)
      state_->report_queued(state_->entries[slot].pod(), QueueName::kActive,
                            queue_label::kPopFromBackoff, std::nullopt);
    state_->leave(slot);
    popped = state_->entries.take(slot);
    state_->nominations.moved(popped->pod->uid());
    state_->count_rejectors(*popped, -1);
    ++popped->attempts;
    if (state_->in_flight.begin(popped->pod->uid())) break;
    state_->observer.internal_error(
        fmt::format("Discarding the popped entity: the same pod is tracked in multiple places in "
                    "the scheduler: {}",
                    popped->pod->full_name()));
    popped.reset();
  }
  operation.finish();
  return popped;
}

bool SchedulingQueue::ready() const { return state_->ready(); }

void SchedulingQueue::done(const Uid& uid) { state_->in_flight.end(uid); }

Result<void> SchedulingQueue::return_failed(QueuedPod queued) {
  const Uid uid = queued.pod->uid();
  if (const Slot slot = state_->entries.find(*queued.pod); slot != kNoSlot) {
    state_->in_flight.end(uid);
    const QueuePlace place = state_->entries[slot].place;
    return fail(ErrorKind::kConflict,
                fmt::format("Pod {} is already present in {} queue", queued.pod->full_name(),
                            place == QueuePlace::kUnschedulable ? "unschedulable"
                            : place == QueuePlace::kActive      ? "the active"
                                                                : "the backoff"));
  }
  State::Operation operation(*state_);
  Requeue strategy = Requeue::kAfterBackoff;
  if (queued.has_rejectors()) {
    ++queued.unschedulable_count;
    queued.consecutive_errors = 0;
    const auto consider = [&](const MissedEvent& missed) {
      const Requeue worth =
          state_->hints.worth_requeuing(queued, missed.event, missed.before, missed.after);
      if (worth != Requeue::kSkip) strategy = worth;
      return worth == Requeue::kSkip ||
             (worth == Requeue::kAfterBackoff && !queued.pending_plugins.empty());
    };
    const std::uint32_t profile = state_->hints.profile_of(*queued.pod);
    const auto wants = [&](const ClusterEvent& event) {
      return !state_->hints
                  .questions(profile, queued.unschedulable_plugins, queued.pending_plugins, event)
                  .none();
    };
    strategy = Requeue::kSkip;
    if (!state_->in_flight.for_each_missed(uid, wants, consider)) strategy = Requeue::kAfterBackoff;
  } else {
    ++queued.consecutive_errors;
  }
  state_->in_flight.end(uid);
  queued.timestamp = state_->now();
  queued.sequence = ++state_->last_sequence;
  queued.backoff_expiration.reset();
  queued.flushed.reset();
  queued.tried_after_flush = false;
  state_->count_rejectors(queued, +1);
  const Slot slot = state_->entries.insert(std::move(queued));
  state_->nominations.moved(uid);
  state_->requeue(slot, strategy, queue_label::kScheduleAttemptFailure);
  operation.finish();
  return {};
}

void SchedulingQueue::activate(std::span<const Ref<const Pod>> pods) {
  if (state_->open_operations > 0) {
    state_->activated_meanwhile.insert(state_->activated_meanwhile.end(), pods.begin(), pods.end());
    return;
  }
  State::Operation operation(*state_);
  for (const Ref<const Pod>& pod : pods) state_->activate(pod);
  operation.finish();
}

// ---- nominations ------------------------------------------------------------------------------

std::vector<Ref<const Pod>> SchedulingQueue::nominated_pods(Symbol node) const {
  std::vector<Ref<const Pod>> pods;
  state_->nominations.for_each(node, [&](const Pod& nominated) {
    const Slot slot = state_->entries.find(nominated);
    // Parity: of a pod in flight only the name is known here, so it weighs nothing.
    pods.push_back(slot == kNoSlot ? state_->nominations.name_only(nominated)
                                   : state_->entries[slot].queued.pod);
  });
  return pods;
}

const std::vector<Symbol>& SchedulingQueue::nominated_nodes() const {
  return state_->nominations.nodes();
}

std::uint64_t SchedulingQueue::nomination_log_end() const { return state_->nominations.log_end(); }

std::optional<std::span<const Symbol>> SchedulingQueue::nominations_since(
    std::uint64_t position) const {
  return state_->nominations.changes_since(position);
}

bool SchedulingQueue::is_nominated(const Uid& uid) const {
  return state_->nominations.contains(uid);
}

void SchedulingQueue::nominate(const Pod& pod, const std::optional<Nominating>& nominating) {
  state_->nominations.add(pod, nominating);
}

void SchedulingQueue::remove_nomination(const Uid& uid) { state_->nominations.remove(uid); }

// ---- looking ----------------------------------------------------------------------------------

QueueSizes SchedulingQueue::sizes() const {
  return {.active = state_->active.size(),
          .backoff = state_->backoff.size(),
          .unschedulable = state_->unschedulable.size() - state_->unschedulable.gated(),
          .gated = state_->unschedulable.gated(),
          .in_flight = state_->in_flight.pods(),
          .in_flight_events = state_->in_flight.events()};
}

QueuePlace SchedulingQueue::place(const Pod& pod) const {
  const Slot slot = state_->entries.find(pod);
  return slot == kNoSlot ? QueuePlace::kNowhere : state_->entries[slot].place;
}

bool SchedulingQueue::in_flight(const Uid& uid) const { return state_->in_flight.contains(uid); }

const QueuedPod* SchedulingQueue::find(const Pod& pod) const {
  const Slot slot = state_->entries.find(pod);
  return slot == kNoSlot ? nullptr : &state_->entries[slot].queued;
}

const std::optional<std::string>& SchedulingQueue::hint_difference() const {
  return state_->hint_difference;
}

void SchedulingQueue::for_each(
    const std::function<void(const QueuedPod&, QueuePlace)>& visit) const {
  state_->entries.for_each([&](Slot slot) {
    const QueueEntry& entry = state_->entries[slot];
    visit(entry.queued, entry.place);
  });
}

}  // namespace berth
