// What NodeResourcesFit and NodeResourcesBalancedAllocation cost for one pod, by number of nodes.
#include <benchmark/benchmark.h>

#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

// Nodes of 4 cpu and 16Gi with one pod each; every fourth is full.
struct Nodes {
  explicit Nodes(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      fixture.add_node(fixture.world.node(name));
      fixture.add_pod(fixture.world.pod("on-" + name)
                          .cpu(i % 4 == 0 ? "4" : std::to_string(i % 3))
                          .memory(i % 4 == 0 ? "16Gi" : "1Gi")
                          .on(name));
    }
    pod = fixture.world.pod("p").cpu("500m").memory("512Mi");
    scratch.reset(table().rows());
    scores.resize(table().rows());
  }
  const NodeTable& table() const { return fixture.cluster.nodes(); }

  testing::PluginFixture fixture;
  Ref<const Pod> pod;
  internal::CycleScratch scratch;
  std::vector<Score> scores;
};

void fit_filter(benchmark::State& state) {
  Nodes nodes(state.range(0));
  const auto plugin = nodes.fixture.make<NodeResourcesFit>();
  NodeSet feasible = nodes.table().nodes();
  for (auto _ : state) {
    nodes.scratch.listed_reasons.clear();
    Cycle cycle(nodes.pod, nodes.fixture.cluster);
    cycle.lend(&nodes.scratch);
    feasible = nodes.table().nodes();
    benchmark::DoNotOptimize(plugin->pre_filter(cycle));
    FilterPass pass(0, cycle, feasible, nodes.scratch.verdicts);
    plugin->filter(cycle, pass);
    benchmark::DoNotOptimize(feasible);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(fit_filter)->Arg(100)->Arg(1000)->Arg(5000);

template <typename P>
void score(benchmark::State& state) {
  Nodes nodes(state.range(0));
  const auto plugin = nodes.fixture.make<P>();
  const NodeSet& feasible = nodes.table().nodes();
  for (auto _ : state) {
    Cycle cycle(nodes.pod, nodes.fixture.cluster);
    benchmark::DoNotOptimize(plugin->pre_score(cycle, feasible));
    benchmark::DoNotOptimize(plugin->score(cycle, feasible, nodes.scores));
    benchmark::DoNotOptimize(nodes.scores.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(score<NodeResourcesFit>)->Arg(100)->Arg(1000)->Arg(5000);
BENCHMARK(score<NodeResourcesBalancedAllocation>)->Arg(100)->Arg(1000)->Arg(5000);

}  // namespace
}  // namespace berth::plugins
