// SchedulingQueue: which pod is next, and what happens to those that did not make it (core.md §5).
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
// The observer hears of every entry into a queue with upstream's label; where upstream counts a
// gated pod as unschedulable, it is told QueueName::kGated.
//
// World thread only: nothing here blocks. The owner pops when on_ready says there is something.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/loop.h"
#include "base/result.h"
#include "cluster/cluster.h"
#include "framework/events.h"
#include "framework/handle.h"
#include "framework/nomination_log.h"
#include "framework/observer.h"
#include "framework/plugin.h"
#include "framework/queued_pod.h"

namespace berth {

// What one profile's plugins want the queue to know.
struct QueueProfile {
  std::string scheduler_name;
  // By plugin: its events and hints. Already completed as core.md §2.6 says (plugins that do not
  // say, the extra taint event, the pseudo plugin Extender).
  struct PluginEvents {
    std::string plugin;
    std::vector<EventRegistration> events;
  };
  std::vector<PluginEvents> events;
  std::vector<const PreEnqueuePlugin*> pre_enqueue;
};

struct QueueOptions {
  Duration initial_backoff = std::chrono::seconds(1);
  Duration max_backoff = std::chrono::seconds(10);
  Duration max_unschedulable = std::chrono::minutes(5);
  bool pop_from_backoff = true;  // gate SchedulerPopFromBackoffQ
  // Asks hints that are asked once per class about every pod of it too (hint_difference).
  bool verify_hints = false;
};

struct QueueSizes {
  std::size_t active = 0;
  std::size_t backoff = 0;        // both heaps
  std::size_t unschedulable = 0;  // without the gated ones
  std::size_t gated = 0;
  std::size_t in_flight = 0;
  std::size_t in_flight_events = 0;

  friend bool operator==(const QueueSizes&, const QueueSizes&) = default;
};

// Where a pod is, for tests, invariants and `explain`.
enum class QueuePlace : std::uint8_t { kNowhere, kActive, kBackoff, kErrorBackoff, kUnschedulable };

class SchedulingQueue final : public Nominator, public NominationLog, public Activator {
 public:
  // `sort` is the first profile's QueueSort; it and the plugins in `profiles` outlive the queue.
  SchedulingQueue(Loop& loop, const Cluster& cluster, const QueueSortPlugin& sort,
                  std::vector<QueueProfile> profiles, QueueOptions options, Observer& observer);
  ~SchedulingQueue() override;

  // Starts the flushes (housekeeping timers). They end with the queue.
  void run();

  // Called whenever pop() may have something that it had not before: at most once per operation,
  // when that is over, so that the callback may pop at once.
  void on_ready(Callback callback);

  // ---- from ingest
  void add(Ref<const Pod> pod);
  void update(const Pod& before, Ref<const Pod> after);
  void remove(const Pod& pod);
  // Something happened: pods that it may help move. `before` and `after` are the object the event
  // is about. With `only`, just the pods for which it is true are looked at; it goes by what a hint
  // of HintScope::kClass may go by. Thousands of pods move in slices, one in each turn of the loop.
  void move_all(const ClusterEvent& event, const AnyObject& before, const AnyObject& after,
                const std::function<bool(const Pod&)>& only = {});

  // ---- from the scheduling cycle
  // The next pod to try, now in flight. nullopt: nothing to do.
  std::optional<QueuedPod> pop();
  // Whether pop() would give one.
  bool ready() const;
  // A popped pod's attempt is over as far as events are concerned. Idempotent.
  void done(const Uid& uid);
  // A popped pod comes back, with its rejectors; ends its flight like done(). Fails when the pod is
  // in the queue already.
  Result<void> return_failed(QueuedPod pod);

  // ---- Activator
  void activate(std::span<const Ref<const Pod>> pods) override;

  // ---- nominations (core.md §5.11)
  std::vector<Ref<const Pod>> nominated_pods(Symbol node) const override;
  const std::vector<Symbol>& nominated_nodes() const override;
  std::uint64_t nomination_log_end() const override;
  std::optional<std::span<const Symbol>> nominations_since(std::uint64_t position) const override;
  bool is_nominated(const Uid& uid) const override;
  void nominate(const Pod& pod, const std::optional<Nominating>& nominating);
  void remove_nomination(const Uid& uid);

  // ---- looking
  QueueSizes sizes() const;
  QueuePlace place(const Pod& pod) const;  // by namespace and name
  bool in_flight(const Uid& uid) const;
  const QueuedPod* find(const Pod& pod) const;  // by namespace and name; null when not queued
  // With verify_hints: the first time that pods of a class got different answers, in words.
  const std::optional<std::string>& hint_difference() const;
  // Every pod that is queued, with where it is. In no particular order.
  void for_each(const std::function<void(const QueuedPod&, QueuePlace)>& visit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// initial · 2^(count-1), at most max, without overflow.
Duration backoff_duration(Duration initial, Duration max, std::int32_t count);

}  // namespace berth
