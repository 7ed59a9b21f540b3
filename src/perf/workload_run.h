// WorkloadRun: one workload, from an empty cluster to its figures, on the engine that production
// runs: deltas in, queue, scheduling cycle, binding coroutine, confirmed by the delta that comes
// back. Only the API server is replaced, by one that answers at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/interner.h"
#include "base/loop.h"
#include "config/feature_gates.h"
#include "engine/engine.h"
#include "framework/metrics_observer.h"
#include "framework/observers.h"
#include "perf/immediate_api.h"
#include "perf/object_template.h"
#include "perf/progress.h"
#include "perf/result.h"
#include "perf/test_case.h"
#include "telemetry/metrics.h"

namespace berth::perf {

struct RunOptions {
  std::uint64_t seed = 0;
  bool verify_increments = false;
  Duration timeout = std::chrono::minutes(5);  // for one operation
};

class WorkloadRun {
 public:
  // The plugins outlive it.
  WorkloadRun(const TestCase& test_case, const Workload& workload, const PluginTable& plugins,
              const RunOptions& options);
  ~WorkloadRun();

  // An operation that cannot be run makes the workload a skipped one; an error says what failed.
  Result<WorkloadResult> run();

 private:
  struct Churned;
  using Outcome = Result<void>;

  Result<void> make_engine();
  Outcome execute(const Operation& operation);
  Outcome create_nodes(const Operation& operation);
  Outcome create_namespaces(const Operation& operation);
  Outcome create_pods(const Operation& operation, const std::string& namespace_name);
  Outcome create_pod_sets(const Operation& operation);
  Outcome create_any(const Operation& operation);
  Outcome delete_pods(const Operation& operation);
  Outcome begin_churn(const Operation& operation);
  Outcome wait_at_barrier(const Operation& operation);
  Outcome sleep(const Operation& operation);

  Result<std::vector<AnyObject>> make_pods(ObjectTemplate& pods, std::int64_t count,
                                           const std::string& namespace_name);
  Result<AnyObject> make_node(ObjectTemplate& nodes, const Operation& operation,
                              std::int64_t index);
  Result<ObjectTemplate*> template_at(std::string_view path);
  void feed(std::shared_ptr<std::vector<AnyObject>> objects, std::size_t from);
  // Runs the world until it is so, or for too long.
  Outcome run_until(const std::function<bool()>& done, const Operation& operation);
  void churn(Churned& churned);
  Result<std::size_t> check_nodes() const;

  const TestCase& test_case_;
  const Workload& workload_;
  const PluginTable& plugins_;
  RunOptions options_;

  RealLoop loop_;
  Interner interner_;
  telemetry::Registry registry_;
  MetricsObserver metrics_{loop_, registry_};
  Progress progress_{loop_};
  Observers observers_{{&metrics_, &progress_}};
  ImmediateApi api_;
  std::unique_ptr<Engine> engine_;
  std::map<std::string, std::unique_ptr<ObjectTemplate>, std::less<>> templates_;
  std::vector<std::unique_ptr<Churned>> churned_;
  std::function<bool()> done_;
  std::uint64_t serial_ = 0;
  std::size_t awaited_ = 0;     // pods that are expected to be bound
  std::size_t created_ = 0;     // all pods
  std::size_t namespaces_ = 0;  // of pods whose operation names none
};

}  // namespace berth::perf
