// What one preemption costs under the default profile: 5,000 full nodes with two pods each, by the
// number of candidates that are looked for.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "config/load.h"
#include "framework/framework.h"
#include "framework/preemption.h"
#include "framework/profile_plugins.h"
#include "plugins/table.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr int kNodes = 5000;

struct FullCluster {
  FullCluster() {
    testing::World& world = fixture.world;
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      fixture.add_node(world.node(name).zone(std::string(1, static_cast<char>('a' + i % 3))));
      for (const char* which : {"-a", "-b"})
        fixture.add_pod(world.pod("on-" + name + which).cpu("2").on(name).label("app", "web"));
    }
    pod = world.pod("high").cpu("3").priority(1000);
    fixture.cluster.see_pod(pod);
    const config::Configuration configuration = config::default_configuration(fixture.gates);
    Result<ProfilePlugins> made = ProfilePlugins::make(configuration.profiles.front(),
                                                       config::default_multi_point(fixture.gates),
                                                       make_plugin_table(), fixture.handle());
    BERTH_CHECK(made.has_value());
    framework = std::make_unique<Framework>("default-scheduler", std::move(*made), fixture.handle(),
                                            observer);
  }

  testing::PluginFixture fixture;
  Observer observer;
  Ref<const Pod> pod;
  std::unique_ptr<Framework> framework;
};

Task<void> count_victims(const Preemption& preemption, Cycle& cycle, const Diagnosis& diagnosis,
                         std::size_t& victims) {
  Task<Preemption::Choice> choosing = preemption.choose(cycle, diagnosis);
  const Preemption::Choice choice = co_await choosing;
  BERTH_CHECK(choice.candidate.has_value());
  victims += choice.candidate->victims.pods.size();
}

void choose_victims(benchmark::State& state) {
  FullCluster full;
  Cluster& cluster = full.fixture.cluster;
  cluster.begin_cycle();
  internal::CycleScratch scratch;
  scratch.reset(cluster.nodes().rows());
  Cycle cycle(full.pod, cluster);
  cycle.lend(&scratch);
  cycle.framework = full.framework.get();
  BERTH_CHECK(full.framework->run_pre_filter(cycle).outcome.ok());
  Diagnosis diagnosis;
  diagnosis.explicit_nodes = cluster.nodes().nodes();
  NodeSet feasible = cluster.nodes().nodes();
  full.framework->run_filters(cycle, feasible);
  BERTH_CHECK(feasible.empty());
  const Preemption preemption(full.fixture.handle(),
                              {0, static_cast<std::int32_t>(state.range(0))});
  std::size_t victims = 0;
  for (auto _ : state) {
    TaskSet tasks;
    tasks.spawn(count_victims(preemption, cycle, diagnosis, victims));
  }
  benchmark::DoNotOptimize(victims);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(choose_victims)->Arg(100)->Arg(500)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::plugins
