// SchedulingQueue: decides which pod is scheduled next, and keeps the pods that cannot be scheduled
// now (core.md §5).
//
//                 add, update of an unknown pod
//                              │ PreEnqueue ── refuses ──► gated ─┐ (kept with the unschedulable)
//                              ▼                                  │ event of the gating plugin
//        ┌───────────────► active ◄───────────────────────────────┘
//        │ flush, each second   │ pop
//        │                      ▼
//     backoff ◄──────────── in flight ──── done ──► (bound, or gone)
//        ▲   after an error,    │
//        │   or an event came   │ return_failed, no useful event meanwhile
//        │   meanwhile          ▼
//        └───── event ─── unschedulable ─── event, backoff over ──► active
//                               └───────── five minutes ──────────► active or backoff
//
// A pod is in at most one of active, backoff and unschedulable; being in flight is separate. With
// an empty active queue the head of the backoff queue is popped early, unless an error put it
// there.
//
// The observer is called for every entry into a queue, with upstream's label of the reason. A gated
// pod, which upstream counts as unschedulable, is reported as QueueName::kGated.
//
// World thread only; nothing here blocks. The owner pops when on_ready calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/indexed_heap.h"
#include "base/lifetime.h"
#include "berth/events.h"
#include "berth/handle.h"
#include "berth/loop.h"
#include "berth/observer.h"
#include "berth/plugin.h"
#include "berth/pod.h"
#include "berth/queued_pod.h"
#include "berth/result.h"
#include "berth/views.h"
#include "framework/nomination_log.h"
#include "queue/backoff.h"
#include "queue/entries.h"
#include "queue/gating.h"
#include "queue/group_queue.h"
#include "queue/hints.h"
#include "queue/in_flight.h"
#include "queue/nominations.h"
#include "queue/pod_order.h"
#include "queue/unschedulable.h"

namespace berth {

struct QueueSizes {
  std::size_t active = 0;
  std::size_t backoff = 0;        // both heaps
  std::size_t unschedulable = 0;  // without the gated ones
  std::size_t gated = 0;
  std::size_t in_flight = 0;
  std::size_t in_flight_events = 0;
  std::size_t incomplete = 0;  // pods whose PodGroup is not known
  std::size_t pending = 0;     // pods that wait for the end of their group's cycle

  friend bool operator==(const QueueSizes&, const QueueSizes&) = default;
};

class SchedulingQueue final : public Nominator, public NominationLog, public Activator {
 public:
  SchedulingQueue(Loop& loop, const Cluster& cluster, QueueOptions options, Observer& observer);
  ~SchedulingQueue() override;
  SchedulingQueue(const SchedulingQueue&) = delete;
  SchedulingQueue& operator=(const SchedulingQueue&) = delete;

  // Called once, before the first pod is added: plugins are given the queue as their Nominator and
  // Activator, so they are made after it. `sort` is the first profile's QueueSort. The plugins are
  // not used any more when the queue is destroyed.
  void set_profiles(const QueueSortPlugin& sort, std::vector<QueueProfile> profiles);

  // With the gate GenericWorkload, before the first pod is added: from now on the pods of a PodGroup
  // are queued as one entity (group_queue.h).
  void queue_groups() { groups_ = std::make_unique<GroupQueue>(*this); }

  // Starts the flushes (housekeeping timers). They end with the queue.
  void run();

  // Sets the callback for new pods that pop() can return: called at most once per operation, after
  // it, so that the callback may pop at once.
  void on_ready(Callback callback) { on_ready_ = std::move(callback); }

  // ---- from ingest
  void add(Ref<const Pod> pod);
  void update(const Pod& before, Ref<const Pod> after);
  void remove(const Pod& pod);
  // A PodGroup, new or changed; only with queue_groups().
  void put_group(Ref<const PodGroup> group);
  void remove_group(const PodGroup& group);
  // Moves the unschedulable pods that the event may help. `before` and `after` are the object that
  // the event is about. With `only`, pods for which it is false stay; it may use what a hint of
  // HintScope::kClass may use. Thousands of pods move in slices, one per turn of the loop.
  void move_all(const ClusterEvent& event, const AnyObject& before, const AnyObject& after,
                const std::function<bool(const Pod&)>& only = {});

  // ---- from the scheduling cycle
  // The next pod to schedule, in flight from now on; nullopt when there is none.
  std::optional<QueuedPod> pop();
  // The group, if that is what pop() just returned: the pod only stands for it.
  std::optional<QueuedGroup> take_popped_group() {
    return groups_ ? groups_->take_popped() : std::nullopt;
  }
  // Ends the cycle of a popped group, after its members were returned or not.
  void group_attempted(QueuedPod entity, const std::set<Uid>& members, GroupEnd end);
  // Whether pop() would return a pod.
  bool ready() const;
  // Ends the flight of a popped pod: no more events are kept for it. Idempotent.
  void done(const Uid& uid) { in_flight_.end(uid); }
  // Puts a popped pod back, with its rejectors, and ends its flight. Fails when the pod is in the
  // queue already.
  Result<void> return_failed(QueuedPod pod);

  // ---- Activator
  void activate(std::span<const Ref<const Pod>> pods) override;

