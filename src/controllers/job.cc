#include "controllers/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace berth::controllers {
namespace {

constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

// "0-3,5": the form of completedIndexes.
std::string ranges_of(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first;
    for (auto next = std::next(first); next != numbers.end() && *next == *last + 1; ++next)
      last = next;
    if (!text.empty()) text += ',';
    text += *first == *last ? fmt::format("{}", *first) : fmt::format("{}-{}", *first, *last);
    first = std::next(last);
  }
  return text;
}

// Parses completedIndexes. Only those below `end_index` count.
std::set<std::int64_t> indexes_in(std::string_view ranges, std::int64_t end_index) {
  std::set<std::int64_t> numbers;
  const char* at = ranges.data();
  const char* const end = at + ranges.size();
  while (at != end) {
    std::int64_t first = 0;
    const auto one = std::from_chars(at, end, first);
    if (one.ec != std::errc()) break;
    std::int64_t last = first;
    at = one.ptr;
    if (at != end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    last = std::min(last, end_index - 1);
    for (first = std::max<std::int64_t>(first, 0); first <= last; ++first) numbers.insert(first);
    if (at != end) ++at;
  }
  return numbers;
}

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
  bool complete = false;
  std::string_view failure_reason;

  bool over() const { return complete || !failure_reason.empty(); }
};

JobController::JobController(Loop& loop, PodIndex& pods, WorkloadWorld& world)
    : Controller(loop), pods_(pods), world_(world) {
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    pod_changed(before, after);
  });
}

void JobController::pod_changed(const PodFacts* before, const PodFacts* after) {
  const PodFacts& pod = after != nullptr ? *after : *before;
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
  if (spec.indexed) tally.done_indexes = indexes_in(job.status.completed_indexes, end_index);
  for (const PodFacts* pod : pods_.of_controller(job.uid)) {
    const std::optional<std::int64_t> index = completion_index_of(*pod);
    if (pod->phase == PodPhase::kSucceeded) {
      if (spec.indexed && index && *index >= 0 && *index < end_index)
        tally.done_indexes.insert(*index);
      ++tally.succeeded;
    } else if (pod->phase == PodPhase::kFailed) {
      ++tally.failed;
    } else if (pod->terminating) {
      ++tally.terminating;
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
  tally.complete = spec.completions
                       ? tally.succeeded >= *spec.completions
                       : tally.succeeded > 0 && tally.active == 0 && tally.terminating == 0;
  if (!tally.complete) {
    if (tally.failed > spec.backoff_limit) tally.failure_reason = "BackoffLimitExceeded";
    if (spec.active_deadline && job.status.start_time &&
        *job.status.start_time + *spec.active_deadline <= now())
      tally.failure_reason = "DeadlineExceeded";
  }
  if (!tally.over() && !spec.suspended) {
    if (spec.completions)
      tally.wanted = std::min(spec.parallelism,
                              std::max<std::int64_t>(*spec.completions - tally.succeeded, 0));
    else
      tally.wanted = tally.succeeded > 0 ? tally.active : spec.parallelism;
  }
  return tally;
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
  if (!job) return;
  if (job->status.finished) return sync_finished(*job);
  pods_.catch_up();
  Tally tally = count(*job);
  if (!job->terminating) {
    if (tally.active > tally.wanted)
      stop_pods(*job, static_cast<std::size_t>(tally.active - tally.wanted));
    if (tally.active < tally.wanted) start_pods(*job, tally);
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
  status.complete = tally.complete;
  status.failure_reason = tally.failure_reason;
  status.finished = tally.over() && tally.active == 0 && tally.terminating == 0;
  world_.write_status(*job, status);
  if (status.finished && tally.complete)
    world_.record(*job, EventType::kNormal, "Completed", "Job completed");
  else if (status.finished)
    world_.record(*job, EventType::kWarning, tally.failure_reason, "Job has failed");
  if (job->job.active_deadline && !tally.over())
    enqueue_after(*job->job.active_deadline, key, TimerKind::kHousekeeping);
}

void JobController::start_pods(const Workload& job, const Tally& tally) {
  std::int64_t next_index = 0;
  const std::int64_t missing = tally.wanted - tally.active;
  for (std::int64_t i = 0; i < std::min(missing, kMostPodsAtOnce); ++i) {
    PodParts parts;
    parts.prefix = job.name + "-";
    parts.labels = {{"batch.kubernetes.io/job-name", job.name}, {"job-name", job.name}};
    if (job.job.indexed) {
      while (tally.done_indexes.contains(next_index) || tally.running_indexes.contains(next_index))
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
