// One pod's whole way through the engine: delta in, queue, scheduling cycle, binding, confirmed by
// the delta that comes back. Only the API server is replaced, by an immediate answer. And an
// event's, while many pods wait for one that helps.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "config/load.h"
#include "engine/engine.h"
#include "framework/metrics_observer.h"
#include "plugins/table.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"

namespace berth {
namespace {

// A cluster of nodes in ten zones with the default profile, and pods that run on them.
class Scene {
 public:
  explicit Scene(std::int64_t nodes, const std::string& configuration = {}) : nodes_(nodes) {
    EngineOptions options;
    options.configuration =
        configuration.empty()
            ? config::default_configuration(options.gates)
            : config::parse_configuration(configuration, options.gates, world.interner).value();
    engine_ = *Engine::make(loop_, world.interner, plugins_, api_, observer_, options);
    objects_.serve(engine_->cluster(), [this](Delta delta) { engine_->apply(std::move(delta)); });
    for (std::int64_t i = 0; i < nodes; ++i) {
      const Ref<const Node> node =
          world.node(node_name(i))
              .allocatable({{"cpu", "4"}, {"memory", "32Gi"}, {"pods", "110"}})
              .label("kubernetes.io/hostname", node_name(i))
              .zone("zone-" + std::to_string(i % 10));
      engine_->apply({DeltaType::kAdded, Ref<const Object>(node)});
    }
  }

  // `count` pods like the one that `describe` describes, spread over the nodes.
  template <typename Describe>
  void run_pods(std::int64_t count, Describe describe) {
    for (std::int64_t i = 0; i < count; ++i) {
      testing::PodBuilder pod = world.pod("bound-" + std::to_string(bound_++));
      describe(pod);
      pod.on(node_name(i % nodes_));
      engine_->apply({DeltaType::kAdded, pod.build()});
    }
  }

  // Takes pods through, one after the other; each goes again, so that all see the same cluster.
  template <typename Describe>
  void measure(benchmark::State& state, Describe describe) {
    std::int64_t number = 0;
    for (auto _ : state) {
      state.PauseTiming();
      testing::PodBuilder described = world.pod("pod-" + std::to_string(number++));
      describe(described);
      const Ref<const Pod> pod = described.build();
      state.ResumeTiming();
      engine_->apply({DeltaType::kAdded, pod});
      engine_->run_one();
      state.PauseTiming();
      engine_->apply({DeltaType::kDeleted, engine_->cluster().seen_pod("default", pod->name())});
      state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations());
  }

  // A hundred thousand pods of a hundred classes, none of which fits.
  template <typename Describe>
  void reject_pods(benchmark::State& state, Describe describe) {
    for (std::int64_t i = 0; i < std::int64_t{kRejected}; ++i) {
      testing::PodBuilder pod = world.pod("rejected-" + std::to_string(i));
      describe(pod, i % 100);
      engine_->apply({DeltaType::kAdded, pod.build()});
      engine_->run_one();
    }
    if (engine_->queue().sizes().unschedulable != kRejected) state.SkipWithError("some pods fit");
  }

  // Updates of nodes, each of which has less or more than before, but never enough.
  void update_nodes(benchmark::State& state) {
    std::vector<Ref<const Node>> versions;
    for (std::int64_t i = 0; i < 2 * nodes_; ++i)
      versions.push_back(
          world.node(node_name(i % nodes_))
              .allocatable({{"cpu", i < nodes_ ? "3" : "4"}, {"memory", "32Gi"}, {"pods", "110"}})
              .label("kubernetes.io/hostname", node_name(i % nodes_))
              .zone("zone-" + std::to_string(i % 10)));
    std::size_t next = 0;
    for (auto _ : state) {
      engine_->apply({DeltaType::kUpdated, Ref<const Object>(versions[next])});
      next = (next + 1) % versions.size();
    }
    if (engine_->queue().sizes().unschedulable != kRejected) state.SkipWithError("some pods moved");
  }

  // Pods that run, and help nobody.
  void show_pods(benchmark::State& state) {
    for (auto _ : state) {
      state.PauseTiming();
      ++bound_;
      const Ref<const Pod> pod = world.pod("bound-" + std::to_string(bound_))
                                     .label("app", "web")
                                     .on(node_name(bound_ % nodes_));
      state.ResumeTiming();
      engine_->apply({DeltaType::kAdded, pod});
    }
    if (engine_->queue().sizes().unschedulable != kRejected) state.SkipWithError("some pods moved");
  }

