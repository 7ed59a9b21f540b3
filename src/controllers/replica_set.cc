#include "controllers/replica_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::controllers {

ReplicaSetController::ReplicaSetController(Loop& loop, PodIndex& pods, WorkloadWorld& world,
                                           ObjectKind kind)
    : Controller(loop), pods_(pods), world_(world), kind_(kind) {
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    const bool only_numbers = changes_only_numbers(before, after);
    for (const PodFacts* pod : {before, after}) {
      if (pod == nullptr || pod->controller_kind != to_string(kind_)) continue;
      std::string key = object_key(pod->namespace_name, pod->controller_name);
      if (only_numbers)
        enqueue_after(Duration::zero(), std::move(key));
      else
        enqueue(std::move(key));
    }
  });
}

void ReplicaSetController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const std::optional<Workload> set = world_.find(kind_, name.namespace_name, name.name);
  if (!set) return;
  pods_.catch_up();
  ReplicaSetStatus status;
  if (!set->terminating) {
    world_.adopt_pods(*set);
    status.refused = !bring_in_line(*set);
    pods_.catch_up();
    if (status.refused) enqueue_after(kRetryAfterRefusal, key, TimerKind::kHousekeeping);
  }
  status.counts = count_replicas(pods_.of_controller(set->uid), set->min_ready, now());
  if (status.counts.available < status.counts.ready) enqueue_after(set->min_ready, key);
  world_.write_status(*set, status);
}

bool ReplicaSetController::bring_in_line(const Workload& set) {
  std::vector<const PodFacts*> active = pods_.of_controller(set.uid);
  std::erase_if(active, [](const PodFacts* pod) { return !pod->active(); });
  const std::int64_t missing = set.replicas - static_cast<std::int64_t>(active.size());
  for (std::int64_t i = 0; i < std::min(missing, kMostPodsAtOnce); ++i) {
    PodParts parts;
    parts.prefix = set.name + "-";
    const Result<std::string> created = world_.create_pod(set, parts);
    if (!created) {
      world_.record(set, EventType::kWarning, "FailedCreate",
                    fmt::format("Error creating: {}", created.error().message));
      return false;
    }
    world_.record(set, EventType::kNormal, "SuccessfulCreate",
                  fmt::format("Created pod: {}", *created));
  }
  if (missing > kMostPodsAtOnce) enqueue(set.key());
  if (missing >= 0) return true;
  sort_for_removal(active);
  active.resize(static_cast<std::size_t>(-missing));
  std::vector<PodFacts> surplus;  // copies: the index changes while they go
  for (const PodFacts* pod : active) surplus.push_back(*pod);
  for (const PodFacts& pod : surplus) {
    if (!world_.delete_pod(pod)) continue;
    world_.record(set, EventType::kNormal, "SuccessfulDelete",
                  fmt::format("Deleted pod: {}", pod.name));
  }
  return true;
}

}  // namespace berth::controllers
