// What it costs to ask a plugin what it has against each of 5,000 nodes, all of which it rejects:
// two pods on each node, ten zones.
#include <benchmark/benchmark.h>

#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/fit.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/testing/manifest_objects.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kNodes = 5000;

struct RejectingNodes {
  RejectingNodes() {
    for (std::int64_t i = 0; i < kNodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      fixture.add_node(fixture.world.node(name)
                           .zone(std::to_string(i % 10))
                           .label("disk", "hdd")
                           .taint("team", "NoSchedule", "red"));
      fixture.add_pod(fixture.world.pod("web-" + name)
                          .label("app", "web")
                          .cpu("1750m")
                          .host_port(8080)
                          .on(name));
      fixture.add_pod(fixture.world.pod("db-" + name).label("app", "db").cpu("1").on(name));
    }
    // A node that stays empty, for the skew.
    fixture.add_node(fixture.world.node("empty").zone("empty"));
  }

  void ask(benchmark::State& state, const Plugin& plugin, const Ref<const Pod>& pod) {
    const NodeTable& nodes = fixture.cluster.nodes();
    testing::CycleAtFilter at(pod, fixture.cluster);
    if (const auto* pre_filter = dynamic_cast<const PreFilterPlugin*>(&plugin))
      benchmark::DoNotOptimize(pre_filter->pre_filter(at.cycle));
    at.filter(dynamic_cast<const FilterPlugin&>(plugin));
    NodeSet rejected = nodes.nodes();
    rejected -= at.feasible;
    const auto& explaining = dynamic_cast<const ObstaclePlugin&>(plugin);
    for (auto _ : state)
      rejected.for_each(
          [&](NodeRow row) { benchmark::DoNotOptimize(explaining.obstacles(at.cycle, row)); });
    state.counters["rows"] = static_cast<double>(rejected.count());
  }

  testing::PluginFixture fixture;
  testing::World& world = fixture.world;
};

void obstacles_resources(benchmark::State& state) {
  RejectingNodes nodes;
  nodes.ask(state, *nodes.fixture.make<NodeResourcesFit>(),
            nodes.world.pod("p").cpu("5").memory("32Gi"));
}
void obstacles_taints(benchmark::State& state) {
  RejectingNodes nodes;
  nodes.ask(state, *nodes.fixture.make<TaintToleration>(), nodes.world.pod("p"));
}
void obstacles_ports(benchmark::State& state) {
  RejectingNodes nodes;
  nodes.ask(state, *nodes.fixture.make<NodePorts>(), nodes.world.pod("p").host_port(8080));
}

Ref<const Pod> pod_with_affinity(testing::World& world, const std::string& affinity) {
  return testing::pod_of(world,
                         "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: "
                         "default}, spec: {affinity: {" +
                             affinity + "}}}");
}

void obstacles_node_affinity(benchmark::State& state) {
  RejectingNodes nodes;
  nodes.ask(state, *nodes.fixture.make<plugins::NodeAffinity>(),
            pod_with_affinity(nodes.world,
                              "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                              "{nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, "
                              "values: [ssd, nvme]}, {key: gpu, operator: Exists}]}]}}"));
}
void obstacles_anti_affinity(benchmark::State& state) {
  RejectingNodes nodes;
  nodes.ask(state, *nodes.fixture.make<InterPodAffinity>(),
            pod_with_affinity(nodes.world,
                              "podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                              "[{labelSelector: {matchLabels: {app: web}}, topologyKey: "
                              "topology.kubernetes.io/zone}]}"));
}

void obstacles_spread(benchmark::State& state) {
  RejectingNodes nodes;
  testing::PodBuilder pod = nodes.world.pod("p");
  pod.label("app", "web");
  TopologySpreadConstraint constraint;
  constraint.topology_key = pod.symbol("topology.kubernetes.io/zone");
  constraint.label_selector.emplace().match_labels.push_back(
      {pod.symbol("app"), pod.symbol("web")});
  pod.spec().topology_spread_constraints.push_back(std::move(constraint));
  nodes.ask(state, *nodes.fixture.make<PodTopologySpread>(), pod);
}

void obstacles_devices(benchmark::State& state) {
  RejectingNodes nodes;
  testing::put(nodes.fixture,
               "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}}");
  testing::put(
      nodes.fixture,
      "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: "
      "default, uid: c}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: "
      "any, allocationMode: ExactCount, count: 5}}]}}}");
  for (std::int64_t i = 0; i < kNodes; ++i)
    testing::put(nodes.fixture,
                 "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s" +
                     std::to_string(i) + "}, spec: {driver: drv, pool: {name: n" +
                     std::to_string(i) + ", generation: 1, resourceSliceCount: 1}, nodeName: n" +
                     std::to_string(i) +
                     ", devices: [{name: d1}, {name: d2}, {name: d3}, {name: d4}]}}");
  testing::PodBuilder pod = nodes.world.pod("p");
  pod.spec().resource_claims.push_back({pod.symbol("c"), pod.symbol("c"), {}});
  nodes.ask(state, *nodes.fixture.make<DynamicResources>(), pod);
}

BENCHMARK(obstacles_resources)->Unit(benchmark::kMillisecond);
BENCHMARK(obstacles_taints)->Unit(benchmark::kMillisecond);
BENCHMARK(obstacles_ports)->Unit(benchmark::kMillisecond);
BENCHMARK(obstacles_node_affinity)->Unit(benchmark::kMillisecond);
BENCHMARK(obstacles_anti_affinity)->Unit(benchmark::kMillisecond);
BENCHMARK(obstacles_spread)->Unit(benchmark::kMillisecond);
BENCHMARK(obstacles_devices)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::plugins