  testing::World world;

 private:
  static constexpr std::size_t kRejected = 100'000;
  static std::string node_name(std::int64_t number) { return "node-" + std::to_string(number); }

  const PluginTable plugins_ = plugins::make_plugin_table();
  VirtualLoop loop_;
  ClusterView objects_{loop_, ClusterView::Shows::kAtOnce};
  StoreApi api_{loop_, objects_, {.keeps_statuses = false}};
  telemetry::Registry registry_;
  MetricsObserver observer_{loop_, registry_};
  std::unique_ptr<Engine> engine_;
  std::int64_t nodes_;
  std::int64_t bound_ = 0;
};

constexpr std::int64_t kNodes = 5000;
constexpr std::int64_t kBound = 10000;
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

void plain(testing::PodBuilder& pod) { pod.cpu("1m").memory("1Mi").label("app", "web"); }

LabelSelector of_app(testing::PodBuilder& pod, std::string_view app) {
  return {{{pod.symbol("app"), pod.symbol(app)}}, {}};
}

void required_zone_affinity(testing::PodBuilder& pod, std::string_view app = "web") {
  plain(pod);
  PodAffinityTerm term;
  term.label_selector = of_app(pod, app);
  term.topology_key = pod.symbol(kZone);
  Affinity affinity;
  affinity.pod = PodAffinity{{std::move(term)}, {}};
  pod.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
}

void zone_spread(testing::PodBuilder& pod, UnsatisfiableAction action) {
  plain(pod);
  TopologySpreadConstraint constraint;
  constraint.max_skew = 5;
  constraint.topology_key = pod.symbol(kZone);
  constraint.when_unsatisfiable = action;
  constraint.label_selector = of_app(pod, "web");
  pod.spec().topology_spread_constraints.push_back(std::move(constraint));
}

void BM_PlainPod(benchmark::State& state) {
  Scene scene(state.range(0));
  scene.measure(state, plain);
}
BENCHMARK(BM_PlainPod)->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);

// The other shapes, all among ten thousand bound pods on five thousand nodes.
template <typename Describe>
void among_many(benchmark::State& state, Describe describe) {
  Scene scene(kNodes);
  scene.run_pods(kBound, describe);
  scene.measure(state, describe);
}
BENCHMARK_CAPTURE(among_many, plain, plain)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(among_many, required_zone_affinity,
                  [](auto& pod) { required_zone_affinity(pod); }) -> Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(among_many, required_zone_spread, [](auto& pod) {
  zone_spread(pod, UnsatisfiableAction::kDoNotSchedule);
}) -> Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(among_many, preferred_zone_spread, [](auto& pod) {
  zone_spread(pod, UnsatisfiableAction::kScheduleAnyway);
}) -> Unit(benchmark::kMicrosecond);

// Every node is full of pods of lower priority; a hundred nodes are looked at.
void BM_Preemption(benchmark::State& state) {
  Scene scene(kNodes, R"({
    "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
    "profiles": [{"pluginConfig": [{"name": "DefaultPreemption", "args":
      {"minCandidateNodesPercentage": 2, "minCandidateNodesAbsolute": 100}}]}]})");
  scene.run_pods(2 * kNodes, [](testing::PodBuilder& pod) { pod.cpu("2").priority(1); });
  scene.measure(state, [](testing::PodBuilder& pod) { pod.cpu("3").priority(100); });
}
BENCHMARK(BM_Preemption)->Unit(benchmark::kMicrosecond);

void BM_NodeUpdateWhilePodsAreTooLarge(benchmark::State& state) {
  Scene scene(1000);
  scene.reject_pods(state, [](testing::PodBuilder& pod, std::int64_t number) {
    pod.cpu(std::to_string(10 + number));
  });
  scene.update_nodes(state);
}
BENCHMARK(BM_NodeUpdateWhilePodsAreTooLarge)->Unit(benchmark::kMicrosecond)->Iterations(100'000);

void BM_PodAddWhilePodsMissAnother(benchmark::State& state) {
  Scene scene(1000);
  scene.reject_pods(state, [](testing::PodBuilder& pod, std::int64_t number) {
    required_zone_affinity(pod, "missing-" + std::to_string(number));
  });
  scene.show_pods(state);
}
BENCHMARK(BM_PodAddWhilePodsMissAnother)->Unit(benchmark::kMicrosecond)->Iterations(100'000);

}  // namespace
}  // namespace berth
