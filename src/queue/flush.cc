// What time does to the queue: backoffs end, and nobody stays unschedulable for ever.
//
// Both flushes are housekeeping, and only armed while there is somebody to flush. They compare with
// the clock each time they run, and trust neither the timer nor the clock to go on evenly.
#include <algorithm>
#include <chrono>

#include "queue/state.h"

namespace berth {
namespace {

using std::chrono::seconds;

constexpr Duration kBackoffPeriod = seconds(1);
constexpr Duration kUnschedulablePeriod = seconds(30);
// A clock may be nudged by less than this without anybody noticing.
constexpr Duration kClockTolerance = seconds(1);

// How long until the next multiple of `period`.
Duration until_next(Duration elapsed, Duration period) {
  const Duration into = elapsed % period;
  return into < Duration::zero() ? -into : period - into;
}

}  // namespace

SchedulingQueue::State::~State() {
  if (backoff_timer) loop.cancel(*backoff_timer);
  if (unschedulable_timer) loop.cancel(*unschedulable_timer);
}

void SchedulingQueue::State::run() {
  if (running_since) return;
  running_since = loop.now();
  arm_backoff_flush();
  arm_unschedulable_flush();
}

void SchedulingQueue::State::arm_backoff_flush() {
  if (!running_since || backoff_timer || backoff_ended || backoff.empty()) return;
  // Waits that end at whole seconds are looked at when a second is full.
  const Duration elapsed =
      options.pop_from_backoff ? loop.wall_now().since_epoch : loop.now() - *running_since;
  backoff_timer = loop.after(
      until_next(elapsed, kBackoffPeriod), [this] { flush_backoff(); }, TimerKind::kHousekeeping);
}

void SchedulingQueue::State::arm_unschedulable_flush() {
  if (!running_since || unschedulable_timer || unschedulable.empty()) return;
  const Duration wait = until_next(loop.now() - *running_since, kUnschedulablePeriod);
  unschedulable_timer =
      loop.after(wait, [this] { flush_unschedulable(); }, TimerKind::kHousekeeping);
}

WallTime SchedulingQueue::State::read_clock() {
  const WallTime read = loop.wall_now();
  moment = read;
  // The monotonic clock tells a clock that was set back from one that just goes on.
  const Duration ahead = read.since_epoch - loop.now().since_start;
  if (ahead + kClockTolerance < wall_clock_ahead) {
    clock_set_back();
    wall_clock_ahead = ahead;
  }
  wall_clock_ahead = std::max(wall_clock_ahead, ahead);
  return read;
}

// Timestamps that are in the future now would keep their pods waiting for as long as the clock was
// set back. They become the present, which leaves the order of pods as it was: whoever has such a
// timestamp came after whoever has not, and among them the order of arrival decides.
void SchedulingQueue::State::clock_set_back() {
  const WallTime present = now();
  entries.for_each([&](Slot slot) {
    QueuedPod& queued = entries[slot].queued;
    if (queued.flushed) queued.flushed = std::min(*queued.flushed, present);
    if (queued.timestamp <= present) return;
    queued.timestamp = present;
    queued.backoff_expiration.reset();
  });
  const std::vector<Slot> slots = active.slots();
  for (const Slot slot : slots) active.remove(slot);
  for (const Slot slot : slots) active.push(slot);
  backoff.rebuild();
}

}  // namespace berth
