// How an entry of the queue gets from one place to another (core.md §5.7–§5.10).
#include <string>

#include "queue/scheduling_queue.h"

namespace berth {

void SchedulingQueue::Operation::finish() {
  finished_ = true;
  if (--queue_.open_operations_ > 0) return;
  if (!queue_.activated_meanwhile_.empty()) {
    const auto pods = std::exchange(queue_.activated_meanwhile_, {});
    Operation activation(queue_);
    for (const Ref<const Pod>& pod : pods) queue_.activate_pod(pod);
    activation.finish();  // calls on_ready, too
    return;
  }
  if (queue_.measured_) {
    const std::size_t gated = queue_.unschedulable_.gated();
    PendingPods pending{.active = queue_.active_.size(),
                        .backoff = queue_.backoff_.size(),
                        .unschedulable = queue_.unschedulable_.size() - gated,
                        .gated = gated};
    if (queue_.groups_) queue_.groups_->add_to(pending);
    queue_.measured_->pending_pods(pending);
  }
  const bool tell = std::exchange(queue_.woken_, false) && queue_.ready();
  if (tell && queue_.on_ready_) queue_.on_ready_();
}

bool SchedulingQueue::ready() const {
  return !active_.empty() || (options_.pop_from_backoff && backoff_.has_rejected());
}

void SchedulingQueue::count_rejectors(const QueuedPod& queued, int change) const {
  if (!measured_ || !queued.has_rejectors()) return;
  const std::string_view profile = queued.pod->text(queued.pod->scheduler_name());
  for (const std::string& plugin : queued.unschedulable_plugins)
    measured_->rejector_changed(profile, plugin, change);
  for (const std::string& plugin : queued.pending_plugins)
    if (!queued.unschedulable_plugins.contains(plugin))
      measured_->rejector_changed(profile, plugin, change);
}

void SchedulingQueue::enter(Ref<const Pod> pod) {
  // Before PreEnqueue: a gated pod is nominated, too.
  nominations_.add(*pod, std::nullopt);
  QueuedPod queued;
  queued.pod = std::move(pod);
  queued.timestamp = now();
  queued.sequence = ++last_sequence_;
  gating_.run_pre_enqueue_plugins(queued);
  Slot slot = entries_.find(*queued.pod);
  if (slot == kNoSlot) {
    slot = entries_.insert(std::move(queued));
  } else {  // another pod of that name: it is replaced
    if (!queued.gated() || entries_[slot].place != QueuePlace::kUnschedulable) leave(slot);
    count_rejectors(entries_[slot].queued, -1);
    entries_[slot].queued = std::move(queued);
  }
  nominations_.moved(entries_[slot].pod().uid());
  // The plugins have just been asked.
  if (entries_[slot].queued.gated())
    move_to_unschedulable(slot, add_label_, std::nullopt);
  else
    move_to_active(slot, add_label_, /*ask_plugins=*/false);
}

void SchedulingQueue::requeue(Slot slot, Requeue strategy, std::string_view label) {
  if (strategy == Requeue::kSkip)
    move_to_unschedulable(slot, label, strategy);
  else if (strategy == Requeue::kAfterBackoff && backoff_.backing_off(entries_[slot].queued, now()))
    move_to_backoff(slot, label, strategy);
  else
    move_to_active(slot, label, /*ask_plugins=*/true, strategy);
}

void SchedulingQueue::report_queued(const Pod& pod, QueueName queue, std::string_view label,
                                    std::optional<Requeue> strategy) const {
  observer_.queued(pod, queue, label);
  if (!measured_) return;
  // Parity: the strategy is taken for the queue that the pod was in, so an entry into the queue that
  // it names is not counted: neither a failed pod that comes back, nor a move to backoff.
  if (strategy == Requeue::kImmediately && queue == QueueName::kActive) return;
  if (strategy == Requeue::kAfterBackoff && queue == QueueName::kBackoff) return;
  if (strategy == Requeue::kSkip && queue >= QueueName::kUnschedulable) return;
  measured_->entity_queued(QueuedEntity::kPod, queue, label);
}

bool SchedulingQueue::move_to_active(Slot slot, std::string_view label, bool ask_plugins,
                                     std::optional<Requeue> strategy) {
  if (groups_ && groups_->is_group(slot)) {
    groups_->move_to_active(slot, label, ask_plugins);
    return true;
  }
  QueueEntry& entry = entries_[slot];
  if (ask_plugins) gating_.run_pre_enqueue_plugins(entry.queued);
  if (entry.queued.gated()) {
    move_to_unschedulable(slot, label, strategy);
    return false;
  }
  if (!entry.queued.initial_attempt) entry.queued.initial_attempt = now();
  leave(slot);
  active_.push(slot);
  entry.place = QueuePlace::kActive;
  woken_ = true;
  report_queued(entry.pod(), QueueName::kActive, label, strategy);
  return true;
}

bool SchedulingQueue::move_to_backoff(Slot slot, std::string_view label,
                                      std::optional<Requeue> strategy) {
  QueueEntry& entry = entries_[slot];
  // A pod that can be popped from the backoff queue must pass PreEnqueue first.
  if (options_.pop_from_backoff) {
    gating_.run_pre_enqueue_plugins(entry.queued);
    if (entry.queued.gated()) {
      move_to_unschedulable(slot, label, strategy);
      return false;
    }
  }
  leave(slot);
  backoff_.push(slot);
  if (options_.pop_from_backoff && entry.place == QueuePlace::kBackoff) woken_ = true;
  report_queued(entry.pod(), QueueName::kBackoff, label, strategy);
  arm_backoff_flush();
  return true;
}

void SchedulingQueue::move_to_unschedulable(Slot slot, std::string_view label,
                                            std::optional<Requeue> strategy) {
  QueueEntry& entry = entries_[slot];
  if (entry.queued.gated()) entry.queued.tried_after_flush = false;
  const bool enters = entry.place != QueuePlace::kUnschedulable;
  if (enters) leave(slot);
  unschedulable_.put(slot);
  if (enters)
    report_queued(entry.pod(), entry.queued.gated() ? QueueName::kGated : QueueName::kUnschedulable,
                  label, strategy);
  arm_unschedulable_flush();
}

void SchedulingQueue::leave(Slot slot) {
  QueueEntry& entry = entries_[slot];
  switch (entry.place) {
    case QueuePlace::kNowhere: break;
    case QueuePlace::kActive: active_.remove(slot); break;
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff: backoff_.remove(slot); break;
    case QueuePlace::kUnschedulable: unschedulable_.remove(slot); break;
  }
  entry.place = QueuePlace::kNowhere;
}

void SchedulingQueue::update_queued(Slot slot, const Ref<const Pod>& before,
                                    const Ref<const Pod>& after) {
  QueueEntry& entry = entries_[slot];
  entry.queued.pod = after;
  nominations_.update(*before, *after);
  if (entry.place == QueuePlace::kActive) {
    active_.fix(slot);
  } else if (entry.place != QueuePlace::kUnschedulable) {
    backoff_.fix(slot);
  } else {
    unschedulable_.put(slot);  // it may be of another class now
    for (const ClusterEvent& event :
         pod_update_events(*before, *after, EventResource::kTargetPod)) {
      // Also for a gated pod a hint must return Queue before PreEnqueue is run.
      requeue(slot, hints_.worth_requeuing(entry.queued, event, before, after), event.label());
      if (entry.place != QueuePlace::kUnschedulable) break;
    }
  }
}

void SchedulingQueue::activate_pod(const Ref<const Pod>& pod) {
  if (queues_as_group(*pod)) return groups_->activate(pod);
  if (const Slot slot = entries_.find(*pod); slot != kNoSlot) {
    const QueuePlace place = entries_[slot].place;
    const std::string_view label = events::kForceActivate.custom_label;
    if (place == QueuePlace::kUnschedulable && move_to_active(slot, label)) return;
    if (place == QueuePlace::kBackoff || place == QueuePlace::kErrorBackoff) {
      leave(slot);
      // With pop_from_backoff, pods in backoff passed PreEnqueue when they entered it.
      if (move_to_active(slot, label, !options_.pop_from_backoff)) return;
    }
  }
  if (in_flight_.contains(pod->uid())) in_flight_.record(events::kForceActivate, {}, pod);
}

}  // namespace berth