  // ---- nominations (core.md §5.11)
  std::vector<Ref<const Pod>> nominated_pods(Symbol node) const override;
  const std::vector<Symbol>& nominated_nodes() const override { return nominations_.nodes(); }
  std::uint64_t nomination_log_end() const override { return nominations_.log_end(); }
  std::optional<std::span<const Symbol>> nominations_since(std::uint64_t position) const override {
    return nominations_.changes_since(position);
  }
  bool is_nominated(const Uid& uid) const override { return nominations_.contains(uid); }
  void nominate(const Pod& pod, const std::optional<Nominating>& nominating) {
    nominations_.add(pod, nominating);
  }
  void remove_nomination(const Uid& uid) { nominations_.remove(uid); }

  // ---- looking
  QueueSizes sizes() const;
  QueuePlace place(const Pod& pod) const;  // by namespace and name
  bool in_flight(const Uid& uid) const { return in_flight_.contains(uid); }
  const QueuedPod* find(const Pod& pod) const;  // by namespace and name; null when not queued
  // When a pod that backs off, or is unschedulable, is moved without an event; nullopt for others.
  // Unschedulable pods are looked at every 30 s from then on.
  std::optional<WallTime> waits_until(const Pod& pod) const;
  // The labels of the events since the pod was popped, each once and in the order of the first; those
  // of a long flight may begin later. Empty for a pod that is not in flight.
  std::vector<std::string> missed_events(const Uid& uid) const;
  // With verify_hints: describes the first case in which pods of a class got different answers.
  const std::optional<std::string>& hint_difference() const { return hint_difference_; }
  // Visits every queued pod, in no particular order.
  void for_each(const std::function<void(const QueuedPod&, QueuePlace)>& visit) const;

 private:
  friend class GroupQueue;
  bool queues_as_group(const Pod& pod) const { return groups_ && in_group(pod); }

  // Upstream's labels of why a pod entered a queue, besides those of events.
  static constexpr std::string_view kScheduleAttemptFailure = "ScheduleAttemptFailure";
  static constexpr std::string_view kBackoffComplete = "BackoffComplete";
  static constexpr std::string_view kPopFromBackoff = "PopFromBackoffQ";

  // How many pods are moved, or checked, within one operation. With more, each turn of the loop
  // processes one slice.
  static constexpr std::size_t kAtOnce = 8192;
  static constexpr std::size_t kSlice = 1024;

  struct ByOrder {
    const SchedulingQueue* queue;
    bool operator()(Slot a, Slot b) const {
      return queue->order_.before(queue->entries_[a].queued, queue->entries_[b].queued);
    }
  };

  Loop& loop_;
  const QueueOptions options_;
  Observer& observer_;
  Observer* const measured_;
  const std::string add_label_;  // of a pod that arrived

  PodOrder order_;
  Hints hints_;
  Gating gating_;
  Entries entries_;
  IndexedHeap<ByOrder> active_;
  BackoffQueue backoff_;
  UnschedulablePods unschedulable_;
  InFlight in_flight_;
  Nominations nominations_;
  std::uint64_t last_sequence_ = 0;
  std::unique_ptr<GroupQueue> groups_;  // null: every pod is queued by itself

  // ---- operations: their time, and what is done when they end
  class Operation;
  std::optional<WallTime> moment_;               // of the open operation, once it was read
  Duration wall_clock_ahead_ = Duration::min();  // of the monotonic clock, at most so far
  int open_operations_ = 0;
  bool woken_ = false;  // pop() may return something new
  Callback on_ready_;
  // Pods that plugins activated in the middle of an operation.
  std::vector<Ref<const Pod>> activated_meanwhile_;

  // ---- transitions (transitions.cc)
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
  void activate_pod(const Ref<const Pod>& pod);

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
  std::deque<Move> moves_;                        // in slices
  std::vector<std::pair<Slot, Requeue>> moving_;  // at this moment
  std::optional<WallTime> backoff_ended_;  // pods whose backoff ended by then are being moved
  bool slice_posted_ = false;
  std::optional<std::string> hint_difference_;
  Lifetime lifetime_;

  // ---- time (flush.cc)
  // The time of the open operation. The clock is read when it is first needed: most operations do
  // not need it.
  WallTime now() { return moment_ ? *moment_ : read_clock(); }
  WallTime read_clock();
  void clock_set_back();
  // The clock was set back to `present`: entries from `next` on may be in the future.
  struct ClockRepair {
    WallTime present;
    Slot next = 0;
    Slot end = 0;
  };
  std::optional<ClockRepair> clock_repair_;
  void repair_timestamps(std::size_t count);
  void arm_backoff_flush();
  void arm_unschedulable_flush();
  std::optional<TimePoint> running_since_;
  std::optional<TimerId> backoff_timer_;
  std::optional<TimerId> unschedulable_timer_;
};

// One change of the queue, until finish(). on_ready is called after it, when the queue is
// consistent again.
class SchedulingQueue::Operation {
 public:
  explicit Operation(SchedulingQueue& queue) : queue_(queue) {
    if (++queue_.open_operations_ == 1) queue_.moment_.reset();
  }
  ~Operation() {
    if (finished_) return;
    // A plugin threw: pods that were not moved yet stay.
    --queue_.open_operations_;
    queue_.moving_.clear();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void finish();

 private:
  SchedulingQueue& queue_;
  bool finished_ = false;
};

}  // namespace berth
