// ClusterApi: the door through which the scheduler changes the cluster. `kube` implements it with
// HTTP, `sim` with a store, latency and faults; what comes of a call is seen through the watch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/object.h"
#include "api/pod.h"
#include "base/result.h"
#include "base/task.h"

namespace berth {

// A change of pod.status: a condition, the nominated node, or both.
struct PodStatusPatch {
  std::optional<PodCondition> condition;
  std::optional<std::string> nominated_node_name;  // empty text clears it
};

enum class EventType : std::uint8_t { kNormal, kWarning };

// An Event as users see it in `kubectl describe pod`.
struct PodEvent {
  Ref<const Pod> pod;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string action;
  std::string note;
  std::string reporting_controller;  // the profile's scheduler name
  Ref<const Pod> related;            // who else has to do with it: the preemptor; may be null
};

class ClusterApi {
 public:
  virtual ~ClusterApi() = default;

  virtual Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) = 0;
  virtual Task<Result<void>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) = 0;
  // Deletes a pod to make room, with its grace period.
  virtual Task<Result<void>> evict(Ref<const Pod> pod) = 0;
  // Writes an object (a volume, a claim); the answer is the object as stored.
  virtual Task<Result<AnyObject>> update(AnyObject object) = 0;
  // Never waits, never fails; what cannot be delivered is dropped.
  virtual void record(PodEvent event) = 0;
};

}  // namespace berth
