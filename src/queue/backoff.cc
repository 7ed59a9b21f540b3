#include "queue/backoff.h"

#include <chrono>

namespace berth {

Duration backoff_duration(Duration initial, Duration max, std::int32_t count) {
  if (count <= 0 || max <= Duration::zero()) return Duration::zero();
  const int doublings = count - 1;
  // Shifting the limit down instead of the wait up cannot overflow.
  const std::int64_t limit = doublings < 63 ? max.count() >> doublings : 0;
  if (initial.count() > limit) return max;
  return Duration(doublings < 63 ? initial.count() << doublings : 0);
}

BackoffQueue::BackoffQueue(Entries& entries, const PodOrder& order, const QueueOptions& options)
    : entries_(entries),
      order_(order),
      options_(options),
      rejected_(ByEnd{this, options.pop_from_backoff}),
      errors_(ByEnd{this, false}) {}

bool BackoffQueue::ByEnd::operator()(Slot a, Slot b) const {
  const QueuedPod& first = queue->entries_[a].queued;
  const QueuedPod& second = queue->entries_[b].queued;
  // Computed when they were pushed.
  if (first.backoff_expiration != second.backoff_expiration)
    return first.backoff_expiration < second.backoff_expiration;
  return then_by_order ? queue->order_.before(first, second) : first.sequence < second.sequence;
}

WallTime BackoffQueue::aligned(WallTime time) const {
  if (!options_.pop_from_backoff) return time;
  return {std::chrono::floor<std::chrono::seconds>(time.since_epoch)};
}

WallTime BackoffQueue::end_of(QueuedPod& queued, Duration longest) const {
  if (queued.backoff_expiration) return *queued.backoff_expiration;
  // Errors count for themselves: many rejections before do not make an error's wait longer.
  const std::int32_t count =
      queued.consecutive_errors > 0 ? queued.consecutive_errors : queued.unschedulable_count;
  const Duration wait = backoff_duration(options_.initial_backoff, longest, count);
  if (wait == Duration::zero()) return {Duration::min()};  // always over
  queued.backoff_expiration = aligned(queued.timestamp + wait);
  return *queued.backoff_expiration;
}

bool BackoffQueue::backing_off(QueuedPod& queued, WallTime now, Duration longest) const {
  return end_of(queued, longest) >= aligned(now);
}

BackoffQueue::Heap& BackoffQueue::heap_of(Slot slot) {
  return entries_[slot].place == QueuePlace::kErrorBackoff ? errors_ : rejected_;
}

void BackoffQueue::push(Slot slot) {
  QueueEntry& entry = entries_[slot];
  end_of(entry.queued);
  entry.place = entry.queued.has_rejectors() ? QueuePlace::kBackoff : QueuePlace::kErrorBackoff;
  heap_of(slot).push(slot);
}

void BackoffQueue::remove(Slot slot) {
  heap_of(slot).remove(slot);
  entries_[slot].place = QueuePlace::kNowhere;
}

void BackoffQueue::fix(Slot slot) { heap_of(slot).fix(slot); }

void BackoffQueue::take_completed(WallTime now, std::size_t most, std::vector<Slot>& completed) {
  for (Heap* heap : {&rejected_, &errors_})
    while (completed.size() < most && !heap->empty() &&
           !backing_off(entries_[heap->top()].queued, now)) {
      completed.push_back(heap->pop());
      entries_[completed.back()].place = QueuePlace::kNowhere;
    }
}

void BackoffQueue::restart(Slot slot) {
  QueuedPod& queued = entries_[slot].queued;
  queued.backoff_expiration.reset();
  end_of(queued);
  fix(slot);
}

}  // namespace berth
