// Defaults of the kinds that make pods.

#include <algorithm>
#include <limits>

#include "memapi/defaults.h"

namespace berth::memapi {
namespace {

void default_template(JsonValue& spec) { default_pod_spec(object_at(spec, "template.spec")); }

bool has_labels(const JsonValue& object, std::string_view path) {
  const JsonValue* labels = at(object, path);
  return is_object(labels) && !labels->members.empty();
}

// An object without labels gets those of its pods.
void default_labels(JsonValue& object) {
  if (!has_labels(object, "spec.template.metadata.labels") || has_labels(object, "metadata.labels"))
    return;
  JsonValue labels = *at(object, "spec.template.metadata.labels");
  set(object_at(object, "metadata"), "labels", std::move(labels));
}

void default_job_spec(JsonValue& spec) {
  const auto absent = [&](std::string_view name) { return spec.find(name) == nullptr; };
  // Parity: parallelism without completions is a queue of work.
  if (absent("completions") && absent("parallelism"))
    set(spec, "completions", JsonValue::of_int(1));
  set_default(spec, "parallelism", JsonValue::of_int(1));
  set_default(spec, "backoffLimit",
              JsonValue::of_int(
                  absent("backoffLimitPerIndex") ? 6 : std::numeric_limits<std::int32_t>::max()));
  set_default(spec, "completionMode", JsonValue::of_text("NonIndexed"));
  set_default(spec, "suspend", JsonValue::of_bool(false));
  set_default(spec, "podReplacementPolicy",
              JsonValue::of_text(absent("podFailurePolicy") ? "TerminatingOrFailed" : "Failed"));
  set_default(spec, "manualSelector", JsonValue::of_bool(false));
  each_item(spec, "podFailurePolicy.rules", [](JsonValue& rule) {
    each_item(rule, "onPodConditions",
              [](JsonValue& condition) { default_text(condition, "status", "True"); });
  });
  default_template(spec);
}

void default_cron_job_spec(JsonValue& spec) {
  default_text(spec, "concurrencyPolicy", "Allow");
  set_default(spec, "suspend", JsonValue::of_bool(false));
  set_default(spec, "successfulJobsHistoryLimit", JsonValue::of_int(3));
  set_default(spec, "failedJobsHistoryLimit", JsonValue::of_int(1));
  default_template(object_at(spec, "jobTemplate.spec"));
}

using Parameters = std::initializer_list<std::pair<std::string_view, JsonValue>>;

// Rolling updates unless something else is said, with these parameters.
void default_strategy(JsonValue& spec, std::string_view member, Parameters parameters) {
  JsonValue& strategy = object_at(spec, member);
  default_text(strategy, "type", "RollingUpdate");
  if (text_at(strategy, "type") != "RollingUpdate") return;
  JsonValue& update = object_at(strategy, "rollingUpdate");
  for (const auto& [name, value] : parameters) set_default(update, name, JsonValue(value));
}

void default_stateful_set(JsonValue& spec) {
  default_text(spec, "podManagementPolicy", "OrderedReady");
  // Parity: who says "RollingUpdate" without parameters gets none.
  const bool parameters = at(spec, "updateStrategy.rollingUpdate") != nullptr;
  if (parameters || text_at(spec, "updateStrategy.type").empty()) {
    default_strategy(
        spec, "updateStrategy",
        {{"partition", JsonValue::of_int(0)}, {"maxUnavailable", JsonValue::of_int(1)}});
  }
  JsonValue& retention = object_at(spec, "persistentVolumeClaimRetentionPolicy");
  default_text(retention, "whenDeleted", "Retain");
  default_text(retention, "whenScaled", "Retain");
  each_item(spec, "volumeClaimTemplates", [](JsonValue& claim) {
    set_default(object_at(claim, "spec"), "volumeMode", JsonValue::of_text("Filesystem"));
    default_text(object_at(claim, "status"), "phase", "Pending");
    set_text(claim, "kind", "PersistentVolumeClaim");
    set_text(claim, "apiVersion", "v1");
  });
}

}  // namespace

bool is_workload(std::string_view plural) {
  constexpr std::string_view kWorkloads[] = {
      "cronjobs",    "daemonsets",   "deployments",           "jobs",
      "replicasets", "statefulsets", "replicationcontrollers"};
  return std::ranges::find(kWorkloads, plural) != std::end(kWorkloads);
}

void default_workload(std::string_view plural, JsonValue& object) {
  JsonValue& spec = object_at(object, "spec");
  if (plural == "cronjobs") return default_cron_job_spec(spec);
  if (plural == "jobs") {
    default_job_spec(spec);
    return default_labels(object);
  }
  // A ReplicationController may have none.
  if (plural != "replicationcontrollers" || at(spec, "template") != nullptr) default_template(spec);
  if (plural != "daemonsets") set_default(spec, "replicas", JsonValue::of_int(1));
  if (plural == "replicationcontrollers") {
    if (has_labels(spec, "template.metadata.labels") && !has_labels(spec, "selector")) {
      JsonValue labels = *at(spec, "template.metadata.labels");
      set(spec, "selector", std::move(labels));
    }
    return default_labels(object);
  }
  if (plural == "replicasets") return;
  set_default(spec, "revisionHistoryLimit", JsonValue::of_int(10));
  if (plural == "deployments") {
    set_default(spec, "progressDeadlineSeconds", JsonValue::of_int(600));
    default_strategy(
        spec, "strategy",
        {{"maxUnavailable", JsonValue::of_text("25%")}, {"maxSurge", JsonValue::of_text("25%")}});
  } else if (plural == "statefulsets") {
    default_stateful_set(spec);
  } else if (plural == "daemonsets") {
    default_strategy(
        spec, "updateStrategy",
        {{"maxUnavailable", JsonValue::of_int(1)}, {"maxSurge", JsonValue::of_int(0)}});
  }
}

}  // namespace berth::memapi
