#include "controllers/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace berth::controllers {
namespace {

constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

std::optional<std::int64_t> completion_index_of(const PodFacts& pod) {
  const std::string_view text = pod.label(kIndex);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

struct JobController::Tally {
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t wanted = 0;  // how many pods should be running now
  std::set<std::int64_t> done_indexes;
  std::set<std::int64_t> running_indexes;
  std::set<std::int64_t> failed_indexes;
  bool complete = false;
  std::string success_rule;
  std::string_view failure_reason;
  std::string failure_message;

  bool over() const { return complete || !failure_reason.empty(); }
  void fail(std::string_view reason, std::string message) {
    failure_reason = reason;
    failure_message = std::move(message);
  }
};

JobController::JobController(Loop& loop, PodIndex& pods, WorkloadWorld& world)
    : Controller(loop), pods_(pods), world_(world) {
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    pod_changed(before, after);
  });
}

void JobController::pod_changed(const PodFacts* before, const PodFacts* after) {
  const PodFacts& pod = after != nullptr ? *after : *before;
  // A pod that was let go of, or never had a controller, may be taken (back).
  if (before != nullptr && after != nullptr && before->controller_uid != after->controller_uid &&
      before->controller_kind == "Job")
    enqueue(object_key(before->namespace_name, before->controller_name));
  if (const std::string_view name = pod.label(kJobName);
      pod.controller_uid.empty() && !name.empty())
    enqueue(object_key(pod.namespace_name, name));
  if (pod.controller_kind != "Job") return;
  std::string key = object_key(pod.namespace_name, pod.controller_name);
  if (after == nullptr && pod.ended()) {
    Removed& removed = removed_[key];
    if (removed.job_uid != pod.controller_uid) removed = {.job_uid = pod.controller_uid};
    ++(pod.phase == PodPhase::kSucceeded ? removed.succeeded : removed.failed);
  }
  if (changes_only_numbers(before, after))
    enqueue_after(Duration::zero(), std::move(key));
  else
    enqueue(std::move(key));
}

JobController::Tally JobController::count(const Workload& job) const {
  const JobSpec& spec = job.job;
  Tally tally;
  const std::int64_t end_index = spec.completions.value_or(kMostIndexes);
  if (spec.indexed) {
    tally.done_indexes = numbers_in(job.status.completed_indexes, end_index);
    tally.failed_indexes = numbers_in(job.status.failed_indexes, end_index);
  }
  std::map<std::int64_t, std::int64_t> failures;  // by index
  for (const PodFacts* pod : pods_.of_controller(job.uid)) {
    const std::optional<std::int64_t> index = completion_index_of(*pod);
    if (pod->phase == PodPhase::kSucceeded) {
      if (spec.indexed && index && *index >= 0 && *index < end_index)
        tally.done_indexes.insert(*index);
      ++tally.succeeded;
    } else if (pod->phase == PodPhase::kFailed) {
      FailureVerdict verdict = judge_failure(spec.failure_rules, *pod);
      if (verdict.action == PodFailureRule::Action::kIgnore) continue;
      ++tally.failed;
      if (verdict.action == PodFailureRule::Action::kFailJob)
        tally.fail("PodFailurePolicy", std::move(verdict.message));
      if (!spec.indexed || !index) continue;
      const std::int64_t failed = ++failures[*index];
      const bool given_up = verdict.action == PodFailureRule::Action::kFailIndex ||
                            failed > spec.backoff_limit_per_index.value_or(0);
      if (spec.backoff_limit_per_index && given_up) tally.failed_indexes.insert(*index);
    } else if (pod->terminating) {
      ++tally.terminating;
      if (spec.replaces_ended_only && index) tally.running_indexes.insert(*index);
    } else {
      ++tally.active;
      tally.ready += pod->ready() ? 1 : 0;
      if (index) tally.running_indexes.insert(*index);
    }
  }
  // Pods that were deleted after they ended still count.
  const auto removed = removed_.find(job.key());
  if (removed != removed_.end() && removed->second.job_uid == job.uid) {
    tally.succeeded += removed->second.succeeded;
    tally.failed += removed->second.failed;
  }
  if (spec.indexed) tally.succeeded = static_cast<std::int64_t>(tally.done_indexes.size());
  tally.succeeded = std::max(tally.succeeded, job.status.succeeded);
  tally.failed = std::max(tally.failed, job.status.failed);
  for (const std::int64_t index : tally.done_indexes) tally.failed_indexes.erase(index);
  settle(job, tally);
  return tally;
}

