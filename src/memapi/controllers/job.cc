#include "memapi/controllers/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/time_text.h"
#include "memapi/admission.h"
#include "memapi/controllers/workloads.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kIndexAnnotation = "batch.kubernetes.io/job-completion-index";
constexpr std::string_view kJobComponent = "job-controller";

const Resource& jobs() { return resource_of("jobs", "batch"); }

bool has_condition(const JsonValue& tree, std::string_view type) {
  return std::ranges::any_of(items_at(tree, "status.conditions"), [&](const JsonValue& condition) {
    return text_at(condition, "type") == type && text_at(condition, "status") == "True";
  });
}

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

std::optional<std::int64_t> index_of(const PodFacts& pod) {
  const std::string_view text = pod.label(kIndexAnnotation);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

struct JobController::Tally {
  bool indexed = false;
  bool suspended = false;
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::set<std::int64_t> done_indexes;
  std::set<std::int64_t> running_indexes;
  bool complete = false;
  bool hopeless = false;
  std::string why_hopeless;

  bool over() const { return complete || hopeless; }
  // How many pods should be running now.
  std::int64_t wanted() const {
    if (over() || suspended) return 0;
    if (!completions) return succeeded > 0 ? active : parallelism;
    return std::min(parallelism, std::max<std::int64_t>(*completions - succeeded, 0));
  }
};

JobController::JobController(LocalClient& api, PodIndex& pods) : Controller(api), pods_(pods) {
  follow(jobs(), [this](const Change& change) {
    if (change.type != ChangeType::kDeleted) enqueue(key_of(*change.object));
  });
  pods_.listen(alive(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts* pod = after != nullptr ? after : before;
    if (pod->controller_kind == "Job")
      enqueue(object_key(pod->object->namespace_name, pod->controller_name));
  });
}

JobController::Tally JobController::count(const StoredObject& job, const JsonValue& tree) const {
  Tally tally;
  tally.indexed = text_at(tree, "spec.completionMode") == "Indexed";
  tally.suspended = true_at(tree, "spec.suspend");
  tally.parallelism = std::max<std::int64_t>(int_at(tree, "spec.parallelism").value_or(1), 0);
  tally.completions = int_at(tree, "spec.completions");
  // Pods that were deleted after they ended still count.
  tally.succeeded = 0;
  for (const PodFacts* pod : pods_.of_controller(job.uid)) {
    const std::optional<std::int64_t> index = index_of(*pod);
    if (pod->phase == Phase::kSucceeded) {
      if (tally.indexed && index && !tally.done_indexes.insert(*index).second) continue;
      ++tally.succeeded;
    } else if (pod->phase == Phase::kFailed) {
      ++tally.failed;
    } else if (pod->terminating) {
      ++tally.terminating;
    } else {
      ++tally.active;
      tally.ready += pod->ready() ? 1 : 0;
      if (index) tally.running_indexes.insert(*index);
    }
  }
  tally.succeeded = std::max(tally.succeeded, int_at(tree, "status.succeeded").value_or(0));
  tally.failed = std::max(tally.failed, int_at(tree, "status.failed").value_or(0));
  if (tally.completions) {
    tally.complete = tally.succeeded >= *tally.completions;
  } else {
    tally.complete = tally.succeeded > 0 && tally.active == 0 && tally.terminating == 0;
  }
  if (tally.complete) return tally;
  if (tally.failed > int_at(tree, "spec.backoffLimit").value_or(6)) {
    tally.hopeless = true;
    tally.why_hopeless = "BackoffLimitExceeded";
  }
  const Result<WallTime> started = parse_rfc3339(text_at(tree, "status.startTime"));
  if (const auto deadline = int_at(tree, "spec.activeDeadlineSeconds");
      deadline && started && *started + std::chrono::seconds(*deadline) <= now()) {
    tally.hopeless = true;
    tally.why_hopeless = "DeadlineExceeded";
  }
  return tally;
}

void JobController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const ObjectRef job = api_.get(jobs(), name.namespace_name, name.name);
  if (!job) return;
  const JsonValue tree = job->tree();
  if (has_condition(tree, "Complete") || has_condition(tree, "Failed")) {
    const auto keep = int_at(tree, "spec.ttlSecondsAfterFinished");
    const Result<WallTime> end = parse_rfc3339(text_at(tree, "status.completionTime"));
    if (!keep || !end || is_terminating(tree)) return;
    const Duration left = *end + std::chrono::seconds(*keep) - now();
    if (left > Duration::zero()) return enqueue_after(left, key);
    static_cast<void>(api_.remove(jobs(), name.namespace_name, name.name,
                                  {.uid = job->uid, .propagation = Propagation::kForeground}));
    return;
  }
  pods_.catch_up();
  Tally tally = count(*job, tree);
  if (!is_terminating(tree)) {
    const std::int64_t wanted = tally.wanted();
    if (tally.active > wanted) stop_pods(*job, static_cast<std::size_t>(tally.active - wanted));
    if (tally.active < wanted) start_pods(*job, tree, tally);
    pods_.catch_up();
    tally = count(*job, tree);
  }
  write_status(*job, tree, tally);
  if (const auto deadline = int_at(tree, "spec.activeDeadlineSeconds"); deadline && !tally.over())
    enqueue_after(std::chrono::seconds(*deadline), key);
}

