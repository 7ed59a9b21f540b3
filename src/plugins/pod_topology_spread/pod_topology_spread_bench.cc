// What PodTopologySpread costs for one pod: nodes in ten zones, two bound pods on each, half of
// which match. One pod is bound between two cycles, as in life.
#include <benchmark/benchmark.h>

#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";

struct Nodes {
  Nodes(std::int64_t count, const std::vector<std::string>& keys, UnsatisfiableAction action) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      fixture.add_node(fixture.world.node(name).zone(std::to_string(i % 10)));
      fixture.add_pod(fixture.world.pod("web-" + name).label("app", "web").on(name));
      fixture.add_pod(fixture.world.pod("db-" + name).label("app", "db").on(name));
    }
    auto builder = fixture.world.pod("p");
    builder.label("app", "web");
    for (const std::string& key : keys) {
      TopologySpreadConstraint constraint;
      constraint.max_skew = 5;
      constraint.topology_key = builder.symbol(key);
      constraint.when_unsatisfiable = action;
      constraint.label_selector.emplace().match_labels.push_back(
          {builder.symbol("app"), builder.symbol("web")});
      builder.spec().topology_spread_constraints.push_back(std::move(constraint));
    }
    pod = builder;
    scratch.reset(table().rows());
    scores.resize(table().rows());
  }
  const NodeTable& table() const { return fixture.cluster.nodes(); }
  // Another pod of the kind takes a place, and an earlier one leaves.
  void turn() {
    fixture.cluster.begin_cycle();
    if (moving) (void)fixture.cluster.forget(*moving);
    moving = fixture.world.pod("moving").label("app", "web");
    (void)fixture.cluster.assume(moving, ++next % static_cast<NodeRow>(table().rows()));
  }

  testing::PluginFixture fixture;
  Ref<const Pod> pod, moving;
  NodeRow next = 0;
  internal::CycleScratch scratch;
  std::vector<Score> scores;
};

void filter(benchmark::State& state, const std::vector<std::string>& keys) {
  Nodes nodes(state.range(0), keys, UnsatisfiableAction::kDoNotSchedule);
  const auto plugin = nodes.fixture.make<PodTopologySpread>();
  NodeSet feasible = nodes.table().nodes();
  for (auto _ : state) {
    nodes.turn();
    Cycle cycle(nodes.pod, nodes.fixture.cluster);
    cycle.lend(&nodes.scratch);
    feasible = nodes.table().nodes();
    benchmark::DoNotOptimize(plugin->pre_filter(cycle));
    FilterPass pass(0, cycle, feasible, nodes.scratch.verdicts);
    plugin->filter(cycle, pass);
    benchmark::DoNotOptimize(feasible);
  }
}
void spread_filter_zone(benchmark::State& state) { filter(state, {kZone}); }
void spread_filter_host(benchmark::State& state) { filter(state, {kHost}); }
BENCHMARK(spread_filter_zone)->Arg(1000)->Arg(5000);
BENCHMARK(spread_filter_host)->Arg(1000)->Arg(5000);

void score(benchmark::State& state, const std::vector<std::string>& keys) {
  Nodes nodes(state.range(0), keys, UnsatisfiableAction::kScheduleAnyway);
  const auto plugin = nodes.fixture.make<PodTopologySpread>();
  const NodeSet& feasible = nodes.table().nodes();
  for (auto _ : state) {
    nodes.turn();
    Cycle cycle(nodes.pod, nodes.fixture.cluster);
    benchmark::DoNotOptimize(plugin->pre_score(cycle, feasible));
    benchmark::DoNotOptimize(plugin->score(cycle, feasible, nodes.scores));
    benchmark::DoNotOptimize(plugin->normalize(cycle, feasible, nodes.scores));
  }
}
void spread_score_zone(benchmark::State& state) { score(state, {kZone}); }
void spread_score_zone_and_host(benchmark::State& state) { score(state, {kZone, kHost}); }
BENCHMARK(spread_score_zone)->Arg(1000)->Arg(5000);
BENCHMARK(spread_score_zone_and_host)->Arg(1000)->Arg(5000);

// One candidate of a preemption: its pods go, it is judged, they come back.
void spread_candidate(benchmark::State& state) {
  Nodes nodes(state.range(0), {kHost}, UnsatisfiableAction::kDoNotSchedule);
  const auto plugin = nodes.fixture.make<PodTopologySpread>();
  Cycle cycle(nodes.pod, nodes.fixture.cluster);
  cycle.lend(&nodes.scratch);
  benchmark::DoNotOptimize(plugin->pre_filter(cycle));
  NodeSet feasible(nodes.table().rows());
  NodeRow row = 0;
  for (auto _ : state) {
    row = (row + 1) % static_cast<NodeRow>(nodes.table().rows());
    const Ref<const Pod>& victim = nodes.table().pods(row).front();
    plugin->remove_pod(cycle, *victim, row);
    feasible.insert(row);
    FilterPass pass(0, cycle, feasible, nodes.scratch.verdicts);
    plugin->filter(cycle, pass);
    plugin->add_pod(cycle, *victim, row);
    feasible.erase(row);
  }
}
BENCHMARK(spread_candidate)->Arg(5000);

}  // namespace
}  // namespace berth::plugins
