#include "controllers/workload.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

#include "api/read_values.h"
#include "controllers/controller.h"
#include "wire/json_reader.h"

namespace berth::controllers {
namespace {

constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
constexpr std::string_view kJobController = "kubernetes.io/job-controller";

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Names without vowels and lookalikes, so that they spell nothing.
std::string spell(std::uint64_t number, std::size_t length) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (std::size_t i = 0; i < length; ++i, number /= kLetters.size())
    text += kLetters[number % kLetters.size()];
  return text;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads the fields of a workload, each where it stands.
struct WorkloadReader {
  JsonReader& json;
  Workload& workload;
  std::optional<std::int64_t> parallelism{};

  std::int64_t count() { return std::max<std::int64_t>(json.int32(), 0); }
  Duration seconds() {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    return std::chrono::seconds(std::clamp<std::int64_t>(json.int64(), 0, kMost));
  }
  // A number, or a text.
  std::string int_or_text() {
    std::string_view raw = json.raw();
    if (raw.size() >= 2 && raw.front() == '"') raw = raw.substr(1, raw.size() - 2);
    return std::string(raw);
  }

  void metadata(std::string_view field) {
    if (field == "name") workload.name = json.text();
    if (field == "namespace") workload.namespace_name = json.text();
    if (field == "uid") workload.uid = json.text();
    if (field == "generation") workload.generation = json.int64();
    if (field == "deletionTimestamp") workload.terminating = true;
    if (field == "annotations")
      json.entries([&](std::string_view name) {
        if (name == kRevision) workload.revision = number_in(json.text()).value_or(0);
      });
  }

  void rolling_update(std::string_view field) {
    if (field == "maxSurge") workload.deployment.max_surge = int_or_text();
    if (field == "partition") workload.stateful_set.partition = count();
    if (field == "maxUnavailable")
      workload.deployment.max_unavailable = workload.daemons_unavailable = int_or_text();
  }

  // strategy, updateStrategy
  void strategy(std::string_view field) {
    if (field == "type") {
      const std::string_view type = json.text();
      workload.deployment.recreate = type == "Recreate";
      workload.replaces_old_pods = type != "OnDelete";
    } else if (field == "rollingUpdate") {
      json.fields([&](std::string_view name) { rolling_update(name); });
    }
  }

  void claim_template() {
    ClaimTemplate made;
    made.json = json.raw();
    JsonReader entry(made.json);
    entry.fields([&](std::string_view top) {
      if (top != "metadata") return;
      entry.fields([&](std::string_view field) {
        if (field == "name") made.name = entry.text();
      });
    });
    workload.stateful_set.claim_templates.push_back(std::move(made));
  }

  void job_spec(std::string_view field) {
    JobSpec& job = workload.job;
    if (field == "parallelism") parallelism = count();
    if (field == "completions") job.completions = count();
    if (field == "completionMode") job.indexed = json.text() == "Indexed";
    if (field == "suspend") job.suspended = json.boolean();
    if (field == "backoffLimit") job.backoff_limit = json.int32();
    if (field == "activeDeadlineSeconds") job.active_deadline = seconds();
    if (field == "ttlSecondsAfterFinished") job.ttl_after_finished = seconds();
    if (field == "backoffLimitPerIndex") job.backoff_limit_per_index = count();
    if (field == "maxFailedIndexes") job.max_failed_indexes = count();
    if (field == "podFailurePolicy") job.failure_rules = read_pod_failure_policy(json.raw());
    if (field == "successPolicy") job.success_rules = read_success_policy(json.raw());
    if (field == "podReplacementPolicy") job.replaces_ended_only = json.text() == "Failed";
    if (field == "managedBy") job.managed_elsewhere = json.text() != kJobController;
  }

  void spec(std::string_view field) {
    if (field == "replicas") workload.replicas = count();
    if (field == "minReadySeconds") workload.min_ready = seconds();
    if (field == "template") workload.template_json = json.raw();
    if (field == "paused") workload.deployment.paused = json.boolean();
    if (field == "revisionHistoryLimit") workload.deployment.revision_history_limit = count();
    if (field == "progressDeadlineSeconds") workload.deployment.progress_deadline = seconds();
    if (field == "podManagementPolicy") workload.stateful_set.ordered = json.text() != "Parallel";
    if (field == "strategy" || field == "updateStrategy")
      json.fields([&](std::string_view name) { strategy(name); });
    if (field == "ordinals")
      json.fields([&](std::string_view name) {
        if (name == "start") workload.stateful_set.first_ordinal = json.int32();
      });
    if (field == "volumeClaimTemplates") json.items([&] { claim_template(); });
    if (workload.kind == ObjectKind::kJob) job_spec(field);
  }

