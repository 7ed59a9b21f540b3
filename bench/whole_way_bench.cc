// One pod's whole way through the engine: delta in, queue, scheduling cycle, binding, confirmed by
// the delta that comes back. Only the API server is replaced, by an immediate answer.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

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

void BM_PodsWholeWay(benchmark::State& state) {
  testing::World world;
  VirtualLoop loop;
  ImmediateApi api;
  Observer observer;
  EngineOptions options;
  options.configuration = config::default_configuration(options.gates);
  const PluginTable plugins = plugins::make_plugin_table();
  const auto engine = *Engine::make(loop, world.interner, plugins, api, observer, options);
  api.engine = engine.get();
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const Ref<const Node> node = world.node("node-" + std::to_string(i))
                                     .allocatable({{"cpu", "64"}, {"memory", "256Gi"}})
                                     .zone("zone-" + std::to_string(i % 3));
    engine->apply({DeltaType::kAdded, Ref<const Object>(node)});
  }
  std::int64_t number = 0;
  for (auto _ : state) {
    const Ref<const Pod> pod = world.pod("pod-" + std::to_string(number++)).cpu("1m").memory("1Mi");
    engine->apply({DeltaType::kAdded, pod});
    engine->run_one();
    state.PauseTiming();
    // Bound pods go again, so that every iteration sees the same cluster.
    engine->apply({DeltaType::kDeleted, engine->cluster().seen_pod("default", pod->name())});
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PodsWholeWay)->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth
