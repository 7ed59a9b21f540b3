#include "queue/scheduling_queue.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace berth {

SchedulingQueue::SchedulingQueue(Loop& loop, const Cluster& cluster, QueueOptions options,
                                 Observer& observer)
    : loop_(loop),
      options_(options),
      observer_(observer),
      measured_(observer.measuring()),
      add_label_(events::kUnscheduledPodAdd.label()),
      order_(observer),
      hints_(cluster.symbol_table(), observer),
      gating_(hints_, observer),
      active_(ByOrder{this}),
      backoff_(entries_, order_, options_),
      unschedulable_(entries_, hints_),
      in_flight_(measured_),
      nominations_(cluster) {}

SchedulingQueue::~SchedulingQueue() {
  if (backoff_timer_) loop_.cancel(*backoff_timer_);
  if (unschedulable_timer_) loop_.cancel(*unschedulable_timer_);
}

void SchedulingQueue::set_profiles(const QueueSortPlugin& sort,
                                   std::vector<QueueProfile> profiles) {
  order_.set_sort(sort);
  hints_.set_profiles(std::move(profiles));
  gating_.measure_profiles();
}

// ---- from ingest ------------------------------------------------------------------------------

void SchedulingQueue::add(Ref<const Pod> pod) {
  Operation operation(*this);
  if (queues_as_group(*pod))
    groups_->add(std::move(pod));
  else
    enter(std::move(pod));
  operation.finish();
}

void SchedulingQueue::update(const Pod& before, Ref<const Pod> after) {
  Operation operation(*this);
  const Ref<const Pod> held(&before);
  if (in_flight_.contains(after->uid())) {
    // Should it come back, it comes as the cluster shows it then; only the events have to be kept.
    // Parity: the hints of other pods in flight are asked about these events, too.
    for (const ClusterEvent& event : pod_update_events(before, *after, EventResource::kTargetPod))
      in_flight_.record(event, held, after);
  } else if (queues_as_group(*after)) {
    groups_->update(held, std::move(after));
  } else if (const Slot slot = entries_.find(before); slot == kNoSlot) {
    enter(std::move(after));
  } else if (const Pod& queued = entries_[slot].pod(); queued.uid() != after->uid()) {
    // Parity: upstream finds no fault with a pod in the active or the backoff queue.
    if (entries_[slot].place == QueuePlace::kUnschedulable)
      observer_.internal_error(
          fmt::format("Failed to update pod in an entity {}: pod UID mismatch, expected {}, got {}",
                      queued.full_name(), queued.uid_text(), after->uid_text()));
    enter(std::move(after));
  } else {
    update_queued(slot, held, after);
  }
  operation.finish();
}

void SchedulingQueue::remove(const Pod& pod) {
  Operation operation(*this);
  const Ref<const Pod> held(&pod);
  nominations_.remove(pod.uid());
  if (queues_as_group(pod)) {
    groups_->remove(pod);
  } else if (const Slot slot = entries_.find(pod); slot != kNoSlot) {
    leave(slot);
    count_rejectors(entries_.take(slot), -1);
  }
  operation.finish();
}

void SchedulingQueue::put_group(Ref<const PodGroup> group) {
  if (!groups_) return;
  Operation operation(*this);
  groups_->put_group(std::move(group));
  operation.finish();
}

void SchedulingQueue::remove_group(const PodGroup& group) {
  if (!groups_) return;
  Operation operation(*this);
  groups_->remove_group(group);
  operation.finish();
}

void SchedulingQueue::move_all(const ClusterEvent& event, const AnyObject& before,
                               const AnyObject& after,
                               const std::function<bool(const Pod&)>& only) {
  if (!hints_.concerns_anyone(event)) return;
  Operation operation(*this);
  move_all({.event = event, .before = before, .after = after, .only = only});
  if (groups_) groups_->event(event, before, after);
  operation.finish();
}

// ---- from the scheduling cycle ----------------------------------------------------------------

std::optional<QueuedPod> SchedulingQueue::pop() {
  Operation operation(*this);
  std::optional<QueuedPod> popped;
  while (!popped && ready()) {
    const bool early = active_.empty();
    const Slot slot = early ? backoff_.first_rejected() : active_.top();
    if (groups_ && groups_->is_group(slot)) {
      popped = groups_->pop(slot);
      continue;
    }
    if (early)
      report_queued(entries_[slot].pod(), QueueName::kActive, kPopFromBackoff, std::nullopt);
    leave(slot);
    popped = entries_.take(slot);
    nominations_.moved(popped->pod->uid());
    count_rejectors(*popped, -1);
    ++popped->attempts;
    if (in_flight_.begin(popped->pod->uid())) break;
    observer_.internal_error(
        fmt::format("Discarding the popped entity: the same pod is tracked in multiple places in "
                    "the scheduler: {}",
                    popped->pod->full_name()));
    popped.reset();
  }
  operation.finish();
  return popped;
}

