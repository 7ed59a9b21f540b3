// What NodeVolumeLimits costs for one pod with one claim, by number of nodes: while pods and
// volumes come between the pods, on nodes with room to spare and on nodes that must be looked at
// closely.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

// Nodes with one pod with one volume of the driver each, of which they can attach `limit`.
struct Nodes {
  Nodes(std::int64_t count, int limit) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("n{}", i);
      fixture.add_node(fixture.world.node(name));
      testing::put(fixture, fmt::format("{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: "
                                        "{{name: {}}}, spec: {{drivers: [{{name: csi.example.com, "
                                        "nodeID: x, allocatable: {{count: {}}}}}]}}}}",
                                        name, limit));
      add_claim(name);
      fixture.add_pod(pod("on-" + name, name, name));
    }
    scratch.reset(fixture.cluster.nodes().rows());
  }
  void add_claim(const std::string& name) {
    testing::put(fixture, fmt::format(R"(
{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {0}, namespace: default}}, spec: {{volumeName: {0}}}}}
---
{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {0}}}, spec: {{csi: {{driver: csi.example.com, volumeHandle: {0}}}}}}}
)",
                                      name));
  }
  Ref<const Pod> pod(const std::string& name, const std::string& claim, const std::string& node) {
    testing::PodBuilder builder = fixture.world.pod(name);
    Volume volume;
    volume.source = VolumeSource::kPersistentVolumeClaim;
    volume.source_name = builder.symbol(claim);
    builder.spec().volumes.push_back(volume);
    if (!node.empty()) builder.on(node);
    return builder;
  }

  testing::PluginFixture fixture;
  internal::CycleScratch scratch;
};

void limits_filter(benchmark::State& state, int limit) {
  Nodes nodes(state.range(0), limit);
  const auto plugin = nodes.fixture.make<NodeVolumeLimits>();
  nodes.add_claim("new");
  const Ref<const Pod> pod = nodes.pod("p", "new", ""), other = nodes.pod("q", "new", "n7");
  const Ref<const Object> volume =
      nodes.fixture.cluster.find(ObjectKind::kPersistentVolume, {}, "n7");
  NodeSet feasible = nodes.fixture.cluster.nodes().nodes();
  for (auto _ : state) {
    nodes.fixture.add_pod(other);
    benchmark::DoNotOptimize(nodes.fixture.cluster.remove_pod(*other));
    nodes.fixture.cluster.put(volume);
    nodes.scratch.listed_reasons.clear();
    Cycle cycle(pod, nodes.fixture.cluster);
    cycle.lend(&nodes.scratch);
    feasible = nodes.fixture.cluster.nodes().nodes();
    benchmark::DoNotOptimize(plugin->pre_filter(cycle));
    FilterPass pass(0, cycle, feasible, nodes.scratch.verdicts);
    plugin->filter(cycle, pass);
    benchmark::DoNotOptimize(feasible);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(limits_filter, room_to_spare, 39)->Arg(100)->Arg(5000);
BENCHMARK_CAPTURE(limits_filter, full_nodes, 1)->Arg(100)->Arg(5000);

}  // namespace
}  // namespace berth::plugins
