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

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

namespace berth {

// What the queue uses of one profile's plugins.
struct QueueProfile {
  std::string scheduler_name;
  // By plugin: its events and hints. Complete in the sense of core.md §2.6: with all events for
  // plugins that register none, and the pseudo plugin Extender.
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
  // Calls hints of HintScope::kClass for every pod of a class, too, and compares (hint_difference).
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

// Where a pod is, for tests and invariants.
enum class QueuePlace : std::uint8_t { kNowhere, kActive, kBackoff, kErrorBackoff, kUnschedulable };

class SchedulingQueue final : public Nominator, public NominationLog, public Activator {
 public:
  SchedulingQueue(Loop& loop, const Cluster& cluster, QueueOptions options, Observer& observer);
  ~SchedulingQueue() override;

  // Called once, before the first pod is added: plugins are given the queue as their Nominator and
  // Activator, so they are made after it. `sort` is the first profile's QueueSort. The plugins are
  // not used any more when the queue is destroyed.
  void set_profiles(const QueueSortPlugin& sort, std::vector<QueueProfile> profiles);

  // Starts the flushes (housekeeping timers). They end with the queue.
  void run();

  // Sets the callback for new pods that pop() can return: called at most once per operation, after
  // it, so that the callback may pop at once.
  void on_ready(Callback callback);

  // ---- from ingest
  void add(Ref<const Pod> pod);
  void update(const Pod& before, Ref<const Pod> after);
  void remove(const Pod& pod);
  // Moves the unschedulable pods that the event may help. `before` and `after` are the object that
  // the event is about. With `only`, pods for which it is false stay; it may use what a hint of
  // HintScope::kClass may use. Thousands of pods move in slices, one per turn of the loop.
  void move_all(const ClusterEvent& event, const AnyObject& before, const AnyObject& after,
                const std::function<bool(const Pod&)>& only = {});

  // ---- from the scheduling cycle
  // The next pod to schedule, in flight from now on; nullopt when there is none.
  std::optional<QueuedPod> pop();
  // Whether pop() would return a pod.
  bool ready() const;
  // Ends the flight of a popped pod: no more events are kept for it. Idempotent.
  void done(const Uid& uid);
  // Puts a popped pod back, with its rejectors, and ends its flight. Fails when the pod is in the
  // queue already.
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
  // With verify_hints: describes the first case in which pods of a class got different answers.
  const std::optional<std::string>& hint_difference() const;
  // Visits every queued pod, in no particular order.
  void for_each(const std::function<void(const QueuedPod&, QueuePlace)>& visit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// initial · 2^(count-1), at most max, without overflow.
Duration backoff_duration(Duration initial, Duration max, std::int32_t count);

}  // namespace berth
