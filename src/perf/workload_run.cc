#include "perf/workload_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "config/load.h"

namespace berth::perf {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(2);  // how often a barrier looks
constexpr std::string_view kNoGroups =
    "workloads with groups of pods (GenericWorkload) are not read";

}  // namespace

// Objects that come and go in the background while others are scheduled.
struct WorkloadRun::Churned {
  std::vector<ObjectTemplate*> templates;
  Duration interval{0};
  std::int64_t left = 0;  // how often still; negative: for ever
  bool recreate = false;
  std::string namespace_name;
  std::int64_t index = 0;
  std::vector<AnyObject> present;  // with recreate: to be deleted in the next round
};

WorkloadRun::WorkloadRun(const TestCase& test_case, const Workload& workload,
                         const PluginTable& plugins, const RunOptions& options)
    : test_case_(test_case), workload_(workload), plugins_(plugins), options_(options) {
  progress_.on_change([this] {
    if (done_ && done_()) loop_.stop();
  });
}

WorkloadRun::~WorkloadRun() = default;

Result<void> WorkloadRun::make_engine() {
  EngineOptions options;
  if (const auto groups = workload_.feature_gates.find("GenericWorkload");
      groups != workload_.feature_gates.end() && groups->second)
    return fail(ErrorKind::kUnavailable, std::string(kNoGroups));
  for (const auto& [gate, on] : workload_.feature_gates)
    if (Result<void> set = gates_.set(fmt::format("{}={}", gate, on)); !set)
      return fail(ErrorKind::kUnavailable, set.error().message);
  options.gates = gates_;
  if (test_case_.scheduler_config.empty()) {
    options.configuration = config::default_configuration(options.gates);
  } else {
    Result<config::Configuration> loaded = config::load_configuration(
        test_case_.folder + "/" + test_case_.scheduler_config, options.gates, interner_);
    if (!loaded) return fail(loaded.error());
    options.configuration = std::move(*loaded);
  }
  options.seed = options_.seed;
  options.verify_increments = options_.verify_increments;
  Result<std::unique_ptr<Engine>> made =
      Engine::make(loop_, interner_, plugins_, api_, observers_, std::move(options));
  if (!made) return fail(made.error());
  engine_ = std::move(*made);
  objects_.serve(engine_->cluster(), [this](Delta delta) { engine_->apply(std::move(delta)); });
  engine_->start();
  return {};
}

Result<WorkloadResult> WorkloadRun::run() {
  const std::string name = fmt::format("{}/{}", test_case_.name, workload_.name);
  WorkloadResult skipped;
  skipped.name = name;
  const auto not_run = [&](const Error& error) -> Result<WorkloadResult> {
    if (error.kind != ErrorKind::kUnavailable) return fail(error);
    skipped.skipped = error.message;
    return skipped;
  };
  if (Result<void> made = make_engine(); !made) return not_run(made.error());
  for (const Operation& operation : test_case_.operations)
    if (Outcome done = execute(operation); !done) return not_run(done.error());
  progress_.stop();
  if (const auto& difference = engine_->increment_difference())
    return fail(ErrorKind::kInternal, fmt::format("{}: increments differ: {}", name, *difference));
  const Result<std::size_t> checked = check_nodes();
  if (!checked) return fail(checked.error());
  WorkloadResult result = summarize(name, progress_.measured());
  result.nodes_checked = *checked;
  result.from_kept = engine_->decided_from_kept();
  result.peak_rss_bytes = peak_memory();
  return result;
}

