// Measurements: the numbers of scheduling, for whoever wants them (Observer::measurements).
//
// What an Observer sees are a pod's steps; this is how long they took and how much there is of
// what. It is asked for once, when a part of the scheduler is made: where nobody measures, no clock
// is read and nothing is counted. World thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "framework/events.h"
#include "framework/status.h"

namespace berth {

// The steps that are timed, by upstream's names.
enum class Point : std::uint8_t {
  kPreEnqueue,
  kPreFilter,
  kPreFilterExtensionAddPod,
  kPreFilterExtensionRemovePod,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kScoreExtensionNormalize,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBindPreFlight,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr std::size_t kPoints = 16;
std::string_view to_string(Point point);  // "PreFilter", …

enum class AttemptResult : std::uint8_t { kScheduled, kUnschedulable, kError };
std::string_view to_string(AttemptResult result);  // "scheduled", …

enum class HintVerdict : std::uint8_t { kQueue, kSkip, kError };

// Calls of the ApiDispatcher, by upstream's names.
enum class ApiCallType : std::uint8_t { kPodStatusPatch, kPodBinding };
std::string_view to_string(ApiCallType type);  // "pod_status_patch", "pod_binding"

// What came of asking upstream's batching for a node, and why it forgets what it remembers: see
// cycle/batching_counts.h.
enum class BatchResult : std::uint8_t { kNoHint, kHintUsed, kHintNotUsed };
enum class BatchFlush : std::uint8_t {
  kPodSkipped,
  kPodIncompatible,
  kExpired,
  kNodeMissing,
  kNodeNotFull,
  kPodNotBatchable,
  kEmptyList,
};

struct PendingPods {
  std::size_t active = 0;
  std::size_t backoff = 0;
  std::size_t unschedulable = 0;
  std::size_t gated = 0;
};

// What is measured in one profile. Plugins are known by their number: their place in the list that
// Measurements::profile was given.
class ProfileMeasurements {
 public:
  virtual ~ProfileMeasurements() = default;

  virtual TimePoint now() const = 0;  // for durations: Loop::tick
  // The number of a plugin; absent when the profile has none of that name.
  virtual std::optional<std::uint16_t> number_of(std::string_view plugin) const = 0;

  // Whether the plugins of the cycle that begins are to be timed one by one: of some, not of all.
  virtual bool sample() = 0;

  virtual void point_ran(Point point, Code code, Duration took) = 0;
  virtual void plugin_ran(std::uint16_t plugin, Point point, Code code, Duration took) = 0;
  // How often a plugin was asked: once per node at Filter and Score.
  virtual void plugin_evaluated(std::uint16_t plugin, Point point, std::size_t times) = 0;

  // A search for a node ended; `from_class`: without a look at all nodes.
  virtual void searched(bool from_class) = 0;
  virtual void batch_attempted(BatchResult result) = 0;
  virtual void batch_flushed(BatchFlush reason) = 0;
  virtual void node_hint_asked(bool hinted, Duration took) = 0;
  virtual void schedule_results_stored(Duration took) = 0;

  // Filter, score and PostFilter of one attempt.
  virtual void algorithm_ran(Duration took) = 0;
  virtual void attempt_ended(AttemptResult result, Duration took) = 0;
};

class Measurements {
 public:
  virtual ~Measurements() = default;

  virtual TimePoint now() const = 0;
  // Lives as long as this does; the same one for the same name.
  virtual ProfileMeasurements& profile(std::string_view scheduler_name,
                                       std::span<const std::string> plugins) = 0;

  // ---- the queue
  virtual void pending(const PendingPods& pods) = 0;
  // A pod of the queue counts for one more (+1) or one less (-1) under a plugin that turned it
  // away.
  virtual void rejector(std::string_view scheduler_name, std::string_view plugin, int change) = 0;
  // How many events of a kind are kept for pods in flight ("PodPopped": how many such pods).
  virtual void in_flight(std::string_view event, std::size_t count) = 0;
  // A hint gave that answer so many times, and took so long each time.
  virtual void hint_ran(std::string_view plugin, std::string_view event, HintVerdict verdict,
                        Duration took, std::uint64_t times) = 0;

  // ---- the cluster
  virtual void event_handled(const ClusterEvent& event, Duration took) = 0;
  virtual void cluster_size(std::size_t nodes, std::size_t pods, std::size_t assumed) = 0;

  // ---- attempts
  // A pod was bound, so many attempts and so long after it could first be tried; `flushed` when it
  // was its time that brought it back from the unschedulable, not an event.
  virtual void pod_scheduled(std::int32_t attempts, Duration since_first, bool flushed) = 0;
  virtual void bindings(std::size_t running) = 0;
  // How many extenders are asked for scores at this moment.
  virtual void extenders_prioritizing(std::size_t asked) = 0;
  // VolumeBinding met an error in "predicate" (Filter), "assume" (Reserve) or "bind" (PreBind).
  virtual void volume_stage_failed(std::string_view operation) = 0;
  virtual void preemption_attempted() = 0;
  virtual void victims_chosen(std::size_t victims) = 0;
  // A claim for a pod's extended resources was to be created.
  virtual void claim_created(bool success) = 0;
  // A pod has waited for an allocated device, one of its `driver`, until all devices of the pod
  // were ready; `status` is success, failure, timeout or error. `conditions`: this device has some.
  virtual void binding_conditions_waited(std::string_view scheduler_name, std::string_view driver,
                                         std::string_view status, Duration took,
                                         bool conditions) = 0;
  // ---- writes (framework/api_dispatcher.h)
  // How many calls wait to be sent.
  virtual void api_calls_pending(ApiCallType type, std::size_t count) = 0;
  virtual void api_call_ended(ApiCallType type, bool success, Duration took) = 0;

  // The evictions for one preemptor, with and without success.
  virtual void evictions_began() = 0;
  virtual void evictions_ended(bool success, Duration took) = 0;
};

// Times one run of an extension point. Without measurements it does nothing.
class PointTimer {
 public:
  PointTimer(ProfileMeasurements* measurements, Point point)
      : measurements_(measurements),
        point_(point),
        start_(measurements ? measurements->now() : TimePoint{}) {}

  void ended(Code code) const {
    if (measurements_) measurements_->point_ran(point_, code, measurements_->now() - start_);
  }

 private:
  ProfileMeasurements* measurements_;
  Point point_;
  TimePoint start_;
};

// Times one call into a plugin, in the cycles that are sampled.
class PluginTimer {
 public:
  PluginTimer(ProfileMeasurements* measurements, bool sampled, std::uint16_t plugin, Point point)
      : measurements_(sampled ? measurements : nullptr),
        plugin_(plugin),
        point_(point),
        start_(measurements_ ? measurements_->now() : TimePoint{}) {}

  void ended(Code code) const {
    if (measurements_)
      measurements_->plugin_ran(plugin_, point_, code, measurements_->now() - start_);
  }

 private:
  ProfileMeasurements* measurements_;
  std::uint16_t plugin_;
  Point point_;
  TimePoint start_;
};

}  // namespace berth
