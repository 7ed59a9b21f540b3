// What the allocator costs: one pod with one claim, asked about every node of a cluster whose
// devices are half taken; and a search that has to look at everything before it can say no.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "api/decode.h"
#include "api/testing/builders.h"
#include "base/check.h"
#include "berth/views.h"
#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::plugins {
namespace {

struct Devices {
  testing::World world;
  Cluster cluster{world.interner.symbols()};
  DevicePools pools{world.interner.symbols(), AllocatorFeatures{}};
  AllocatedDevices allocated{/*consumable_capacity=*/true};
  std::vector<AllocationResult> taken;
  std::vector<Ref<const Node>> nodes;

  AnyObject decoded(const std::string& json) {
    Result<AnyObject> object = decode_object(json, world.interner, nullptr);
    BERTH_CHECK(object.has_value());
    return *std::move(object);
  }
  void put(const std::string& json) { cluster.put(std::get<Ref<const Object>>(decoded(json))); }
  Ref<const ResourceClaim> claim(std::string_view devices) {
    const AnyObject object = decoded(fmt::format(
        R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{{"name":"c"}},
             "spec":{{"devices":{}}}}})",
        devices));
    return Ref<const ResourceClaim>(
        static_cast<const ResourceClaim*>(std::get<Ref<const Object>>(object).get()));
  }

  // Every node has a slice; the first `used` devices of each are somebody's.
  Devices(int node_count, int per_node, int used) {
    put(R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu"},
            "spec":{"selectors":[{"cel":{"expression":"device.driver == \"drv\""}}]}})");
    for (int n = 0; n < node_count; ++n) {
      const std::string node = fmt::format("node-{}", n);
      nodes.push_back(world.node(node));
      cluster.add_node(nodes.back());
      std::string devices;
      for (int d = 0; d < per_node; ++d)
        devices += fmt::format(R"({}{{"name":"d{}","attributes":{{"id":{{"int":{}}}}}}})",
                               d == 0 ? "" : ",", d, d);
      put(fmt::format(
          R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{{"name":"s-{}"}},
               "spec":{{"driver":"drv","nodeName":"{}","devices":[{}],
                        "pool":{{"name":"{}","generation":1,"resourceSliceCount":1}}}}}})",
          node, node, devices, node));
      AllocationResult& result = taken.emplace_back();
      for (int d = 0; d < used; ++d) {
        DeviceRequestAllocationResult& device = result.results.emplace_back();
        device.driver = world.symbol("drv");
        device.pool = world.symbol(node);
        device.device = world.symbol(fmt::format("d{}", d));
      }
      allocated.add(result);
    }
  }
};

void allocate_on_every_node(benchmark::State& state) {
  Devices devices(static_cast<int>(state.range(0)), 8, 4);
  const std::vector<Ref<const ResourceClaim>> claims = {devices.claim(
      R"({"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1}}]})")};
  for (auto _ : state) {
    devices.pools.refresh(devices.cluster);
    Allocator allocator(devices.pools, devices.allocated, devices.cluster, {});
    for (const Ref<const Node>& node : devices.nodes) {
      const NodeAllocation found = allocator.allocate(*node, claims);
      BERTH_CHECK(found.allocated());
      benchmark::DoNotOptimize(found);
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(allocate_on_every_node)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);

// Two of the same id, where every id is there once: every set is tried.
void unsatisfiable_constraint(benchmark::State& state) {
  Devices devices(1, static_cast<int>(state.range(0)), 0);
  const std::vector<Ref<const ResourceClaim>> claims = {devices.claim(
      R"({"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":3}},
                      {"name":"q","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}}],
          "constraints":[{"requests":["q"],"matchAttribute":"drv/id"}]})")};
  std::uint64_t steps = 0;
  for (auto _ : state) {
    devices.pools.refresh(devices.cluster);
    Allocator allocator(devices.pools, devices.allocated, devices.cluster, {});
    const NodeAllocation found = allocator.allocate(*devices.nodes[0], claims);
    BERTH_CHECK(!found.allocated());
    steps += found.steps;
  }
  state.counters["steps"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}
BENCHMARK(unsatisfiable_constraint)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::plugins