WorkloadRun::Outcome WorkloadRun::execute(const Operation& operation) {
  const std::string_view opcode = operation.opcode();
  if (opcode == "createNodes") return create_nodes(operation);
  if (opcode == "createNamespaces") return create_namespaces(operation);
  if (opcode == "createPodSets") return create_pod_sets(operation);
  if (opcode == "createAny" || opcode == "createResourceClaims") return create_any(operation);
  if (opcode == "updateAny") return update_any(operation);
  if (opcode == "allocResourceClaims") return allocate_claims(operation);
  if (opcode == "deletePods") return delete_pods(operation);
  if (opcode == "churn") return begin_churn(operation);
  if (opcode == "barrier") return wait_at_barrier(operation);
  if (opcode == "sleep") return sleep(operation);
  if (opcode == "createPodGroups") return fail(ErrorKind::kUnavailable, std::string(kNoGroups));
  // Profiles of the Go program.
  if (opcode == "startCollectingProfile" || opcode == "stopCollectingProfile") return {};
  if (opcode == "startCollectingMetrics") {
    progress_.start();
    return {};
  }
  if (opcode == "stopCollectingMetrics") {
    progress_.stop();
    return {};
  }
  if (opcode == "createPods") {
    const std::string_view named = operation.text("namespace");
    return create_pods(
        operation, named.empty() ? fmt::format("namespace-{}", ++namespaces_) : std::string(named));
  }
  return fail(ErrorKind::kUnavailable,
              fmt::format("{}: opcode {} is not supported", operation.where(), opcode));
}

Result<ObjectTemplate*> WorkloadRun::template_at(std::string_view path, ObjectTemplate* standard) {
  if (path.empty() && standard) return standard;
  const auto known = templates_.find(path);
  if (known != templates_.end()) return known->second.get();
  std::string full = fmt::format("{}/{}", test_case_.folder, path);
  Result<std::string> text = read_file(full);
  if (!text) return fail(text.error());
  return templates_
      .emplace(path, std::make_unique<ObjectTemplate>(std::move(*text), std::move(full)))
      .first->second.get();
}

// ---- time ---------------------------------------------------------------------------------------

WorkloadRun::Outcome WorkloadRun::begin_churn(const Operation& operation) {
  auto churned = std::make_unique<Churned>();
  for (const std::string& path : operation.texts("templatePaths")) {
    const Result<ObjectTemplate*> found = template_at(path);
    if (!found) return fail(found.error());
    churned->templates.push_back(*found);
  }
  const Result<std::int64_t> interval = operation.number("intervalMilliseconds", workload_, 500);
  if (!interval) return fail(interval.error());
  const Result<std::int64_t> number = operation.number("number", workload_, -1);
  if (!number) return fail(number.error());
  churned->interval = std::chrono::milliseconds(*interval);
  churned->left = *number;
  churned->recreate = operation.text("mode") == "recreate";
  churned->namespace_name = operation.has("namespace") ? std::string(operation.text("namespace"))
                                                       : fmt::format("namespace-{}", ++namespaces_);
  churned_.push_back(std::move(churned));
  churn(*churned_.back());
  return {};
}

void WorkloadRun::churn(Churned& churned) {
  if (churned.left == 0) return;
  if (churned.left > 0 && !churned.recreate) --churned.left;
  for (const AnyObject& object : std::exchange(churned.present, {}))
    engine_->apply({DeltaType::kDeleted, object});
  for (ObjectTemplate* one : churned.templates) {
    Result<AnyObject> made =
        one->make({churned.index++, 1, ++serial_}, churned.namespace_name, interner_);
    if (!made || std::holds_alternative<std::monostate>(*made)) continue;
    if (churned.recreate) churned.present.push_back(*made);
    engine_->apply({DeltaType::kAdded, std::move(*made)});
  }
  loop_.after(churned.interval, [this, &churned] { churn(churned); });
}

