// What a SchedulingQueue is made of, and the transitions between its parts.
//
//   scheduling_queue.cc  the public operations
//   transitions.cc       how an entry gets from one place to another
//   flush.cc             what time does to it
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/indexed_heap.h"
#include "queue/backoff.h"
#include "queue/entries.h"
#include "queue/gating.h"
#include "queue/hints.h"
#include "queue/in_flight.h"
#include "queue/nominations.h"
#include "queue/pod_order.h"
#include "queue/scheduling_queue.h"
#include "queue/unschedulable.h"

namespace berth {

// Upstream's labels of why a pod entered a queue, besides those of events.
namespace queue_label {
inline constexpr std::string_view kScheduleAttemptFailure = "ScheduleAttemptFailure";
inline constexpr std::string_view kBackoffComplete = "BackoffComplete";
inline constexpr std::string_view kPopFromBackoff = "PopFromBackoffQ";
}  // namespace queue_label

struct SchedulingQueue::State {
  State(Loop& loop, const Cluster& cluster, const QueueSortPlugin& sort,
        std::vector<QueueProfile> profiles, const QueueOptions& options, Observer& observer);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  struct ByOrder {
    const State* state;
    bool operator()(Slot a, Slot b) const {
      return state->order.before(state->entries[a].queued, state->entries[b].queued);
    }
  };

  Loop& loop;
  const QueueOptions options;
  Observer& observer;
  Measurements* const measured;
  const std::string add_label;     // of a pod that arrived
  const std::string update_label;  // of a pod of which something changed

  const PodOrder order;
  const Hints hints;
  const Gating gating;
  Entries entries;
  IndexedHeap<ByOrder> active;
  BackoffQueue backoff;
  UnschedulablePods unschedulable;
  InFlight in_flight;
  Nominations nominations;
  std::uint64_t last_sequence = 0;

  // ---- operations: the time they begin at, and what happens once they are over
  class Operation;
  WallTime now;                                 // of the operation at hand
  Duration wall_clock_ahead = Duration::min();  // of the monotonic clock, at most so far
  int open_operations = 0;
  bool woken = false;  // something became poppable
  Callback on_ready;
  // Plugins that are asked something in the middle of an operation may activate pods.
  std::vector<Ref<const Pod>> activated_meanwhile;

  // ---- transitions (transitions.cc)
  bool ready() const;
  // The pod counts once more, or once less, under each plugin that turned it away.
  void count_rejectors(const QueuedPod& queued, int change) const;
  // A pod that nobody knew.
  void enter(Ref<const Pod> pod, std::string_view label);
  // Where the strategy and the plugins want it.
  void requeue(Slot slot, Requeue strategy, std::string_view label);
  bool move_to_active(Slot slot, std::string_view label, bool ask_plugins = true);
  bool move_to_backoff(Slot slot, std::string_view label);
  void move_to_unschedulable(Slot slot, std::string_view label);
  // Takes the entry out of whatever it is in; it is nowhere then, but not forgotten.
  void leave(Slot slot);
  void update_queued(Slot slot, const Ref<const Pod>& before, const Ref<const Pod>& after);
  void activate(const Ref<const Pod>& pod);
  // Those in `moving` leave the unschedulable, and the event is remembered for pods in flight.
  void move(const ClusterEvent& event, const AnyObject& before, const AnyObject& after);
  std::vector<std::pair<Slot, Requeue>> moving;

  // ---- time (flush.cc)
  void read_clock();
  void clock_set_back();
  void run();
  void arm_backoff_flush();
  void arm_unschedulable_flush();
  void flush_backoff();
  void flush_unschedulable();
  std::optional<TimePoint> running_since;
  std::optional<TimerId> backoff_timer;
  std::optional<TimerId> unschedulable_timer;
};

// One change of the queue, from its first line to finish(). Whoever waits for pods hears of them
// after it, when everything is in its place again.
class SchedulingQueue::State::Operation {
 public:
  explicit Operation(State& state) : state_(state) {
    ++state_.open_operations;
    state_.read_clock();
  }
  ~Operation() {
    if (finished_) return;
    // Somebody threw: who has not moved yet stays.
    --state_.open_operations;
    state_.moving.clear();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void finish();

 private:
  State& state_;
  bool finished_ = false;
};

}  // namespace berth
