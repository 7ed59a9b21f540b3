#include "perf/workload_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/kinds.h"
#include "base/file.h"
#include "base/process.h"
#include "config/load.h"

namespace berth::perf {
namespace {

constexpr std::string_view kDefaultNode = R"(
apiVersion: v1
kind: Node
metadata: {generateName: node-}
status:
  allocatable: {cpu: "4", memory: 32Gi, pods: "110"}
)";
constexpr std::size_t kPodsPerBatch = 256;  // as many deltas as come at once

std::unexpected<Error> unsupported(const Operation& operation, std::string_view what) {
  return fail(ErrorKind::kUnavailable, fmt::format("{}: {}", operation.where(), what));
}

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
  for (const auto& [gate, on] : workload_.feature_gates)
    if (Result<void> set = options.gates.set(fmt::format("{}={}", gate, on)); !set)
      return fail(ErrorKind::kUnavailable, set.error().message);
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
  api_.show_to(*engine_);
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
  if (opcode == "createAny") return create_any(operation);
  if (opcode == "deletePods") return delete_pods(operation);
  if (opcode == "churn") return begin_churn(operation);
  if (opcode == "barrier") return wait_at_barrier(operation);
  if (opcode == "sleep") return sleep(operation);
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
  return unsupported(operation, fmt::format("opcode {} is not supported", opcode));
}

Result<ObjectTemplate*> WorkloadRun::template_at(std::string_view path) {
  const auto known = templates_.find(path);
  if (known != templates_.end()) return known->second.get();
  std::string full = fmt::format("{}/{}", test_case_.folder, path);
  Result<std::string> text = read_file(full);
  if (!text) return fail(text.error());
  return templates_
      .emplace(path, std::make_unique<ObjectTemplate>(std::move(*text), std::move(full)))
      .first->second.get();
}

// ---- creating -----------------------------------------------------------------------------------

WorkloadRun::Outcome WorkloadRun::create_nodes(const Operation& operation) {
  if (operation.has("nodeAllocatableStrategy"))
    return unsupported(operation, "nodeAllocatableStrategy is not supported");
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  ObjectTemplate standard{std::string(kDefaultNode), "the default node"};
  ObjectTemplate* nodes = &standard;
  if (const std::string_view path = operation.text("nodeTemplatePath"); !path.empty()) {
    const Result<ObjectTemplate*> found = template_at(path);
    if (!found) return fail(found.error());
    nodes = *found;
  }
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> node = make_node(*nodes, operation, i);
    if (!node) return fail(node.error());
    engine_->apply({DeltaType::kAdded, std::move(*node)});
  }
  return {};
}

Result<AnyObject> WorkloadRun::make_node(ObjectTemplate& nodes, const Operation& operation,
                                         std::int64_t index) {
  Result<AnyObject> made = nodes.make(index, ++serial_, {}, interner_);
  if (!made) return made;
  const auto* object = std::get_if<Ref<const Object>>(&*made);
  if (!object || (*object)->kind != ObjectKind::kNode)
    return fail(ErrorKind::kInvalid, nodes.where() + ": not a Node");
  Node node = static_cast<const Node&>(**object);
  std::vector<Label> labels(node.labels.begin(), node.labels.end());
  const auto label = [&](std::string_view key, std::string_view value) {
    const Symbol symbol = node.symbols.intern(key);
    std::erase_if(labels, [symbol](const Label& one) { return one.key == symbol; });
    labels.push_back({symbol, node.symbols.intern(value)});
  };
  if (const JsonValue* strategy = operation.find("labelNodePrepareStrategy")) {
    const Operation fields(*strategy, operation.where());
    const std::vector<std::string> values = fields.texts("labelValues");
    if (!values.empty())
      label(fields.text("labelKey"), values[static_cast<std::size_t>(index) % values.size()]);
  }
  if (const JsonValue* strategy = operation.find("uniqueNodeLabelStrategy"))
    label(Operation(*strategy, operation.where()).text("labelKey"),
          fmt::format("unique-{}", serial_));
  node.labels = LabelSet(std::move(labels));
  return AnyObject(Ref<const Object>(make_ref<Node>(std::move(node))));
}

WorkloadRun::Outcome WorkloadRun::create_namespaces(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  ObjectTemplate plain{"apiVersion: v1\nkind: Namespace\n", "the default namespace"};
  ObjectTemplate* namespaces = &plain;
  if (const std::string_view path = operation.text("namespaceTemplatePath"); !path.empty()) {
    const Result<ObjectTemplate*> found = template_at(path);
    if (!found) return fail(found.error());
    namespaces = *found;
  }
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> made = namespaces->make(i, ++serial_, {}, interner_);
    if (!made) return fail(made.error());
    const auto* object = std::get_if<Ref<const Object>>(&*made);
    if (!object || (*object)->kind != ObjectKind::kNamespace)
      return fail(ErrorKind::kInvalid, namespaces->where() + ": not a Namespace");
    auto named = make_ref<Namespace>(static_cast<const Namespace&>(**object));
    named->name = fmt::format("{}-{}", operation.text("prefix"), i);
    engine_->apply({DeltaType::kAdded, Ref<const Object>(named)});
  }
  return {};
}

