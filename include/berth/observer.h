// Observer: is called at each step of the scheduler. Metrics, timelines, tests and embedders derive
// from it and override what they need. Called on the world thread; an observer changes nothing and
// must not throw: an exception ends the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/cluster_api.h"
#include "berth/events.h"
#include "berth/loop.h"
#include "berth/measurements.h"
#include "berth/pod.h"
#include "berth/status.h"

namespace berth {

class NodeTable;
struct PodGroup;
struct SearchTrace;

enum class QueueName : std::uint8_t { kActive, kBackoff, kUnschedulable, kGated };
std::string_view to_string(QueueName queue);  // "active", "backoff", …

// How the scheduling cycle of one attempt ended.
struct Decision {
  Ref<const Pod> pod;
  std::int32_t attempt = 0;
  std::string node;  // empty when none was found
  std::size_t evaluated_nodes = 0;
  std::size_t feasible_nodes = 0;
  std::int64_t score = 0;  // of the chosen node; 0 when only one was feasible
  Outcome outcome;         // how the cycle ended, Reserve and Permit included
};

// How long the search for a node took. The times of its steps count from its beginning; nullopt
// where the answer was known without the step.
struct SlowSearch {
  WallTime begun;
  std::optional<Duration> filtered;
  std::optional<Duration> scored;
  Duration total{0};
};
// Longer searches are reported (Observer::searched_slowly).
inline constexpr Duration kSlowSearch = std::chrono::milliseconds(100);

struct PermitHold {
  std::string plugin;
  Duration timeout{0};
};

class Observer {
 public:
  virtual ~Observer() = default;

  // A pod entered a queue; `event` is upstream's label of why.
  virtual void queued(const Pod&, QueueName, std::string_view /*event*/) {}
  virtual void attempt_started(const Pod&, std::int32_t /*attempt*/) {}
  virtual void decided(const Decision&) {}
  virtual void searched_slowly(const Pod&, const SlowSearch&) {}
  // What the search found out about every node. It is computed only if wants_trace returns true.
  virtual bool wants_trace(const Pod&) const { return false; }
  virtual void traced(const Pod&, const NodeTable&, const SearchTrace&) {}
  virtual void reserved(const Pod&, std::string_view /*plugin*/) {}
  virtual void unreserved(const Pod&, std::string_view /*plugin*/) {}
  virtual void wait_started(const Pod&, std::span<const PermitHold>) {}
  virtual void wait_ended(const Pod&, const Outcome&, Duration /*waited*/) {}
  virtual void bound(const Pod&, std::string_view /*node*/, std::int32_t /*attempts*/) {}
  // An attempt failed, at whatever step.
  virtual void failed(const Pod&, const Outcome&) {}
  // The scheduler changes the pod's status (the members that are set), which is written in the
  // background.
  virtual void status_decided(const Pod&, const PodStatusPatch&) {}
  // A pod was deleted, or its wait at Permit ended, to make room for a more important one.
  virtual void preempted(const Pod& /*victim*/, const Pod& /*preemptor*/,
                         std::string_view /*node*/) {}
  // The cycle of a PodGroup ended: all of it was placed that has to be, or why not.
  virtual void group_decided(const PodGroup&, const Outcome&) {}
  virtual void event(const PodEvent&) {}
  // What upstream would log as an error: wrong bookkeeping, an unexpected answer.
  virtual void internal_error(std::string_view /*message*/) {}

  // ---- numbers: how long the steps took, and how much there is of what
  // The observer that takes the numbers, for as long as the scheduler lives. Each part of the
  // scheduler asks once, when it is made. Null: nothing is counted, and no clock is read for it.
  virtual Observer* measuring() { return nullptr; }
  virtual TimePoint tick() const { return {}; }  // for durations: Loop::tick
  // The numbers of one profile. Lives as long as this does; the same one for the same name.
  virtual ProfileMeasurements* profile(std::string_view /*scheduler_name*/,
                                       std::span<const std::string> /*plugins*/) {
    return nullptr;
  }

  virtual void pending_pods(const PendingPods&) {}
  // An entity entered a queue in one of the ways that upstream counts: when it is new to the queues,
  // or its strategy named another queue (shell.md §3.2). `event`: as for queued.
  virtual void entity_queued(QueuedEntity, QueueName, std::string_view /*event*/) {}
  // A pod in the queue counts once more (+1) or once less (-1) under a plugin that rejected it.
  virtual void rejector_changed(std::string_view /*scheduler_name*/, std::string_view /*plugin*/,
                                int /*change*/) {}
  // How many events of a kind are kept for pods in flight ("PodPopped": how many such pods).
  virtual void in_flight_events(std::string_view /*event*/, std::size_t /*count*/) {}
  // A hint gave that answer so many times, and took so long each time.
  virtual void hint_ran(std::string_view /*plugin*/, std::string_view /*event*/, HintVerdict,
                        Duration /*took*/, std::uint64_t /*times*/) {}
  virtual void event_handled(const ClusterEvent&, Duration /*took*/) {}
  virtual void cluster_size(std::size_t /*nodes*/, std::size_t /*pods*/, std::size_t /*assumed*/) {}
  // A pod was bound after `attempts` attempts, `since_first` after it first entered the active queue.
  // `flushed`: the unschedulable timeout started the last attempt, not an event.
  virtual void pod_scheduled(std::int32_t /*attempts*/, Duration /*since_first*/,
                             bool /*flushed*/) {}
  virtual void running_bindings(std::size_t /*count*/) {}
  // How many extenders are being asked for scores.
  virtual void extenders_prioritizing(std::size_t /*count*/) {}
  // VolumeBinding met an error in "predicate" (Filter), "assume" (Reserve) or "bind" (PreBind).
  virtual void volume_stage_failed(std::string_view /*operation*/) {}
  // The cycle of a PodGroup: its algorithm, and all of it.
  virtual void group_algorithm_ran(Duration /*took*/) {}
  virtual void group_attempted(std::string_view /*scheduler_name*/, GroupResult,
                               Duration /*took*/) {}
  virtual void preemption_attempted() {}
  virtual void victims_chosen(std::size_t /*victims*/) {}
  // The same for a PodGroup, and how its preemption ended.
  virtual void group_victims_chosen(std::size_t /*victims*/) {}
  virtual void group_preemption_ended(Code, Duration /*took*/) {}
  // The evictions for one preemptor.
  virtual void evictions_began() {}
  virtual void evictions_ended(bool /*success*/, Duration /*took*/) {}
  // The creation of a claim for a pod's extended resources ended.
  virtual void claim_created(bool /*success*/) {}
  // The wait for the devices of a pod ended, reported once per allocated device. `status`: success,
  // failure, timeout or error. `conditions`: the device has binding conditions.
  virtual void binding_conditions_waited(std::string_view /*scheduler_name*/,
                                         std::string_view /*driver*/, std::string_view /*status*/,
                                         Duration /*took*/, bool /*conditions*/) {}
  // How many calls of the ApiDispatcher wait to be sent.
  virtual void api_calls_pending(ApiCallType, std::size_t /*count*/) {}
  virtual void api_call_ended(ApiCallType, bool /*success*/, Duration /*took*/) {}
};

}  // namespace berth
