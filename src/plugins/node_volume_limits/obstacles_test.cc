#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

// A CSI driver "d" that can attach two volumes to a node, which has one attached, and the claims
// of a pod.
struct NodeVolumeLimitsObstacles : ::testing::Test {
  NodeVolumeLimitsObstacles() {
    fixture.add_node(world.node("node"));
    testing::put(fixture, R"(
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: node}, spec: {drivers: [{name: d, nodeID: node, allocatable: {count: 2}}]}}
)");
    for (const char* name : {"a", "b", "c"}) {
      testing::put(fixture, std::string("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: "
                                        "{namespace: default, name: ") +
                                name + "}, spec: {volumeName: " + name + "}}");
      testing::put(fixture,
                   std::string("{apiVersion: v1, kind: PersistentVolume, metadata: {name: ") +
                       name + "}, spec: {csi: {driver: d, volumeHandle: " + name + "}}}");
    }
    fixture.add_pod(pod("there", {"a"}, "node"));
  }

  Ref<const Pod> pod(const std::string& name, const std::vector<std::string>& claims,
                     const std::string& node = "") {
    std::string volumes;
    for (const std::string& claim : claims)
      volumes += (volumes.empty() ? "" : ", ") + std::string("{name: ") + claim +
                 ", persistentVolumeClaim: {claimName: " + claim + "}}";
    return testing::pod_of(world,
                           "{apiVersion: v1, kind: Pod, metadata: {namespace: default, "
                           "name: " +
                               name + ", uid: " + name + "}, spec: {nodeName: '" + node +
                               "', volumes: [" + volumes + "]}}");
  }

  PluginFixture fixture;
  testing::World& world = fixture.world;
};

TEST_F(NodeVolumeLimitsObstacles, SaysHowManyVolumesAreAttachedAndNeeded) {
  const auto plugin = fixture.make<NodeVolumeLimits>();
  EXPECT_EQ(fixture.obstacle_texts(*plugin, pod("p", {"a", "b"})), ObstacleTexts{});
  EXPECT_EQ(
      fixture.obstacle_texts(*plugin, pod("p", {"b", "c"})),
      (ObstacleTexts{
          {"node", {"VolumeLimitExceeded d: driver d: 1 of 2 volumes attached, needs 2 more"}}}));
  const Obstacle one = fixture.obstacles(*plugin, pod("p", {"b", "c"}))["node"].front();
  EXPECT_EQ(one.facts,
            (Facts{{"driver", "d"}, {"attached", "1"}, {"limit", "2"}, {"needed", "2"}}));
  EXPECT_EQ(one.distance, 0.5);
}

TEST_F(NodeVolumeLimitsObstacles, NamesAClaimThatIsNotThere) {
  const auto plugin = fixture.make<NodeVolumeLimits>();
  EXPECT_EQ(
      fixture.obstacle_texts(*plugin, pod("p", {"a", "gone"})),
      (ObstacleTexts{{"node", {"ClaimNotFound default/gone: claim default/gone does not exist"}}}));
}

TEST_F(NodeVolumeLimitsObstacles, NamesADriverThatTheNodeLacks) {
  fixture.add_node(world.node("bare"));
  testing::put(fixture,
               "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d}, spec: "
               "{preventPodSchedulingIfMissing: true}}");
  ASSERT_TRUE(fixture.gates.set("VolumeLimitScaling=true").has_value());
  EXPECT_EQ(
      fixture.obstacle_texts(*fixture.make<NodeVolumeLimits>(), pod("p", {"b"})),
      (ObstacleTexts{{"bare", {"DriverNotInstalled d: driver d is not installed on the node"}}}));
}

}  // namespace
}  // namespace berth::plugins
