// What a SchedulingQueue is made of, and the transitions between its parts.
//
//   scheduling_queue.cc  the public operations
//   transitions.cc       how an entry gets from one place to another
//   moves.cc             how many of them do, in slices
//   flush.cc             when time does it
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/indexed_heap.h"
#include "base/lifetime.h"
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
  // How many pods are moved, or checked, within one operation. With more, each turn of the loop
  // processes one slice.
  static constexpr std::size_t kAtOnce = 8192;
  static constexpr std::size_t kSlice = 1024;

  State(Loop& loop, const Cluster& cluster, const QueueOptions& options, Observer& observer);
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
  Observer* const measured;
  const std::string add_label;  // of a pod that arrived

  PodOrder order;
  Hints hints;
  Gating gating;
  Entries entries;
  IndexedHeap<ByOrder> active;
  BackoffQueue backoff;
  UnschedulablePods unschedulable;
  InFlight in_flight;
  Nominations nominations;
  std::uint64_t last_sequence = 0;

  // ---- operations: their time, and what is done when they end
  class Operation;
  std::optional<WallTime> moment;               // of the open operation, once it was read
  Duration wall_clock_ahead = Duration::min();  // of the monotonic clock, at most so far
  int open_operations = 0;
  bool woken = false;  // pop() may return something new
  Callback on_ready;
  // Pods that plugins activated in the middle of an operation.
  std::vector<Ref<const Pod>> activated_meanwhile;

  // ---- transitions (transitions.cc)
  bool ready() const;
  // Counts the pod (+1 or -1) under each plugin that rejected it.
  void count_rejectors(const QueuedPod& queued, int change) const;
  // Adds a pod that is new to the queue, in place of any other of its name.
  void enter(Ref<const Pod> pod);
  // Moves the entry to where the strategy and the plugins say.
  void requeue(Slot slot, Requeue strategy, std::string_view label);
  // `strategy`: the decision that led here, for report_queued; nullopt: always counted.
  bool move_to_active(Slot slot, std::string_view label, bool ask_plugins = true,
                      std::optional<Requeue> strategy = std::nullopt);
  bool move_to_backoff(Slot slot, std::string_view label, std::optional<Requeue> strategy);
  void move_to_unschedulable(Slot slot, std::string_view label, std::optional<Requeue> strategy);
  void report_queued(const Pod& pod, QueueName queue, std::string_view label,
                     std::optional<Requeue> strategy) const;
  // Removes the entry from its queue; the entry itself stays.
  void leave(Slot slot);
  void update_queued(Slot slot, const Ref<const Pod>& before, const Ref<const Pod>& after);
  void activate(const Ref<const Pod>& pod);

  // ---- moves (moves.cc)
  // An event, and the unschedulable pods that it may help.
  struct Move {
    struct Candidate {
      Slot slot;
      std::optional<Requeue> strategy;  // nullopt: hints must be called
    };
    ClusterEvent event;
    AnyObject before{};
    AnyObject after{};
    std::function<bool(const Pod&)> only{};
    bool time_is_over = false;  // the event is the end of their five minutes
    std::string label{};        // the event's
    std::vector<Candidate> candidates{};
    std::size_t next = 0;                                      // of the candidates
    std::uint32_t number = UnschedulablePods::kImmediateMove;  // of a move in slices
  };
  void move_all(Move move);
  std::optional<std::uint32_t> class_of(const AnyObject& object) const;
  Hints::Questions questions(const UnschedulablePods::Group& group,
                             const ClusterEvent& event) const;
  void find_candidates(Move& move);
  void verify_hints(const Move& move, const UnschedulablePods::Group& group,
                    const std::vector<Slot>& members, Requeue answer);
  void begin_move(Move move);
  void move_some(Move& move, std::size_t count);
  void flush_backoff();
  void flush_unschedulable();
  void end_backoff(std::size_t count);
  void post_slice();
  void do_slice();
  std::deque<Move> moves;                        // in slices
  std::vector<std::pair<Slot, Requeue>> moving;  // at this moment
  std::optional<WallTime> backoff_ended;         // pods whose backoff ended by then are being moved
  bool slice_posted = false;
  std::optional<std::string> hint_difference;
  Lifetime lifetime;

  // ---- time (flush.cc)
  // The time of the open operation. The clock is read when it is first needed: most operations do
  // not need it.
  WallTime now() { return moment ? *moment : read_clock(); }
  WallTime read_clock();
  void clock_set_back();
  // The clock was set back to `present`: entries from `next` on may be in the future.
  struct ClockRepair {
    WallTime present;
    Slot next = 0;
    Slot end = 0;
  };
  std::optional<ClockRepair> clock_repair;
  void repair_timestamps(std::size_t count);
  void run();
  void arm_backoff_flush();
  void arm_unschedulable_flush();
  std::optional<TimePoint> running_since;
  std::optional<TimerId> backoff_timer;
  std::optional<TimerId> unschedulable_timer;
};

// One change of the queue, until finish(). on_ready is called after it, when the queue is
// consistent again.
class SchedulingQueue::State::Operation {
 public:
  explicit Operation(State& state) : state_(state) {
    if (++state_.open_operations == 1) state_.moment.reset();
  }
  ~Operation() {
    if (finished_) return;
    // A plugin threw: pods that were not moved yet stay.
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
