#include "controllers/pod_group.h"

namespace berth::controllers {

CoschedulingPodGroup::Status next_status(const CoschedulingPodGroup& group, const GroupPods& pods) {
  CoschedulingPodGroup::Status status = group.status;
  const std::int32_t wanted = group.min_member;
  if (status.phase == "Finished" || status.phase == "Failed") return status;
  if (status.phase.empty()) {
    status.phase = "Pending";
    return status;
  }
  if (status.phase == "Pending") {
    if (pods.all() < wanted) return status;
    status.phase = "Scheduling";
    if (!pods.owner.empty()) status.occupied_by = pods.owner;
    return status;
  }
  status.running = pods.running;
  status.succeeded = pods.succeeded;
  status.failed = pods.failed;
  if (pods.all() < wanted) {
    status.phase = "Pending";
    return status;
  }
  status.phase = pods.succeeded + pods.running < wanted ? "Scheduling" : "Running";
  if (pods.failed != 0 && pods.failed + pods.running + pods.succeeded >= wanted)
    status.phase = "Failed";
  if (pods.succeeded >= wanted) status.phase = "Finished";
  return status;
}

}  // namespace berth::controllers