  void condition() {
    std::string type, value, reason;
    std::optional<WallTime> updated, changed;
    json.fields([&](std::string_view field) {
      if (field == "type") type = json.text();
      if (field == "status") value = json.text();
      if (field == "reason") reason = json.text();
      if (field == "lastUpdateTime") updated = read_time(json);
      if (field == "lastTransitionTime") changed = read_time(json);
    });
    WorkloadStatus& status = workload.status;
    if (type == "Progressing") {
      status.progress_reason = reason;
      status.progress_time = updated;
    }
    if (value != "True") return;
    if (type == "Complete" || type == "Failed") {
      status.finished = true;
      status.finish_time = changed;
    }
    if (type == "Suspended") status.suspended = true;
  }

  void status(std::string_view field) {
    WorkloadStatus& status = workload.status;
    if (field == "replicas") status.replicas = json.int32();
    if (field == "updatedReplicas") status.updated = json.int32();
    if (field == "readyReplicas") status.ready = json.int32();
    if (field == "availableReplicas") status.available = json.int32();
    if (field == "currentRevision") status.current_revision = json.text();
    if (field == "succeeded") status.succeeded = json.int32();
    if (field == "failed") status.failed = json.int32();
    if (field == "completedIndexes") status.completed_indexes = json.text();
    if (field == "failedIndexes") status.failed_indexes = json.text();
    if (field == "startTime") status.start_time = read_time(json);
    if (field == "conditions") json.items([&] { condition(); });
  }
};

}  // namespace

std::string Workload::key() const { return object_key(namespace_name, name); }

Result<Workload> read_workload(ObjectKind kind, std::string_view text) {
  Workload workload;
  workload.kind = kind;
  JsonReader json(text);
  WorkloadReader read{json, workload};
  json.fields([&](std::string_view top) {
    if (top == "metadata") json.fields([&](std::string_view field) { read.metadata(field); });
    if (top == "spec") json.fields([&](std::string_view field) { read.spec(field); });
    if (top == "status") json.fields([&](std::string_view field) { read.status(field); });
  });
  if (json.error()) return fail(*json.error());
  // Parity: a Job that gives neither has one completion. One that gives only parallelism is a queue
  // of work: it is done when a pod has succeeded and all have ended.
  if (!read.parallelism && !workload.job.completions) workload.job.completions = 1;
  workload.job.parallelism = read.parallelism.value_or(1);
  if (workload.job.indexed && workload.job.completions)
    workload.job.completions = std::min(*workload.job.completions, kMostIndexes);
  workload.template_hash = template_hash(workload.template_json);
  return workload;
}

std::string template_hash(std::string_view template_json) {
  return spell(hash_text(template_json), 10);
}

std::string name_suffix(std::string_view seed, std::uint64_t number) {
  std::uint64_t mixed = hash_text(seed) + number * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 31)) * 0xbf58476d1ce4e5b9;
  return spell(mixed >> 8, 5);
}

std::int64_t scaled_value(std::string_view text, std::int64_t total, bool round_up,
                          std::int64_t otherwise) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const std::optional<std::int64_t> number = number_in(text);
  if (!number) return otherwise;
  if (!percent) return *number;
  // Both fit well below where this would overflow, or the object is nonsense.
  if (*number > 1'000'000 || total > 1'000'000'000) return otherwise;
  return (*number * total + (round_up ? 99 : 0)) / 100;
}

void sort_for_removal(std::vector<const PodFacts*>& pods) {
  const auto rank = [](const PodFacts* pod) {
    // Greater versions are younger, near enough; the name makes the order full.
    return std::tuple(!pod->node.empty(), pod->phase != PodPhase::kPending, pod->ready(),
                      ~pod->version, std::string_view(pod->name));
  };
  std::ranges::sort(pods, {}, rank);
}

bool changes_only_numbers(const PodFacts* before, const PodFacts* after) {
  return before != nullptr && after != nullptr && before->active() && after->active() &&
         before->labels == after->labels && before->controller_uid == after->controller_uid;
}

ReplicaCounts count_replicas(const std::vector<const PodFacts*>& pods, Duration min_ready,
                             WallTime now) {
  ReplicaCounts counts;
  for (const PodFacts* pod : pods) {
    if (!pod->active()) continue;
    ++counts.active;
    counts.ready += pod->ready() ? 1 : 0;
    counts.available += pod->available(min_ready, now) ? 1 : 0;
  }
  return counts;
}

}  // namespace berth::controllers
