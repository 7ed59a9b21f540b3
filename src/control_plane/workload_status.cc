// What the controllers of workloads write into the status of objects of the embedded API server.
#include <fmt/format.h>

#include <functional>

#include "base/time_text.h"
#include "control_plane/workloads.h"

namespace berth::control_plane {
namespace {

using controllers::Workload;

void set_number(JsonValue& status, std::string_view name, std::int64_t number) {
  set(status, name, JsonValue::of_int(number));
}

JsonValue* condition_in(JsonValue& status, std::string_view type) {
  for (JsonValue& condition : array_at(status, "conditions").items)
    if (text_at(condition, "type") == type) return &condition;
  return nullptr;
}

void write_condition(JsonValue& status, std::string_view type,
                     const controllers::RolloutCondition& wanted, WallTime now) {
  const std::string_view value = wanted.is_true ? "True" : "False";
  const JsonValue* before = condition_in(status, type);
  const bool same = before != nullptr && text_at(*before, "status") == value &&
                    text_at(*before, "reason") == wanted.reason;
  set_condition(status, type, value, wanted.reason, wanted.message, now);
  if (!same || wanted.is_news)
    set_text(*condition_in(status, type), "lastUpdateTime", rfc3339(now));
}

}  // namespace

void set_count(JsonValue& status, std::string_view name, std::int64_t count) {
  if (count == 0)
    erase(status, name);
  else
    set_number(status, name, count);
}

void Workloads::edit_status(const Workload& workload,
                            const std::function<void(JsonValue& status)>& edit) {
  const auto edit_object = [&](JsonValue& object) -> Answer<void> {
    edit(object_at(object, "status"));
    return {};
  };
  static_cast<void>(api_.update_status(resource_of_kind(workload.kind), workload.namespace_name,
                                       workload.name, edit_object));
}

void Workloads::write_status(const Workload& set, const controllers::ReplicaSetStatus& wanted) {
  edit_status(set, [&](JsonValue& status) {
    set_count(status, "readyReplicas", wanted.counts.ready);
    set_count(status, "availableReplicas", wanted.counts.available);
    set_count(status, "fullyLabeledReplicas", wanted.counts.active);
    set_number(status, "replicas", wanted.counts.active);
    set_number(status, "observedGeneration", set.generation);
    if (wanted.refused) {
      set_condition(status, "ReplicaFailure", "True", "FailedCreate",
                    "a pod was refused; see the events", now());
    } else if (JsonValue* conditions = at(status, "conditions"); is_array(conditions)) {
      std::erase_if(conditions->items, [](const JsonValue& condition) {
        return text_at(condition, "type") == "ReplicaFailure";
      });
      if (conditions->items.empty()) erase(status, "conditions");
    }
  });
}

void Workloads::write_status(const Workload& deployment,
                             const controllers::DeploymentStatus& wanted) {
  edit_status(deployment, [&](JsonValue& status) {
    set_count(status, "replicas", wanted.replicas);
    set_count(status, "updatedReplicas", wanted.updated);
    set_count(status, "readyReplicas", wanted.ready);
    set_count(status, "availableReplicas", wanted.available);
    set_count(status, "unavailableReplicas", wanted.unavailable);
    set_number(status, "observedGeneration", deployment.generation);
    write_condition(status, "Available", wanted.is_available, now());
    if (wanted.progressing) write_condition(status, "Progressing", *wanted.progressing, now());
  });
}

void Workloads::write_status(const Workload& set, const controllers::StatefulSetStatus& wanted) {
  edit_status(set, [&](JsonValue& status) {
    set_text(status, "currentRevision", wanted.current_revision);
    set_text(status, "updateRevision", wanted.update_revision);
    set_number(status, "replicas", wanted.counts.active);
    set_number(status, "availableReplicas", wanted.counts.available);
    set_count(status, "readyReplicas", wanted.counts.ready);
    set_count(status, "updatedReplicas", wanted.updated);
    const bool all_new = wanted.current_revision == wanted.update_revision;
    set_count(status, "currentReplicas",
              all_new ? wanted.updated : wanted.counts.active - wanted.updated);
    set_number(status, "collisionCount", 0);
    set_number(status, "observedGeneration", set.generation);
  });
}

void Workloads::write_status(const Workload& set, const controllers::DaemonSetStatus& wanted) {
  edit_status(set, [&](JsonValue& status) {
    set_number(status, "currentNumberScheduled", wanted.current);
    set_number(status, "numberMisscheduled", wanted.misscheduled);
    set_number(status, "desiredNumberScheduled", wanted.desired);
    set_number(status, "numberReady", wanted.ready);
    set_number(status, "observedGeneration", set.generation);
    set_count(status, "updatedNumberScheduled", wanted.updated);
    set_count(status, "numberAvailable", wanted.available);
    set_count(status, "numberUnavailable", wanted.desired - wanted.available);
  });
}

void Workloads::write_status(const Workload& job, const controllers::JobStatus& wanted) {
  const bool by_rule = !wanted.success_rule.empty();
  const std::string_view reason = by_rule ? "SuccessPolicy" : "CompletionsReached";
  const std::string_view message =
      by_rule ? std::string_view(wanted.success_rule) : "Reached expected number of succeeded pods";
  edit_status(job, [&](JsonValue& status) {
    if (!job.job.suspended && text_at(status, "startTime").empty())
      set_text(status, "startTime", rfc3339(now()));
    set_count(status, "active", wanted.active);
    set_count(status, "succeeded", wanted.succeeded);
    set_count(status, "failed", wanted.failed);
    set_number(status, "terminating", wanted.terminating);
    set_number(status, "ready", wanted.ready);
    set(status, "uncountedTerminatedPods", JsonValue::object());
    if (!wanted.completed_indexes.empty())
      set_text(status, "completedIndexes", wanted.completed_indexes);
    if (job.job.backoff_limit_per_index) set_text(status, "failedIndexes", wanted.failed_indexes);
    if (job.job.suspended) {
      set_condition(status, "Suspended", "True", "JobSuspended", "Job suspended", now());
      erase(status, "startTime");
    } else if (job.status.suspended) {
      set_condition(status, "Suspended", "False", "JobResumed", "Job resumed", now());
    }
    if (wanted.complete)
      set_condition(status, "SuccessCriteriaMet", "True", reason, message, now());
    else if (!wanted.failure_reason.empty())
      set_condition(status, "FailureTarget", "True", wanted.failure_reason, wanted.failure_message,
                    now());
    if (!wanted.finished) return;
    if (wanted.complete) {
      set_text(status, "completionTime", rfc3339(now()));
      set_condition(status, "Complete", "True", reason, message, now());
    } else {
      set_condition(status, "Failed", "True", wanted.failure_reason, wanted.failure_message, now());
    }
  });
}

}  // namespace berth::control_plane
