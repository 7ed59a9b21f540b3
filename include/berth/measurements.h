// The types of an Observer's measurements: the steps that are timed, the values that are counted,
// and the measurements of one profile. World thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "berth/loop.h"
#include "berth/status.h"

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

// The results of upstream's batching, and why it drops the nodes that it remembers: see
// cycle/batching_counts.h.
enum class BatchResult : std::uint8_t { kNoHint, kHintUsed };
enum class BatchFlush : std::uint8_t {
  kPodSkipped,
  kPodNominated,
  kPodIncompatible,
  kExpired,
  kNodeMissing,
  kFilterError,
  kPodNotBatchable,
  kEmptyList,
};

// What a queue holds, by upstream's names.
enum class QueuedEntity : std::uint8_t { kPod, kPodGroup };
std::string_view to_string(QueuedEntity type);  // "pod", "podgroup"

// How the cycle of a PodGroup ended, by upstream's names.
enum class GroupResult : std::uint8_t { kScheduled, kUnschedulable, kWaitingOnPreemption, kError };
std::string_view to_string(GroupResult result);  // "scheduled", …, "waiting_on_preemption"

struct PendingPods {
  std::size_t active = 0;
  std::size_t backoff = 0;
  std::size_t unschedulable = 0;
  std::size_t gated = 0;
  std::size_t incomplete = 0;
  std::size_t pending = 0;
  // How many of the entities are PodGroups, and how many pods these have; both are in the numbers
  // above.
  struct Groups {
    std::size_t entities = 0;
    std::size_t pods = 0;
  };
  Groups active_groups{}, backoff_groups{}, gated_groups{};
};

// What is measured in one profile. A plugin is known by its number: its place in the list that
// Observer::profile was given.
class ProfileMeasurements {
 public:
  virtual ~ProfileMeasurements() = default;

  virtual TimePoint tick() const = 0;  // for durations: Loop::tick
  // The number of a plugin; nullopt when the profile has no such plugin.
  virtual std::optional<std::uint16_t> number_of(std::string_view plugin) const = 0;

  // Whether the plugins of the cycle that begins are timed one by one: some cycles are sampled.
  virtual bool sample() = 0;

  virtual void point_ran(Point point, Code code, Duration took) = 0;
  virtual void plugin_ran(std::uint16_t plugin, Point point, Code code, Duration took) = 0;
  // How often a plugin was called: once per node at Filter and Score.
  virtual void plugin_evaluated(std::uint16_t plugin, Point point, std::size_t times) = 0;

  // A search for a node ended; `from_class`: without a look at all nodes.
  virtual void searched(bool from_class) = 0;
  virtual void batch_attempted(BatchResult result) = 0;
  virtual void batch_flushed(BatchFlush reason) = 0;
  virtual void batch_rescored() = 0;
  virtual void node_hint_asked(bool hinted, Duration took) = 0;
  virtual void schedule_results_stored(Duration took) = 0;

  // Filter, score and PostFilter of one attempt.
  virtual void algorithm_ran(Duration took) = 0;
  virtual void attempt_ended(AttemptResult result, Duration took) = 0;
};

}  // namespace berth