void JobController::start_pods(const StoredObject& job, const JsonValue& tree, const Tally& tally) {
  std::int64_t next_index = 0;
  for (std::int64_t i = tally.active; i < tally.wanted(); ++i) {
    JsonValue pod = pod_from_template(jobs(), job, tree);
    if (tally.indexed) {
      while (tally.done_indexes.contains(next_index) || tally.running_indexes.contains(next_index))
        ++next_index;
      const std::string index = fmt::format("{}", next_index++);
      JsonValue& metadata = object_at(pod, "metadata");
      set_text(metadata, "generateName", fmt::format("{}-{}-", job.name, index));
      set_text(object_at(metadata, "annotations"), kIndexAnnotation, index);
      set_text(object_at(metadata, "labels"), kIndexAnnotation, index);
      set_text(object_at(pod, "spec"), "hostname", fmt::format("{}-{}", job.name, index));
    }
    const Answer<ObjectRef> created = api_.create(resource_of("pods"), std::move(pod));
    if (!created) {
      record(jobs(), job, "Warning", "FailedCreate",
             fmt::format("Error creating: {}", created.error().message), kJobComponent);
      enqueue_after(kRetryAfterRefusal, key_of(job));
      return;
    }
    record(jobs(), job, "Normal", "SuccessfulCreate",
           fmt::format("Created pod: {}", (*created)->name), kJobComponent);
  }
}

void JobController::stop_pods(const StoredObject& job, std::size_t how_many) {
  std::vector<const PodFacts*> active = pods_.of_controller(job.uid);
  std::erase_if(active, [](const PodFacts* pod) { return !pod->active(); });
  sort_for_removal(active);
  active.resize(std::min(how_many, active.size()));
  for (const PodFacts* pod : active) {
    const StoredObject& object = *pod->object;
    static_cast<void>(
        api_.remove(resource_of("pods"), object.namespace_name, object.name, {.uid = object.uid}));
  }
}

void JobController::write_status(const StoredObject& job, const JsonValue& tree,
                                 const Tally& tally) {
  const bool finished = tally.over() && tally.active == 0 && tally.terminating == 0;
  const bool was_suspended = has_condition(tree, "Suspended");
  static_cast<void>(api_.update_status(
      jobs(), job.namespace_name, job.name, [&](JsonValue& object) -> Answer<void> {
        JsonValue& status = object_at(object, "status");
        if (!tally.suspended && text_at(status, "startTime").empty())
          set_text(status, "startTime", rfc3339(now()));
        set_count(status, "active", tally.active);
        set_count(status, "succeeded", tally.succeeded);
        set_count(status, "failed", tally.failed);
        set(status, "terminating", JsonValue::of_int(tally.terminating));
        set(status, "ready", JsonValue::of_int(tally.ready));
        set(status, "uncountedTerminatedPods", JsonValue::object());
        if (tally.indexed && !tally.done_indexes.empty())
          set_text(status, "completedIndexes", ranges_of(tally.done_indexes));
        if (tally.suspended) {
          set_condition(status, "Suspended", "True", "JobSuspended", "Job suspended", now());
          erase(status, "startTime");
        } else if (was_suspended) {
          set_condition(status, "Suspended", "False", "JobResumed", "Job resumed", now());
        }
        if (tally.complete) {
          set_condition(status, "SuccessCriteriaMet", "True", "CompletionsReached",
                        "Reached expected number of succeeded pods", now());
        } else if (tally.hopeless) {
          set_condition(status, "FailureTarget", "True", tally.why_hopeless, "", now());
        }
        if (!finished) return {};
        set_text(status, "completionTime", rfc3339(now()));
        if (tally.complete) {
          set_condition(status, "Complete", "True", "CompletionsReached",
                        "Reached expected number of succeeded pods", now());
        } else {
          erase(status, "completionTime");
          set_condition(status, "Failed", "True", tally.why_hopeless,
                        tally.why_hopeless == "DeadlineExceeded"
                            ? "Job was active longer than specified deadline"
                            : "Job has reached the specified backoff limit",
                        now());
        }
        return {};
      }));
  if (finished && tally.complete) {
    record(jobs(), job, "Normal", "Completed", "Job completed", kJobComponent);
  } else if (finished) {
    record(jobs(), job, "Warning", tally.why_hopeless, "Job has failed", kJobComponent);
  }
}

}  // namespace berth::memapi
