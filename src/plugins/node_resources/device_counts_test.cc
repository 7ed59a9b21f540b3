// Extended resources that are devices, as NodeResourcesFit and NodeResourcesBalancedAllocation
// score them.
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "berth/row_keys.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/testing/manifest_objects.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kGpu = "example.com/gpu";

std::string device_class(std::string_view selectors = "") {
  return "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpus}, spec: "
         "{extendedResourceName: example.com/gpu, selectors: [" +
         std::string(selectors) + "]}}";
}

std::string selector(std::string_view expression) {
  return "{cel: {expression: '" + std::string(expression) + "'}}";
}

std::string slice(const std::string& name, std::string_view where, std::string_view devices) {
  return "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: " + name +
         "}, spec: {driver: drv, pool: {name: " + name +
         ", generation: 1, resourceSliceCount: 1}, " + std::string(where) + ", devices: [" +
         std::string(devices) + "]}}";
}

std::string claim(const std::string& name, const std::string& pool, const std::string& device,
                  std::string_view more = "") {
  return "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: " + name +
         ", namespace: default, uid: " + name +
         "}, spec: {}, status: {allocation: {devices: {results: [{request: r, driver: drv, pool: " +
         pool + ", device: " + device + std::string(more) + "}]}}}}";
}

constexpr const char* kTwo = "{name: d1}, {name: d2}";
constexpr const char* kFour = "{name: d1}, {name: d2}, {name: d3}, {name: d4}";

class DeviceScoresTest : public ::testing::Test {
 protected:
  PluginFixture fixture;

  DeviceScoresTest() {
    for (const char* name : {"a", "b"})
      fixture.add_node(fixture.world.node(name).cpu("10").memory("10Gi").label("zone", name));
  }

  static config::NodeResourcesFitArgs by_devices() {
    config::NodeResourcesFitArgs args;
    args.strategy = config::ScoringStrategyType::kMostAllocated;
    args.resources = {{std::string(kGpu), 1}};
    return args;
  }
  static config::NodeResourcesBalancedAllocationArgs balanced() {
    config::NodeResourcesBalancedAllocationArgs args;
    args.resources = {{"cpu", 1}, {std::string(kGpu), 1}};
    return args;
  }

  Ref<const Pod> pod(const char* devices = "1") {
    return fixture.world.pod("p").request(std::string(kGpu), devices);
  }
  // How full the nodes are with a pod that wants one device, in percent.
  Scores used() { return *fixture.score(*fixture.make<NodeResourcesFit>(by_devices()), pod()); }
};

TEST_F(DeviceScoresTest, DevicesOfTheClassCountAndThoseThatAreTaken) {
  put(fixture, device_class());
  put(fixture, slice("sa", "nodeName: a", kFour));
  put(fixture, slice("sb", "nodeName: b", kFour));
  EXPECT_EQ(used(), (Scores{{"a", 25}, {"b", 25}}));
  put(fixture, claim("c", "sb", "d3"));
  EXPECT_EQ(used(), (Scores{{"a", 25}, {"b", 50}}));
  put(fixture, claim("admin", "sa", "d1", ", adminAccess: true"));
  EXPECT_EQ(used(), (Scores{{"a", 25}, {"b", 50}})) << "who only looks takes nothing";
  put(fixture, claim("share", "sa", "d1",
                     ", shareID: 00000000-0000-4000-8000-000000000001, consumedCapacity: {m: 1}"));
  EXPECT_EQ(used(), (Scores{{"a", 50}, {"b", 50}})) << "a share is enough to count as taken";
}

TEST_F(DeviceScoresTest, WhatADevicePluginHasGoesFirst) {
  put(fixture, device_class());
  put(fixture, slice("s", "allNodes: true", kFour));
  fixture.add_node(fixture.world.node("plugin").allocatable({{std::string(kGpu), "10"}}));
  fixture.add_node(fixture.world.node("zero").allocatable({{std::string(kGpu), "0"}}));
  EXPECT_EQ(used(), (Scores{{"a", 25}, {"b", 25}, {"plugin", 10}, {"zero", 25}}));
  fixture.add_pod(fixture.world.pod("there").request(std::string(kGpu), "1").on("plugin"));
  fixture.add_pod(fixture.world.pod("too").request(std::string(kGpu), "1").on("a"));
  EXPECT_EQ(used(), (Scores{{"a", 25}, {"b", 25}, {"plugin", 20}, {"zero", 25}}))
      << "where there are devices claims are counted, not requests";
}