Result<void> SchedulingQueue::return_failed(QueuedPod queued) {
  if (queues_as_group(*queued.pod)) {
    Operation operation(*this);
    Result<void> returned = groups_->return_failed(std::move(queued));
    operation.finish();
    return returned;
  }
  const Uid uid = queued.pod->uid();
  if (const Slot slot = entries_.find(*queued.pod); slot != kNoSlot) {
    in_flight_.end(uid);
    const QueuePlace place = entries_[slot].place;
    return fail(ErrorKind::kConflict,
                fmt::format("Pod {} is already present in {} queue", queued.pod->full_name(),
                            place == QueuePlace::kUnschedulable ? "unschedulable"
                            : place == QueuePlace::kActive      ? "the active"
                                                                : "the backoff"));
  }
  Operation operation(*this);
  Requeue strategy = Requeue::kAfterBackoff;
  if (queued.has_rejectors()) {
    ++queued.unschedulable_count;
    queued.consecutive_errors = 0;
    const auto consider = [&](const MissedEvent& missed) {
      const Requeue worth =
          hints_.worth_requeuing(queued, missed.event, missed.before, missed.after);
      if (worth != Requeue::kSkip) strategy = worth;
      return worth == Requeue::kSkip ||
             (worth == Requeue::kAfterBackoff && !queued.pending_plugins.empty());
    };
    const std::uint32_t profile = hints_.profile_of(*queued.pod);
    const auto wants = [&](const ClusterEvent& event) {
      return !hints_.questions(profile, queued.unschedulable_plugins, queued.pending_plugins, event)
                  .none();
    };
    strategy = Requeue::kSkip;
    if (!in_flight_.for_each_missed(uid, wants, consider)) strategy = Requeue::kAfterBackoff;
  } else {
    ++queued.consecutive_errors;
  }
  in_flight_.end(uid);
  queued.timestamp = now();
  queued.sequence = ++last_sequence_;
  queued.backoff_expiration.reset();
  queued.flushed.reset();
  queued.tried_after_flush = false;
  count_rejectors(queued, +1);
  const Slot slot = entries_.insert(std::move(queued));
  nominations_.moved(uid);
  requeue(slot, strategy, kScheduleAttemptFailure);
  operation.finish();
  return {};
}

void SchedulingQueue::group_attempted(QueuedPod entity, const std::set<Uid>& members,
                                      GroupEnd end) {
  Operation operation(*this);
  groups_->attempted(std::move(entity), members, end);
  operation.finish();
}

void SchedulingQueue::activate(std::span<const Ref<const Pod>> pods) {
  if (open_operations_ > 0) {
    activated_meanwhile_.insert(activated_meanwhile_.end(), pods.begin(), pods.end());
    return;
  }
  Operation operation(*this);
  for (const Ref<const Pod>& pod : pods) activate_pod(pod);
  operation.finish();
}

// ---- nominations ------------------------------------------------------------------------------

std::vector<Ref<const Pod>> SchedulingQueue::nominated_pods(Symbol node) const {
  std::vector<Ref<const Pod>> pods;
  nominations_.for_each(node, [&](const Pod& nominated) {
    if (queues_as_group(nominated)) {
      const QueuedPod* member = groups_->find(nominated);
      pods.push_back(member ? member->pod : nominations_.name_only(nominated));
      return;
    }
    const Slot slot = entries_.find(nominated);
    // Parity: of a pod in flight only the name is known here, so it weighs nothing.
    pods.push_back(slot == kNoSlot ? nominations_.name_only(nominated) : entries_[slot].queued.pod);
  });
  return pods;
}

// ---- looking ----------------------------------------------------------------------------------

QueueSizes SchedulingQueue::sizes() const {
  const GroupSizes none;
  const GroupSizes& groups = groups_ ? groups_->sizes() : none;
  return {.active = active_.size() - groups.active_groups + groups.active,
          .backoff = backoff_.size() - groups.backoff_groups + groups.backoff,
          .unschedulable = unschedulable_.size() - unschedulable_.gated(),
          .gated = unschedulable_.gated() + groups.gated,
          .in_flight = in_flight_.pods(),
          .in_flight_events = in_flight_.events(),
          .incomplete = groups.incomplete,
          .pending = groups.pending};
}

QueuePlace SchedulingQueue::place(const Pod& pod) const {
  if (queues_as_group(pod)) return groups_->place(pod);
  const Slot slot = entries_.find(pod);
  return slot == kNoSlot ? QueuePlace::kNowhere : entries_[slot].place;
}

const QueuedPod* SchedulingQueue::find(const Pod& pod) const {
  if (queues_as_group(pod)) return groups_->find(pod);
  const Slot slot = entries_.find(pod);
  return slot == kNoSlot ? nullptr : &entries_[slot].queued;
}

std::optional<WallTime> SchedulingQueue::waits_until(const Pod& pod) const {
  if (queues_as_group(pod)) return groups_->waits_until(pod);
  const Slot slot = entries_.find(pod);
  if (slot == kNoSlot) return std::nullopt;
  const QueueEntry& entry = entries_[slot];
  const QueuedPod& queued = entry.queued;
  if (entry.place == QueuePlace::kBackoff || entry.place == QueuePlace::kErrorBackoff)
    return queued.backoff_expiration;
  if (entry.place != QueuePlace::kUnschedulable || queued.gated()) return std::nullopt;
  return std::max(queued.timestamp, queued.flushed.value_or(queued.timestamp)) +
         options_.max_unschedulable;
}

std::vector<std::string> SchedulingQueue::missed_events(const Uid& uid) const {
  std::vector<std::string> labels;
  const auto any = [](const ClusterEvent&) { return true; };
  in_flight_.for_each_missed(uid, any, [&](const MissedEvent& missed) {
    std::string label = missed.event.label();
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(std::move(label));
    return true;
  });
  return labels;
}

void SchedulingQueue::for_each(
    const std::function<void(const QueuedPod&, QueuePlace)>& visit) const {
  entries_.for_each([&](Slot slot) {
    if (groups_ && groups_->is_group(slot)) return;
    const QueueEntry& entry = entries_[slot];
    visit(entry.queued, entry.place);
  });
  if (groups_) groups_->for_each(visit);
}

}  // namespace berth
