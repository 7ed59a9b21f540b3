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
#include <utility>
#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "config/feature_gates.h"
#include "engine/engine.h"
#include "framework/metrics_observer.h"
#include "framework/observers.h"
#include "perf/object_template.h"
#include "perf/progress.h"
#include "perf/result.h"
#include "perf/test_case.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"
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
  Outcome update_any(const Operation& operation);
  Outcome allocate_claims(const Operation& operation);
  Outcome delete_pods(const Operation& operation);
  Outcome begin_churn(const Operation& operation);
  Outcome wait_at_barrier(const Operation& operation);
  Outcome sleep(const Operation& operation);

  // The deltas that bring pods, and the volumes and claims they come with.
  Result<std::vector<Delta>> make_pods(const Operation& operation, std::int64_t count,
                                       const std::string& namespace_name);
  Outcome add_volume(const Operation& operation, const Numbered& number,
                     const std::string& namespace_name, std::vector<Delta>& deltas);
  // As the claim controller does: a claim for each template that the pod names, and the pod again,
  // which now knows their names.
  void add_claims(const Ref<const Pod>& pod, std::vector<Delta>& deltas);
  // Pods for a time: each that is bound is deleted and another one created for it.
  Outcome keep_steady(const Operation& operation, std::int64_t count,
                      const std::string& namespace_name);
  Outcome replace_bound(const Operation& operation, const std::string& namespace_name,
                        std::size_t& replaced);
  // A pod, and the claims that were made for it.
  void remove_pod(const Ref<const Pod>& pod);
  Result<AnyObject> make_node(ObjectTemplate& nodes, const Operation& operation,
                              const Numbered& number);
  // Without a path the standard one, if there is one.
  Result<ObjectTemplate*> template_at(std::string_view path, ObjectTemplate* standard = nullptr);
  void feed(std::shared_ptr<std::vector<Delta>> deltas, std::size_t from);
  // Calls `step` for each number below `count`, so many a second (0: all at once), and waits until
  // that is done unless it is to go on in the background.
  Outcome pace(std::int64_t count, std::int64_t per_second, bool in_background,
               std::function<void(std::int64_t)> step);
  // run_until of a measured operation, and nothing else: bench/instructions.py has valgrind count
  // while this function runs, and knows it by its name.
  [[gnu::noinline]] Outcome run_measured(const std::function<bool()>& done,
                                         const Operation& operation);
  // Runs the world until it is so, or for too long.
  Outcome run_until(const std::function<bool()>& done, const Operation& operation);
  void churn(Churned& churned);
  void rest(Duration duration);  // while the world goes on
  Result<std::size_t> check_nodes() const;

  const TestCase& test_case_;
  const Workload& workload_;
  const PluginTable& plugins_;
  RunOptions options_;

  config::FeatureGates gates_;
  RealLoop loop_;
  Interner interner_;
  telemetry::Registry registry_;
  MetricsObserver metrics_{loop_, registry_};
  Progress progress_{loop_};
  Observers observers_{{&metrics_, &progress_}};
  // An API server that does what it is told at once.
  ClusterView objects_{loop_, ClusterView::Shows::kAtOnce};
  StoreApi api_{loop_, objects_};
  std::unique_ptr<Engine> engine_;
  std::map<std::string, std::unique_ptr<ObjectTemplate>, std::less<>> templates_;
  std::vector<std::unique_ptr<Churned>> churned_;
  std::function<bool()> done_;
  std::map<std::pair<std::string, std::string>, Ref<const Object>> claim_templates_;
  std::map<std::string, std::vector<std::string>, std::less<>> claims_of_;  // names, by pod UID
  std::map<std::string, std::size_t, std::less<>> not_waited_for_;          // pods, by namespace
  std::uint64_t serial_ = 0;
  std::size_t created_ = 0;     // all pods
  std::size_t namespaces_ = 0;  // of pods whose operation names none
};

}  // namespace berth::perf
