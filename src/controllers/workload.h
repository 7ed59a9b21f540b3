// Workload: a Deployment, ReplicaSet, StatefulSet, DaemonSet or Job, as its controller reads it; and
// what the controllers of workloads share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "controllers/job_policy.h"
#include "controllers/pod_index.h"

namespace berth::controllers {

// The label with which pods of a StatefulSet or DaemonSet say what revision of its template they
// are of; that of a Deployment's ReplicaSets and their pods.
inline constexpr std::string_view kRevisionLabel = "controller-revision-hash";
inline constexpr std::string_view kHashLabel = "pod-template-hash";

// Parity: how many pods a controller makes before it looks again.
inline constexpr std::int64_t kMostPodsAtOnce = 500;

// An entry of spec.volumeClaimTemplates.
struct ClaimTemplate {
  std::string name;
  std::string json;
};

struct DeploymentSpec {
  bool recreate = false;
  bool paused = false;
  std::string max_surge = "25%";
  std::string max_unavailable = "25%";
  std::int64_t revision_history_limit = 10;
  Duration progress_deadline = std::chrono::seconds(600);
};

struct StatefulSetSpec {
  bool ordered = true;  // one after the other
  std::int64_t first_ordinal = 0;
  std::int64_t partition = 0;
  std::vector<ClaimTemplate> claim_templates;
};

// A Job whose pods have indexes has at most so many.
inline constexpr std::int64_t kMostIndexes = 100'000;

struct JobSpec {
  bool indexed = false;
  bool suspended = false;
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  std::int64_t backoff_limit = 6;
  std::optional<Duration> active_deadline;
  std::optional<Duration> ttl_after_finished;
  std::optional<std::int64_t> backoff_limit_per_index;
  std::optional<std::int64_t> max_failed_indexes;
  std::vector<PodFailureRule> failure_rules;
  std::vector<SuccessRule> success_rules;
  bool replaces_ended_only = false;  // podReplacementPolicy: Failed
  bool managed_elsewhere = false;    // by another controller than this
};

// What the controller wrote last.
struct WorkloadStatus {
  std::int64_t replicas = 0;
  std::int64_t updated = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  // Deployment: the condition Progressing
  std::string progress_reason;  // empty: there is none
  std::optional<WallTime> progress_time;
  // StatefulSet
  std::string current_revision;
  // Job
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::string completed_indexes;  // "0-3,5"
  std::string failed_indexes;
  std::optional<WallTime> start_time;
  bool finished = false;                // has the condition Complete or Failed
  std::optional<WallTime> finish_time;  // since when it has that condition
  bool suspended = false;               // has the condition Suspended
};

struct Workload {
  ObjectKind kind = ObjectKind::kReplicaSet;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  std::int64_t revision = 0;  // the annotation deployment.kubernetes.io/revision
  bool terminating = false;

  std::int64_t replicas = 1;
  Duration min_ready{0};
  bool replaces_old_pods = true;  // StatefulSet, DaemonSet: unless the strategy is OnDelete
  std::string daemons_unavailable = "1";
  std::string template_json;
  std::string template_hash;  // tells templates apart
  DeploymentSpec deployment;
  StatefulSetSpec stateful_set;
  JobSpec job;
  WorkloadStatus status;

  std::string key() const;
};

// Reads a workload from its JSON, with an API server's defaults for what it does not say. The hash
// is that of the template as it is written. Errors begin with the path of the field.
Result<Workload> read_workload(ObjectKind kind, std::string_view json);

// A hash of the template: ten characters that are valid in names.
std::string template_hash(std::string_view template_json);
// Five letters and digits as the API server chooses them, the same for the same seed.
std::string name_suffix(std::string_view seed, std::uint64_t number);

// "3" or "25%" of `total`.
std::int64_t scaled_value(std::string_view text, std::int64_t total, bool round_up,
                          std::int64_t otherwise);

// Of which pods a controller that has too many parts with first: those that never ran, are not
// ready, or are young.
void sort_for_removal(std::vector<const PodFacts*>& pods);

// A pod that has only come further changes nothing but numbers. Many do at one time.
bool changes_only_numbers(const PodFacts* before, const PodFacts* after);

// How many pods are active, ready and available.
struct ReplicaCounts {
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
};
ReplicaCounts count_replicas(const std::vector<const PodFacts*>& pods, Duration min_ready,
                             WallTime now);

}  // namespace berth::controllers