void JobController::settle(const Workload& job, Tally& tally) const {
  const JobSpec& spec = job.job;
  const auto given_up = static_cast<std::int64_t>(tally.failed_indexes.size());
  tally.complete = spec.completions
                       ? tally.succeeded >= *spec.completions
                       : tally.succeeded > 0 && tally.active == 0 && tally.terminating == 0;
  if (const auto rule = met_rule(spec.success_rules, tally.done_indexes);
      rule && !tally.complete && tally.failure_reason.empty()) {
    tally.complete = true;
    tally.success_rule = fmt::format("Matched rules at index {}", *rule);
  }
  if (!tally.complete && tally.failure_reason.empty()) {
    if (tally.failed > spec.backoff_limit)
      tally.fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    if (spec.max_failed_indexes && given_up > *spec.max_failed_indexes) {
      tally.fail("MaxFailedIndexesExceeded",
                 "Job has exceeded the specified maximal number of failed indexes");
    } else if (spec.completions && given_up > 0 &&
               tally.succeeded + given_up >= *spec.completions) {
      tally.fail("FailedIndexes", "Job has failed indexes");
    }
    if (spec.active_deadline && job.status.start_time &&
        *job.status.start_time + *spec.active_deadline <= now())
      tally.fail("DeadlineExceeded", "Job was active longer than specified deadline");
  }
  if (!tally.over() && !spec.suspended) {
    if (spec.completions)
      tally.wanted =
          std::min(spec.parallelism,
                   std::max<std::int64_t>(*spec.completions - tally.succeeded - given_up, 0));
    else
      tally.wanted = tally.succeeded > 0 ? tally.active : spec.parallelism;
  }
}

void JobController::sync_finished(const Workload& job) {
  if (!job.job.ttl_after_finished || !job.status.finish_time || job.terminating) return;
  const Duration left = *job.status.finish_time + *job.job.ttl_after_finished - now();
  if (left > Duration::zero()) return enqueue_after(left, job.key(), TimerKind::kHousekeeping);
  world_.remove(job);
}

void JobController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const std::optional<Workload> job = world_.find(ObjectKind::kJob, name.namespace_name, name.name);
  if (!job || job->status.finished) removed_.erase(key);
  if (!job || job->job.managed_elsewhere) return;
  if (job->status.finished) return sync_finished(*job);
  pods_.catch_up();
  if (!job->terminating) world_.adopt_pods(*job);
  Tally tally = count(*job);
  if (!job->terminating) {
    if (tally.active > tally.wanted)
      stop_pods(*job, static_cast<std::size_t>(tally.active - tally.wanted));
    if (missing_pods(*job, tally) > 0) start_pods(*job, tally);
    pods_.catch_up();
    tally = count(*job);
  }
  JobStatus status;
  status.active = tally.active;
  status.ready = tally.ready;
  status.terminating = tally.terminating;
  status.succeeded = tally.succeeded;
  status.failed = tally.failed;
  if (job->job.indexed) status.completed_indexes = ranges_of(tally.done_indexes);
  if (job->job.backoff_limit_per_index) status.failed_indexes = ranges_of(tally.failed_indexes);
  status.complete = tally.complete;
  status.success_rule = tally.success_rule;
  status.failure_reason = tally.failure_reason;
  status.failure_message = tally.failure_message;
  status.finished = tally.over() && tally.active == 0 && tally.terminating == 0;
  world_.write_status(*job, status);
  if (status.finished && tally.complete)
    world_.record(*job, EventType::kNormal, "Completed", "Job completed");
  else if (status.finished)
    world_.record(*job, EventType::kWarning, tally.failure_reason, "Job has failed");
  if (job->job.active_deadline && !tally.over())
    enqueue_after(*job->job.active_deadline, key, TimerKind::kHousekeeping);
}

std::int64_t JobController::missing_pods(const Workload& job, const Tally& tally) {
  // Pods that are still going take the place of new ones, if the Job says so.
  return tally.wanted - tally.active - (job.job.replaces_ended_only ? tally.terminating : 0);
}

void JobController::start_pods(const Workload& job, const Tally& tally) {
  std::int64_t next_index = 0;
  const std::int64_t missing = missing_pods(job, tally);
  for (std::int64_t i = 0; i < std::min(missing, kMostPodsAtOnce); ++i) {
    PodParts parts;
    parts.prefix = job.name + "-";
    parts.labels = {{std::string(kJobName), job.name}, {"job-name", job.name}};
    if (job.job.indexed) {
      while (tally.done_indexes.contains(next_index) ||
             tally.running_indexes.contains(next_index) ||
             tally.failed_indexes.contains(next_index))
        ++next_index;
      const std::string index = fmt::format("{}", next_index++);
      parts.prefix = fmt::format("{}-{}-", job.name, index);
      parts.labels.emplace_back(kIndex, index);
      parts.annotations.emplace_back(kIndex, index);
      parts.hostname = fmt::format("{}-{}", job.name, index);
    }
    const Result<std::string> created = world_.create_pod(job, parts);
    if (!created) {
      world_.record(job, EventType::kWarning, "FailedCreate",
                    fmt::format("Error creating: {}", created.error().message));
      enqueue_after(kRetryAfterRefusal, job.key(), TimerKind::kHousekeeping);
      return;
    }
    world_.record(job, EventType::kNormal, "SuccessfulCreate",
                  fmt::format("Created pod: {}", *created));
  }
  if (missing > kMostPodsAtOnce) enqueue(job.key());
}

void JobController::stop_pods(const Workload& job, std::size_t how_many) {
  std::vector<const PodFacts*> active = pods_.of_controller(job.uid);
  std::erase_if(active, [](const PodFacts* pod) { return !pod->active(); });
  sort_for_removal(active);
  active.resize(std::min(how_many, active.size()));
  std::vector<PodFacts> surplus;  // copies: the index changes while they go
  for (const PodFacts* pod : active) surplus.push_back(*pod);
  for (const PodFacts& pod : surplus) world_.delete_pod(pod);
}

}  // namespace berth::controllers
