// The queue's timers: backoffs end, and no pod stays unschedulable for ever.
//
// Both flushes are housekeeping timers, armed only while there are pods to flush. They read the
// clock each time they run, because a timer may be late and the wall clock may jump.
#include <algorithm>
#include <chrono>

#include "queue/scheduling_queue.h"

namespace berth {
namespace {

using std::chrono::seconds;

constexpr Duration kBackoffPeriod = seconds(1);
constexpr Duration kUnschedulablePeriod = seconds(30);
// Smaller steps back of the wall clock are ignored.
constexpr Duration kClockTolerance = seconds(1);

// How long until the next multiple of `period`.
Duration until_next(Duration elapsed, Duration period) {
  const Duration into = elapsed % period;
  return into < Duration::zero() ? -into : period - into;
}

}  // namespace

void SchedulingQueue::run() {
  if (running_since_) return;
  running_since_ = loop_.now();
  arm_backoff_flush();
  arm_unschedulable_flush();
}

void SchedulingQueue::arm_backoff_flush() {
  if (!running_since_ || backoff_timer_ || backoff_ended_ || backoff_.empty()) return;
  // Waits that end at whole seconds are looked at when a second is full.
  const Duration elapsed =
      options_.pop_from_backoff ? loop_.wall_now().since_epoch : loop_.now() - *running_since_;
  backoff_timer_ = loop_.after(
      until_next(elapsed, kBackoffPeriod), [this] { flush_backoff(); }, TimerKind::kHousekeeping);
}

void SchedulingQueue::arm_unschedulable_flush() {
  if (!running_since_ || unschedulable_timer_ || unschedulable_.empty()) return;
  const Duration wait = until_next(loop_.now() - *running_since_, kUnschedulablePeriod);
  unschedulable_timer_ =
      loop_.after(wait, [this] { flush_unschedulable(); }, TimerKind::kHousekeeping);
}

WallTime SchedulingQueue::read_clock() {
  const WallTime read = loop_.wall_now();
  moment_ = read;
  // Compared with the monotonic clock, a wall clock that was set back is behind.
  const Duration ahead = read.since_epoch - loop_.now().since_start;
  if (ahead + kClockTolerance < wall_clock_ahead_) {
    clock_set_back();
    wall_clock_ahead_ = ahead;
  }
  wall_clock_ahead_ = std::max(wall_clock_ahead_, ahead);
  return read;
}

// Timestamps that are in the future now would keep their pods waiting for as long as the clock was
// set back. They are set to the present. This leaves the order of pods as it was: pods with such
// timestamps entered the queue after all others, and among them the sequence number decides. Many
// pods take several slices; a pod that was not reached yet sorts behind those that were.
void SchedulingQueue::clock_set_back() {
  clock_repair_ = ClockRepair{.present = now(), .next = 0, .end = entries_.slots()};
  repair_timestamps(kAtOnce);
  if (clock_repair_) post_slice();
}

void SchedulingQueue::repair_timestamps(std::size_t count) {
  const WallTime latest = now();  // may find that the clock was set back again
  if (!clock_repair_) return;
  ClockRepair& repair = *clock_repair_;
  for (; repair.next < repair.end && count > 0; ++repair.next, --count) {
    if (!entries_.used(repair.next)) continue;
    QueueEntry& entry = entries_[repair.next];
    QueuedPod& queued = entry.queued;
    if (queued.flushed && *queued.flushed > latest) queued.flushed = repair.present;
    if (queued.timestamp <= latest) continue;  // it came since then
    queued.timestamp = repair.present;
    queued.backoff_expiration.reset();
    if (entry.place == QueuePlace::kActive) active_.fix(repair.next);
    if (entry.place == QueuePlace::kBackoff || entry.place == QueuePlace::kErrorBackoff)
      backoff_.restart(repair.next);
  }
  if (repair.next == repair.end) clock_repair_.reset();
}

}  // namespace berth
