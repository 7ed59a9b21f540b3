// What VolumeBinding costs for one pod with one claim, by number of nodes: bound to a volume in one
// zone (as written, and as a driver has it that took over), to be bound to one of as many local
// volumes, or to be provisioned where the driver tells of free space.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "plugins/volume_binding/testing/volume_fixture.h"

namespace berth::plugins {
namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHost = "kubernetes.io/hostname";

struct Storage : testing::VolumeFixture {
  explicit Storage(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("n{}", i);
      add_node(world.node(name).label(kHost, name).zone(fmt::format("z{}", i % 3)));
    }
    scratch.reset(cluster.nodes().rows());
  }

  internal::CycleScratch scratch;
};

void filter_rows(benchmark::State& state, Storage& storage) {
  const Ref<const Pod> pod = storage.pod_with({"c"});
  const VolumeBinding& plugin = storage.plugin();
  NodeSet feasible = storage.cluster.nodes().nodes();
  for (auto _ : state) {
    storage.scratch.listed_reasons.clear();
    Cycle cycle(pod, storage.cluster);
    cycle.lend(&storage.scratch);
    feasible = storage.cluster.nodes().nodes();
    benchmark::DoNotOptimize(plugin.pre_filter(cycle));
    FilterPass pass(0, cycle, feasible, storage.scratch.verdicts);
    plugin.filter(cycle, pass);
    benchmark::DoNotOptimize(feasible);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void bound(benchmark::State& state) {
  Storage storage(state.range(0));
  storage.put(storage.volume("pv").only_from({{kZone, "z1"}}));
  storage.put(storage.claim("c").bound_to("pv"));
  filter_rows(state, storage);
}
BENCHMARK(bound)->Arg(100)->Arg(5000);

void bound_migrated(benchmark::State& state) {
  Storage storage(state.range(0));
  for (std::int64_t i = 0; i < state.range(0); ++i)
    storage.put(testing::csi_node(storage.world, fmt::format("n{}", i), "kubernetes.io/aws-ebs"));
  storage.put(storage.volume("pv")
                  .source(VolumeSource::kAwsElasticBlockStore, "vol-1")
                  .only_from({{kZone, "z1"}}));
  storage.put(storage.claim("c").bound_to("pv"));
  filter_rows(state, storage);
}
BENCHMARK(bound_migrated)->Arg(100)->Arg(5000);

void one_local_volume_per_node(benchmark::State& state) {
  Storage storage(state.range(0));
  storage.put(storage.storage_class("local").static_only());
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const std::string host = fmt::format("n{}", i);
    storage.put(storage.volume("pv-" + host).of("local").only_from({{kHost, host}}));
  }
  storage.put(storage.claim("c").of("local"));
  filter_rows(state, storage);
}
BENCHMARK(one_local_volume_per_node)->Arg(100)->Arg(5000);

void space_on_every_node(benchmark::State& state) {
  Storage storage(state.range(0));
  storage.put(storage.storage_class("csi"));
  storage.put(testing::csi_driver(storage.world, "csi.example.com", true));
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const std::string host = fmt::format("n{}", i);
    storage.put(storage.capacity("on-" + host, "csi").from(kHost, host).capacity("10Gi"));
  }
  storage.put(storage.claim("c").of("csi"));
  filter_rows(state, storage);
}
BENCHMARK(space_on_every_node)->Arg(100)->Arg(5000);

}  // namespace
}  // namespace berth::plugins