WorkloadRun::Outcome WorkloadRun::create_any(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 1);
  if (!count) return fail(count.error());
  const Result<ObjectTemplate*> found = template_at(operation.text("templatePath"));
  if (!found) return fail(found.error());
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> made = (*found)->make(i, ++serial_, operation.text("namespace"), interner_);
    if (!made) return fail(made.error());
    if (std::holds_alternative<std::monostate>(*made))
      return unsupported(operation, (*found)->where() + ": a kind that is not read");
    engine_->apply({DeltaType::kAdded, std::move(*made)});
  }
  return {};
}

Result<std::vector<AnyObject>> WorkloadRun::make_pods(ObjectTemplate& pods, std::int64_t count,
                                                      const std::string& namespace_name) {
  std::vector<AnyObject> made;
  made.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    Result<AnyObject> pod = pods.make(i, ++serial_, namespace_name, interner_);
    if (!pod) return fail(pod.error());
    if (!std::holds_alternative<Ref<const Pod>>(*pod))
      return fail(ErrorKind::kInvalid, pods.where() + ": not a Pod");
    made.push_back(std::move(*pod));
  }
  return made;
}

WorkloadRun::Outcome WorkloadRun::create_pods(const Operation& operation,
                                              const std::string& namespace_name) {
  for (const char* field : {"persistentVolumeTemplatePath", "steadyState"})
    if (operation.has(field))
      return unsupported(operation, fmt::format("{} is not supported", field));
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  const std::string_view path = operation.text("podTemplatePath");
  const Result<ObjectTemplate*> pods =
      template_at(path.empty() ? std::string_view(test_case_.default_pod_template) : path);
  if (!pods) return fail(pods.error());
  Result<std::vector<AnyObject>> made = make_pods(**pods, *count, namespace_name);
  if (!made) return fail(made.error());

  const std::size_t all = made->size();
  const bool collects = operation.flag("collectMetrics");
  const bool waits = !operation.flag("skipWaitToCompletion");
  const std::size_t before = progress_.bound_pods();
  created_ += all;
  if (waits) awaited_ += all;
  if (collects) progress_.start();
  feed(std::make_shared<std::vector<AnyObject>>(std::move(*made)), 0);
  if (!waits) return {};
  Outcome done =
      run_until([this, before, all] { return progress_.bound_pods() >= before + all; }, operation);
  if (collects) progress_.stop();
  return done;
}

// The deltas of new objects, in batches with other work in between, as a watch brings them.
void WorkloadRun::feed(std::shared_ptr<std::vector<AnyObject>> objects, std::size_t from) {
  loop_.post([this, objects = std::move(objects), from]() mutable {
    const std::size_t to = std::min(from + kPodsPerBatch, objects->size());
    for (std::size_t i = from; i < to; ++i)
      engine_->apply({DeltaType::kAdded, std::move((*objects)[i])});
    if (to < objects->size()) feed(std::move(objects), to);
  });
}

WorkloadRun::Outcome WorkloadRun::create_pod_sets(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  const Result<Operation> pods = operation.nested("createPodsOp");
  if (!pods) return fail(pods.error());
  for (std::int64_t i = 0; i < *count; ++i)
    if (Outcome made =
            create_pods(*pods, fmt::format("{}-{}", operation.text("namespacePrefix"), i));
        !made)
      return made;
  return {};
}

WorkloadRun::Outcome WorkloadRun::delete_pods(const Operation& operation) {
  if (operation.has("deletePodsPerSecond"))
    return unsupported(operation, "deletePodsPerSecond is not supported");
  std::vector<Ref<const Pod>> pods;
  engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) {
    if (pod->namespace_name() == operation.text("namespace")) pods.push_back(pod);
  });
  for (const Ref<const Pod>& pod : pods) engine_->apply({DeltaType::kDeleted, pod});
  return {};
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
  churned->namespace_name = fmt::format("namespace-{}", ++namespaces_);
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
        one->make(churned.index++, ++serial_, churned.namespace_name, interner_);
    if (!made || std::holds_alternative<std::monostate>(*made)) continue;
    if (churned.recreate) churned.present.push_back(*made);
    engine_->apply({DeltaType::kAdded, std::move(*made)});
  }
  loop_.after(churned.interval, [this, &churned] { churn(churned); });
}

WorkloadRun::Outcome WorkloadRun::wait_at_barrier(const Operation& operation) {
  if (operation.text("stageRequirement") == "Attempted")
    return run_until([this] { return progress_.tried_pods() >= created_; }, operation);
  return run_until([this] { return progress_.bound_pods() >= awaited_; }, operation);
}

WorkloadRun::Outcome WorkloadRun::sleep(const Operation& operation) {
  const Result<std::int64_t> milliseconds = operation.number("milliseconds", workload_, 0);
  if (!milliseconds) return fail(milliseconds.error());
  loop_.after(std::chrono::milliseconds(*milliseconds), [this] { loop_.stop(); });
  loop_.run();
  return {};
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
