// How an entry of the queue gets from one place to another (core.md §5.7–§5.10).
#include <string>

#include "queue/state.h"

namespace berth {

SchedulingQueue::State::State(Loop& world_loop, const Cluster& cluster, const QueueOptions& wanted,
                              Observer& watcher)
    : loop(world_loop),
      options(wanted),
      observer(watcher),
      measured(watcher.measuring()),
      add_label(events::kUnscheduledPodAdd.label()),
      order(observer),
      hints(cluster.symbol_table(), observer),
      gating(hints, observer),
      active(ByOrder{this}),
      backoff(entries, order, options),
      unschedulable(entries, hints),
      in_flight(measured),
      nominations(cluster) {}

void SchedulingQueue::State::Operation::finish() {
  finished_ = true;
  if (--state_.open_operations > 0) return;
  if (!state_.activated_meanwhile.empty()) {
    const auto pods = std::exchange(state_.activated_meanwhile, {});
    Operation activation(state_);
    for (const Ref<const Pod>& pod : pods) state_.activate(pod);
    activation.finish();  // calls on_ready, too
    return;
  }
  if (state_.measured) {
    const std::size_t gated = state_.unschedulable.gated();
    state_.measured->pending_pods({.active = state_.active.size(),
                                   .backoff = state_.backoff.size(),
                                   .unschedulable = state_.unschedulable.size() - gated,
                                   .gated = gated});
  }
  const bool tell = std::exchange(state_.woken, false) && state_.ready();
  if (tell && state_.on_ready) state_.on_ready();
}

bool SchedulingQueue::State::ready() const {
  return !active.empty() || (options.pop_from_backoff && backoff.has_rejected());
}

void SchedulingQueue::State::count_rejectors(const QueuedPod& queued, int change) const {
  if (!measured || !queued.has_rejectors()) return;
  const std::string_view profile = queued.pod->text(queued.pod->scheduler_name());
  for (const std::string& plugin : queued.unschedulable_plugins)
    measured->rejector_changed(profile, plugin, change);
  for (const std::string& plugin : queued.pending_plugins)
    if (!queued.unschedulable_plugins.contains(plugin))
      measured->rejector_changed(profile, plugin, change);
}

void SchedulingQueue::State::enter(Ref<const Pod> pod) {
  // Before PreEnqueue: a gated pod is nominated, too.
  nominations.add(*pod, std::nullopt);
  QueuedPod queued;
  queued.pod = std::move(pod);
  queued.timestamp = now();
  queued.sequence = ++last_sequence;
  gating.run_pre_enqueue_plugins(queued);
  Slot slot = entries.find(*queued.pod);
  if (slot == kNoSlot) {
    slot = entries.insert(std::move(queued));
  } else {  // another pod of that name: it is replaced
    if (!queued.gated() || entries[slot].place != QueuePlace::kUnschedulable) leave(slot);
    count_rejectors(entries[slot].queued, -1);
    entries[slot].queued = std::move(queued);
  }
  nominations.moved(entries[slot].pod().uid());
  // The plugins have just been asked.
  if (entries[slot].queued.gated())
    move_to_unschedulable(slot, add_label, std::nullopt);
  else
    move_to_active(slot, add_label, /*ask_plugins=*/false);
}

void SchedulingQueue::State::requeue(Slot slot, Requeue strategy, std::string_view label) {
  if (strategy == Requeue::kSkip)
    move_to_unschedulable(slot, label, strategy);
  else if (strategy == Requeue::kAfterBackoff && backoff.backing_off(entries[slot].queued, now()))
    move_to_backoff(slot, label, strategy);
  else
    move_to_active(slot, label, /*ask_plugins=*/true, strategy);
}

void SchedulingQueue::State::report_queued(const Pod& pod, QueueName queue, std::string_view label,
                                           std::optional<Requeue> strategy) const {
  observer.queued(pod, queue, label);
  if (!measured) return;
  // Parity: the strategy is taken for the queue that the pod was in, so an entry into the queue that
  // it names is not counted: neither a failed pod that comes back, nor a move to backoff.
  if (strategy == Requeue::kImmediately && queue == QueueName::kActive) return;
  if (strategy == Requeue::kAfterBackoff && queue == QueueName::kBackoff) return;
  if (strategy == Requeue::kSkip && queue >= QueueName::kUnschedulable) return;
  measured->entity_queued(QueuedEntity::kPod, queue, label);
}

bool SchedulingQueue::State::move_to_active(Slot slot, std::string_view label, bool ask_plugins,
                                            std::optional<Requeue> strategy) {
  QueueEntry& entry = entries[slot];
  if (ask_plugins) gating.run_pre_enqueue_plugins(entry.queued);
  if (entry.queued.gated()) {
    move_to_unschedulable(slot, label, strategy);
    return false;
  }
  if (!entry.queued.initial_attempt) entry.queued.initial_attempt = now();
  leave(slot);
  active.push(slot);
  entry.place = QueuePlace::kActive;
  woken = true;
  report_queued(entry.pod(), QueueName::kActive, label, strategy);
  return true;
}

bool SchedulingQueue::State::move_to_backoff(Slot slot, std::string_view label,
                                             std::optional<Requeue> strategy) {
  QueueEntry& entry = entries[slot];
  // A pod that can be popped from the backoff queue must pass PreEnqueue first.
  if (options.pop_from_backoff) {
    gating.run_pre_enqueue_plugins(entry.queued);
    if (entry.queued.gated()) {
      move_to_unschedulable(slot, label, strategy);
      return false;
    }
  }
  leave(slot);
  backoff.push(slot);
  if (options.pop_from_backoff && entry.place == QueuePlace::kBackoff) woken = true;
  report_queued(entry.pod(), QueueName::kBackoff, label, strategy);
  arm_backoff_flush();
  return true;
}

void SchedulingQueue::State::move_to_unschedulable(Slot slot, std::string_view label,
                                                   std::optional<Requeue> strategy) {
  QueueEntry& entry = entries[slot];
  if (entry.queued.gated()) entry.queued.tried_after_flush = false;
  const bool enters = entry.place != QueuePlace::kUnschedulable;
  if (enters) leave(slot);
  unschedulable.put(slot);
  if (enters)
    report_queued(entry.pod(), entry.queued.gated() ? QueueName::kGated : QueueName::kUnschedulable,
                  label, strategy);
  arm_unschedulable_flush();
}

void SchedulingQueue::State::leave(Slot slot) {
  QueueEntry& entry = entries[slot];
  switch (entry.place) {
    case QueuePlace::kNowhere: break;
    case QueuePlace::kActive: active.remove(slot); break;
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff: backoff.remove(slot); break;
    case QueuePlace::kUnschedulable: unschedulable.remove(slot); break;
  }
  entry.place = QueuePlace::kNowhere;
}

void SchedulingQueue::State::update_queued(Slot slot, const Ref<const Pod>& before,
                                           const Ref<const Pod>& after) {
  QueueEntry& entry = entries[slot];
  entry.queued.pod = after;
  nominations.update(*before, *after);
  if (entry.place == QueuePlace::kActive) {
    active.fix(slot);
  } else if (entry.place != QueuePlace::kUnschedulable) {
    backoff.fix(slot);
  } else {
    unschedulable.put(slot);  // it may be of another class now
    for (const ClusterEvent& event :
         pod_update_events(*before, *after, EventResource::kTargetPod)) {
      // Also for a gated pod a hint must return Queue before PreEnqueue is run.
      requeue(slot, hints.worth_requeuing(entry.queued, event, before, after), event.label());
      if (entry.place != QueuePlace::kUnschedulable) break;
    }
  }
}

void SchedulingQueue::State::activate(const Ref<const Pod>& pod) {
  if (const Slot slot = entries.find(*pod); slot != kNoSlot) {
    const QueuePlace place = entries[slot].place;
    const std::string_view label = events::kForceActivate.custom_label;
    if (place == QueuePlace::kUnschedulable && move_to_active(slot, label)) return;
    if (place == QueuePlace::kBackoff || place == QueuePlace::kErrorBackoff) {
      leave(slot);
      // With pop_from_backoff, pods in backoff passed PreEnqueue when they entered it.
      if (move_to_active(slot, label, !options.pop_from_backoff)) return;
    }
  }
  if (in_flight.contains(pod->uid())) in_flight.record(events::kForceActivate, {}, pod);
}

}  // namespace berth
