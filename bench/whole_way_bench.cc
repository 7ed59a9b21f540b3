// One pod's whole way through the engine: delta in, queue, scheduling cycle, binding, confirmed by
// the delta that comes back. Only the API server is replaced, by an immediate answer.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "api/testing/builders.h"
#include "config/load.h"
#include "engine/engine.h"
#include "plugins/table.h"

namespace berth {
namespace {

// Says yes at once and shows the bound pod.
class ImmediateApi final : public ClusterApi {
 public:
  Engine* engine = nullptr;
  std::uint64_t version = 1;

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node) override {
    PodDraft draft = draft_of(*pod);
    draft.node_name = std::move(node);
    draft.resource_version = std::to_string(++version);
    engine->apply({DeltaType::kUpdated, make_pod(std::move(draft))});
    co_return Result<void>();
  }
  Task<Result<void>> patch_status(Ref<const Pod>, PodStatusPatch) override {
    co_return Result<void>();
  }
  Task<Result<void>> evict(Ref<const Pod>) override { co_return Result<void>(); }
  Task<Result<AnyObject>> update(AnyObject object) override { co_return object; }
  void record(PodEvent) override {}
};

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
    api_.engine = engine_.get();
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

  testing::World world;

 private:
  static std::string node_name(std::int64_t number) { return "node-" + std::to_string(number); }

  const PluginTable plugins_ = plugins::make_plugin_table();
  VirtualLoop loop_;
  ImmediateApi api_;
  Observer observer_;
  std::unique_ptr<Engine> engine_;
  std::int64_t nodes_;
  std::int64_t bound_ = 0;
};

constexpr std::int64_t kNodes = 5000;
constexpr std::int64_t kBound = 10000;
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

void plain(testing::PodBuilder& pod) { pod.cpu("1m").memory("1Mi").label("app", "web"); }

LabelSelector same_app(testing::PodBuilder& pod) {
  return {{{pod.symbol("app"), pod.symbol("web")}}, {}};
}

void required_zone_affinity(testing::PodBuilder& pod) {
  plain(pod);
  PodAffinityTerm term;
  term.label_selector = same_app(pod);
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
  constraint.label_selector = same_app(pod);
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
BENCHMARK_CAPTURE(among_many, required_zone_affinity, required_zone_affinity)
    ->Unit(benchmark::kMicrosecond);
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

}  // namespace
}  // namespace berth