TEST_F(DeviceScoresTest, ASliceSaysWhichNodesItsDevicesAreFor) {
  struct Row {
    const char* where;
    const char* devices;
    Scores expected;  // 0: there are none
  };
  constexpr const char* kZoneB =
      "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: "
      "[b]}]}]}";
  constexpr const char* kBroken =
      "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Is, values: "
      "[b]}]}]}";
  const Row rows[] = {
      {"nodeName: a", kTwo, {{"a", 50}, {"b", 0}}},
      {"nodeName: gone", kTwo, {{"a", 0}, {"b", 0}}},
      {"allNodes: true", kTwo, {{"a", 50}, {"b", 50}}},
      {kZoneB, kTwo, {{"a", 0}, {"b", 50}}},
      {"allNodes: false", kTwo, {{"a", 50}, {"b", 50}}},
      {kBroken, kTwo, {{"a", 0}, {"b", 0}}},
      {"perDeviceNodeSelection: true",
       "{name: d1, nodeName: a}, {name: d2, allNodes: true}, {name: d3}",
       {{"a", 50}, {"b", 100}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.where);
    PluginFixture other;
    for (const char* name : {"a", "b"}) other.add_node(other.world.node(name).label("zone", name));
    put(other, device_class());
    put(other, slice("s", row.where, row.devices));
    const auto plugin = other.make<NodeResourcesFit>(by_devices());
    EXPECT_EQ(*other.score(*plugin, other.world.pod("p").request(std::string(kGpu), "1")),
              row.expected);
  }
}

TEST_F(DeviceScoresTest, OnlyDevicesThatTheClassSelectsCount) {
  put(fixture, device_class(selector("device.driver == \"drv\"") + ", " +
                            selector("device.attributes[\"drv\"].fast")));
  put(fixture, slice("sa", "nodeName: a",
                     "{name: d1, attributes: {fast: {bool: true}}}, "
                     "{name: d2, attributes: {fast: {bool: false}}}"));
  put(fixture, slice("sb", "nodeName: b",
                     "{name: d1, attributes: {fast: {bool: true}}}, "
                     "{name: d2, attributes: {fast: {bool: true}}}"));
  EXPECT_EQ(used(), (Scores{{"a", 100}, {"b", 50}}));
  put(fixture, slice("sa", "nodeName: a", "{name: d1, attributes: {fast: {bool: false}}}"));
  EXPECT_EQ(used(), (Scores{{"a", 0}, {"b", 50}})) << "a slice has changed";
  put(fixture, slice("odd", "nodeName: b", "{name: d9}"));
  EXPECT_EQ(used(), (Scores{{"a", 0}, {"b", 0}})) << "a selector fails: nothing is known of b";
}

TEST_F(DeviceScoresTest, SelectorsDoNotSeeThatADeviceCanBeShared) {
  put(fixture, device_class(selector("device.allowMultipleAllocations")));
  put(fixture, slice("s", "allNodes: true", "{name: d1, allowMultipleAllocations: true}"));
  EXPECT_EQ(used(), (Scores{{"a", 0}, {"b", 0}}));
}

TEST_F(DeviceScoresTest, WithoutTheGateThereAreNoDevices) {
  fixture.gates.emulate({"1.36", 36}, {"1.35", 35});  // today it is locked
  ASSERT_TRUE(fixture.gates.set("DRAExtendedResource=false").has_value());
  put(fixture, device_class());
  put(fixture, slice("s", "allNodes: true", kTwo));
  EXPECT_EQ(used(), (Scores{{"a", 0}, {"b", 0}}));
}

TEST_F(DeviceScoresTest, BalanceCountsDevicesToo) {
  put(fixture, device_class(selector("device.driver == \"drv\"")));
  put(fixture, slice("sa", "nodeName: a", kTwo));
  put(fixture, slice("sb", "nodeName: b", kFour));
  const auto plugin = fixture.make<NodeResourcesBalancedAllocation>(balanced());
  const Ref<const Pod> pod = fixture.world.pod("p").cpu("5").request(std::string(kGpu), "1");
  // On a both are half used then, on b the devices only to a quarter.
  const Scores expected{{"a", 75}, {"b", 68}};
  EXPECT_EQ(*fixture.score(*plugin, pod), expected);
  std::vector<Score> by_row(fixture.cluster.nodes().rows());
  const Cycle cycle(pod, fixture.cluster);
  ASSERT_TRUE(plugin->score(cycle, fixture.cluster.nodes().nodes(), by_row).ok());
  fixture.cluster.nodes().nodes().for_each([&](NodeRow row) {
    EXPECT_EQ(by_row[row], expected.at(std::string(fixture.cluster.nodes().node(row).name)))
        << "without PreScore it is the same";
  });
}

TEST_F(DeviceScoresTest, OnlyScoresOfPodsThatWantDevicesLookBeyondTheNode) {
  const auto fit = fixture.make<NodeResourcesFit>(by_devices());
  const auto balance = fixture.make<NodeResourcesBalancedAllocation>(balanced());
  const auto plain = fixture.make<NodeResourcesFit>();
  const auto looks_beyond = [&](const Plugin& plugin, const Ref<const Pod>& wanting) {
    Cycle cycle(wanting, fixture.cluster);
    RowKeys keys;
    EXPECT_TRUE(plugin.score_keys(cycle, keys));
    return !keys.numbers.empty();
  };
  EXPECT_FALSE(looks_beyond(*fit, pod())) << "no class stands behind the resource";
  put(fixture, device_class());
  EXPECT_TRUE(looks_beyond(*fit, pod()));
  EXPECT_TRUE(looks_beyond(*balance, pod()));
  EXPECT_FALSE(looks_beyond(*fit, pod("0")));
  EXPECT_FALSE(looks_beyond(*fit, fixture.world.pod("p").cpu("1")));
  EXPECT_FALSE(looks_beyond(*plain, pod())) << "it is not scored";
}

}  // namespace
}  // namespace berth::plugins