// Waits for pods that were created without waiting for them.
WorkloadRun::Outcome WorkloadRun::wait_at_barrier(const Operation& operation) {
  // A pod that is held back is as far as it gets.
  const auto attempted = [this] {
    return progress_.tried_pods() + engine_->queue().sizes().gated >= created_;
  };
  if (operation.text("stageRequirement") == "Attempted") return run_until(attempted, operation);
  const std::vector<std::string> named = operation.texts("namespaces");
  std::map<std::string, std::size_t, std::less<>> wanted;
  for (const auto& [name, count] : not_waited_for_)
    if (named.empty() || std::ranges::count(named, name) > 0) wanted.emplace(name, count);
  const auto met = [&] {
    std::map<std::string, std::size_t, std::less<>> missing = wanted;
    engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) {
      if (pod->node().empty()) return;
      const auto found = missing.find(pod->namespace_name());
      if (found != missing.end() && found->second > 0) --found->second;
    });
    return std::ranges::all_of(missing, [](const auto& left) { return left.second == 0; });
  };
  const TimePoint end = loop_.now() + options_.timeout;
  while (!met()) {
    if (loop_.now() > end)
      return fail(
          ErrorKind::kTimeout,
          fmt::format("{}: not all pods were bound in the time there is", operation.where()));
    rest(kLook);
  }
  for (const auto& [name, count] : wanted) not_waited_for_.erase(name);
  return {};
}

void WorkloadRun::rest(Duration duration) {
  loop_.after(duration, [this] { loop_.stop(); });
  loop_.run();
}

WorkloadRun::Outcome WorkloadRun::sleep(const Operation& operation) {
  const Result<std::int64_t> milliseconds = operation.number("milliseconds", workload_, 0);
  if (!milliseconds) return fail(milliseconds.error());
  const Result<Duration> duration = operation.duration("duration", workload_);
  if (!duration) return fail(duration.error());
  rest(*duration + std::chrono::milliseconds(*milliseconds));
  return {};
}

WorkloadRun::Outcome WorkloadRun::pace(std::int64_t count, std::int64_t per_second,
                                       bool in_background, std::function<void(std::int64_t)> step) {
  if (per_second <= 0) {
    for (std::int64_t i = 0; i < count; ++i) step(i);
    return {};
  }
  const Duration interval = std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second;
  if (in_background) {
    for (std::int64_t i = 0; i < count; ++i)
      loop_.after(interval * (i + 1), [step, i] { step(i); });
    return {};
  }
  for (std::int64_t i = 0; i < count; ++i) {
    rest(interval);
    step(i);
  }
  return {};
}

WorkloadRun::Outcome WorkloadRun::run_measured(const std::function<bool()>& done,
                                               const Operation& operation) {
  progress_.start();
  Outcome outcome = run_until(done, operation);
  progress_.stop();
  return outcome;
}

WorkloadRun::Outcome WorkloadRun::run_until(const std::function<bool()>& done,
                                            const Operation& operation) {
  if (done()) return {};
  done_ = [this, &done] { return done() || engine_->increment_difference().has_value(); };
  bool late = false;
  const TimerId deadline = loop_.after(options_.timeout, [this, &late] {
    late = true;
    loop_.stop();
  });
  loop_.run();
  loop_.cancel(deadline);
  done_ = {};
  if (!late) return {};
  return fail(
      ErrorKind::kTimeout,
      fmt::format("{}: {} of {} pods were bound, {} tried, in the time there is", operation.where(),
                  progress_.bound_pods(), created_, progress_.tried_pods()));
}

// ---- checks -------------------------------------------------------------------------------------

// No node holds more than it can. How many were looked at.
Result<std::size_t> WorkloadRun::check_nodes() const {
  const NodeTable& nodes = engine_->cluster().nodes();
  std::size_t checked = 0;
  std::optional<NodeRow> overfull;
  nodes.nodes().for_each([&](NodeRow row) {
    ++checked;
    if (nodes.requested_milli_cpu()[row] > nodes.allocatable_milli_cpu()[row] ||
        nodes.requested_memory()[row] > nodes.allocatable_memory()[row] ||
        nodes.pod_counts()[row] > nodes.allocatable_pods()[row])
      overfull = row;
  });
  if (!overfull) return checked;
  return fail(ErrorKind::kInternal, fmt::format("{}: node {} holds more than it can",
                                                test_case_.name, nodes.name_text(*overfull)));
}

}  // namespace berth::perf
