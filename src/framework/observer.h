// Observer: sees what the scheduler does, as it does it. Metrics, timelines, tests and embedders
// derive from it and override what interests them. Called on the world thread; an observer changes
// nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/loop.h"
#include "framework/cluster_api.h"
#include "framework/status.h"

namespace berth {

class Measurements;
class NodeTable;
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

// How long the search for a node took; its steps count from its beginning, and are absent where the
// answer was known without them.
struct SlowSearch {
  WallTime begun;
  std::optional<Duration> filtered;
  std::optional<Duration> scored;
  Duration total{0};
};
// A search that takes longer is told of (Observer::searched_slowly).
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
  // What the search found out about every node: only for somebody who wants it, for it is worked
  // out for that alone.
  virtual bool wants_trace(const Pod&) const { return false; }
  virtual void traced(const Pod&, const NodeTable&, const SearchTrace&) {}
  virtual void reserved(const Pod&, std::string_view /*plugin*/) {}
  virtual void unreserved(const Pod&, std::string_view /*plugin*/) {}
  virtual void wait_started(const Pod&, std::span<const PermitHold>) {}
  virtual void wait_ended(const Pod&, const Outcome&, Duration /*waited*/) {}
  virtual void bound(const Pod&, std::string_view /*node*/, std::int32_t /*attempts*/) {}
  // An attempt failed, at whatever step.
  virtual void failed(const Pod&, const Outcome&) {}
  // What the pod's status is to say from now on (the members that are set); it is written in the
  // background.
  virtual void status_decided(const Pod&, const PodStatusPatch&) {}
  // A pod had to go (or will not come) to make room for a more important one.
  virtual void preempted(const Pod& /*victim*/, const Pod& /*preemptor*/,
                         std::string_view /*node*/) {}
  virtual void event(const PodEvent&) {}
  // Something that upstream would log: a bookkeeping error, an unexpected answer.
  virtual void trouble(std::string_view /*message*/) {}

  // Who wants the numbers (framework/measurements.h), for as long as the scheduler lives; null:
  // nobody, and nothing is measured.
  virtual Measurements* measurements() { return nullptr; }
};

}  // namespace berth
