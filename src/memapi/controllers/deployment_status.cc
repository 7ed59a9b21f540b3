#include "memapi/controllers/deployment_status.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "memapi/admission.h"
#include "memapi/controllers/workloads.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

JsonValue* condition_of(JsonValue& status, std::string_view type) {
  for (JsonValue& condition : array_at(status, "conditions").items)
    if (text_at(condition, "type") == type) return &condition;
  return nullptr;
}

// `touch`: it is news even if it says the same.
void write_condition(JsonValue& status, std::string_view type, std::string_view value,
                     std::string_view reason, const std::string& message, bool touch,
                     WallTime now) {
  const JsonValue* before = condition_of(status, type);
  const bool same = before != nullptr && text_at(*before, "status") == value &&
                    text_at(*before, "reason") == reason;
  set_condition(status, type, value, reason, message, now);
  if (!same || touch) set_text(*condition_of(status, type), "lastUpdateTime", rfc3339(now));
}

bool has_moved(const JsonValue& status, const RolloutState& rollout) {
  return rollout.progressed || int_at(status, "updatedReplicas").value_or(0) < rollout.updated ||
         int_at(status, "readyReplicas").value_or(0) < rollout.ready ||
         int_at(status, "availableReplicas").value_or(0) < rollout.available ||
         int_at(status, "replicas").value_or(0) > rollout.replicas;
}

bool write_progress(JsonValue& status, const RolloutState& rollout, bool moved, WallTime now) {
  if (rollout.newest_set.empty()) return false;
  const JsonValue* before = condition_of(status, "Progressing");
  const bool was_complete =
      before != nullptr && text_at(*before, "reason") == "NewReplicaSetAvailable";
  const bool complete = rollout.updated == rollout.wanted && rollout.replicas == rollout.wanted &&
                        rollout.available == rollout.wanted;
  if (complete) {
    write_condition(
        status, "Progressing", "True", "NewReplicaSetAvailable",
        fmt::format("ReplicaSet \"{}\" has successfully progressed.", rollout.newest_set), false,
        now);
    return false;
  }
  // Parity: pods that go from a rollout that was complete begin no new deadline.
  if (was_complete && !rollout.progressed && rollout.updated == rollout.wanted) return false;
  const Result<WallTime> since =
      parse_rfc3339(before != nullptr ? text_at(*before, "lastUpdateTime") : std::string_view());
  if (!moved && !was_complete && since && *since + rollout.progress_deadline <= now) {
    write_condition(status, "Progressing", "False", "ProgressDeadlineExceeded",
                    fmt::format("ReplicaSet \"{}\" has timed out progressing.", rollout.newest_set),
                    false, now);
    return false;
  }
  if (before == nullptr || moved || was_complete) {
    write_condition(status, "Progressing", "True", "ReplicaSetUpdated",
                    fmt::format("ReplicaSet \"{}\" is progressing.", rollout.newest_set), true,
                    now);
  }
  return true;
}

}  // namespace

bool write_rollout_status(JsonValue& status, const RolloutState& rollout, WallTime now) {
  const bool moved = has_moved(status, rollout);
  set_count(status, "replicas", rollout.replicas);
  set_count(status, "updatedReplicas", rollout.updated);
  set_count(status, "readyReplicas", rollout.ready);
  set_count(status, "availableReplicas", rollout.available);
  set_count(status, "unavailableReplicas", rollout.unavailable);
  set(status, "observedGeneration", JsonValue::of_int(rollout.generation));
  const bool enough = rollout.available >= rollout.wanted - rollout.max_unavailable;
  write_condition(status, "Available", enough ? "True" : "False",
                  enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                  enough ? "Deployment has minimum availability."
                         : "Deployment does not have minimum availability.",
                  false, now);
  return write_progress(status, rollout, moved, now);
}

}  // namespace berth::memapi
