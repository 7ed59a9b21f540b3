// What a pod costs the cluster: its way through assume, confirm and remove; a trial; a cycle's
// beginning.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "api/testing/builders.h"
#include "base/check.h"
#include "berth/views.h"
#include "cluster/trial.h"

namespace berth {
namespace {

struct Scene {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  std::vector<Ref<const Pod>> pods;  // one waiting for each node

  explicit Scene(std::int64_t nodes) {
    const Ref<const Pod> sample = world.pod("sample").cpu("10m").memory("16Mi");
    for (std::int64_t i = 0; i < nodes; ++i) {
      const std::string name = fmt::format("node-{}", i);
      cluster.add_node(world.node(name).zone(fmt::format("zone-{}", i % 3)));
      for (int j = 0; j < 30; ++j) {
        Ref<const Pod> pod = make(*sample, name, fmt::format("{}-{}", i, j));
        BERTH_CHECK(cluster.add_pod(std::move(pod)).has_value());
      }
      pods.push_back(make(*sample, name, fmt::format("{}-next", i)));
    }
    cluster.begin_cycle();
  }

  static Ref<const Pod> make(const Pod& sample, const std::string& node, const std::string& name) {
    PodDraft draft = draft_of(sample);
    draft.name = draft.uid = name;
    draft.node_name = node;
    return make_pod(std::move(draft));
  }
};

void BM_AssumeConfirmRemove(benchmark::State& state) {
  Scene scene(state.range(0));
  std::size_t next = 0;
  for (auto _ : state) {
    const Ref<const Pod>& pod = scene.pods[next];
    scene.cluster.begin_cycle();
    benchmark::DoNotOptimize(scene.cluster.assume(pod, static_cast<NodeRow>(next)));
    benchmark::DoNotOptimize(scene.cluster.add_pod(pod));
    benchmark::DoNotOptimize(scene.cluster.remove_pod(*pod));
    next = (next + 7919) % scene.pods.size();
  }
}
BENCHMARK(BM_AssumeConfirmRemove)->Arg(100)->Arg(5000)->Arg(20000);

void BM_TrialOfAllPodsOfANode(benchmark::State& state) {
  Scene scene(state.range(0));
  NodeRow row = 0;
  for (auto _ : state) {
    Trial trial(scene.cluster);
    while (!scene.cluster.nodes().pods(row).empty())
      trial.remove(scene.cluster.nodes().pods(row).back(), row);
    row = (row + 7919) % static_cast<NodeRow>(scene.pods.size());
  }
}
BENCHMARK(BM_TrialOfAllPodsOfANode)->Arg(100)->Arg(5000);

void BM_SeenPod(benchmark::State& state) {
  Scene scene(state.range(0));
  for (const Ref<const Pod>& pod : scene.pods) scene.cluster.see_pod(pod);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(scene.cluster.seen_pod("default", scene.pods[next]->name()));
    next = (next + 7919) % scene.pods.size();
  }
}
BENCHMARK(BM_SeenPod)->Arg(100)->Arg(20000);

void BM_NodeUpdate(benchmark::State& state) {
  Scene scene(state.range(0));
  berth::testing::NodeBuilder builder = scene.world.node("node-5");
  builder.zone("zone-2");
  for (int i = 0; i < 50; ++i) builder.image(fmt::format("registry/image-{}:1", i), 1000);
  const Ref<const Node> node = builder;
  for (auto _ : state) {
    scene.cluster.update_node(node);
    scene.cluster.begin_cycle();
  }
}
BENCHMARK(BM_NodeUpdate)->Arg(5000);

void BM_NodeComesAndGoes(benchmark::State& state) {
  Scene scene(state.range(0));
  const Ref<const Node> node = scene.world.node("another").zone("zone-1");
  for (auto _ : state) {
    scene.cluster.add_node(node);
    scene.cluster.begin_cycle();
    benchmark::DoNotOptimize(scene.cluster.remove_node(node->symbol));
    scene.cluster.begin_cycle();
  }
}
BENCHMARK(BM_NodeComesAndGoes)->Arg(5000);

void BM_ReadColumns(benchmark::State& state) {
  Scene scene(state.range(0));
  for (auto _ : state) {
    const auto cpu = scene.cluster.nodes().requested_milli_cpu();
    const auto has = scene.cluster.nodes().allocatable_milli_cpu();
    std::int64_t fits = 0;
    for (std::size_t row = 0; row < cpu.size(); ++row) fits += cpu[row] + 100 <= has[row];
    benchmark::DoNotOptimize(fits);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReadColumns)->Arg(5000);

}  // namespace
}  // namespace berth
