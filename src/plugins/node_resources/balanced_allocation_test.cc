#include "plugins/node_resources/balanced_allocation.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

using config::NodeResourcesBalancedAllocationArgs;

const NodeResourcesBalancedAllocationArgs kWithGpu{
    .resources = {{"cpu", 1}, {"memory", 1}, {"nvidia.com/gpu", 1}}};

TEST(NodeResourcesBalancedAllocation, ScoresByWhatThePodDoesToTheBalance) {
  struct Row {
    const char* why;
    NodeResourcesBalancedAllocationArgs args;
    Amounts allocatable, used, pod;
    Score expected;
  };
  const Amounts gpu_node = {{"cpu", "3500m"}, {"memory", "40000"}, {"nvidia.com/gpu", "8"}};
  const Amounts cpu_and_memory = {{"cpu", "3000m"}, {"memory", "5000"}};
  const Row table[] = {
      {"uneven", {}, {{"cpu", "4000m"}, {"memory", "10000"}}, {}, cpu_and_memory, 68},
      {"even", {}, {{"cpu", "6000m"}, {"memory", "10000"}}, {}, cpu_and_memory, 75},
      {"cpu used",
       {},
       {{"cpu", "10000m"}, {"memory", "20000"}},
       {{"cpu", "3000m"}},
       cpu_and_memory,
       73},
      {"both used",
       {},
       {{"cpu", "10000m"}, {"memory", "20000"}},
       cpu_and_memory,
       cpu_and_memory,
       74},
      {"much memory",
       {},
       {{"cpu", "10000m"}, {"memory", "50000"}},
       cpu_and_memory,
       cpu_and_memory,
       70},
      {"fills what was empty",
       {},
       {{"cpu", "1"}, {"memory", "100"}},
       {{"cpu", "1"}},
       {{"memory", "100"}},
       100},
      {"memory only", {}, {{"cpu", "1"}, {"memory", "100"}}, {}, {{"memory", "100"}}, 50},
      {"cpu on, memory empty",
       {},
       {{"cpu", "1"}, {"memory", "100"}},
       {{"cpu", "500m"}},
       {{"cpu", "500m"}},
       62},
      {"cpu on, memory half",
       {},
       {{"cpu", "1"}, {"memory", "100"}},
       {{"cpu", "500m"}, {"memory", "50"}},
       {{"cpu", "500m"}},
       62},
      {"three resources",
       kWithGpu,
       gpu_node,
       {{"cpu", "3000m"}, {"memory", "5000"}, {"nvidia.com/gpu", "3"}},
       {{"nvidia.com/gpu", "1"}},
       75},
      {"the third from nothing", kWithGpu, gpu_node, cpu_and_memory, {{"nvidia.com/gpu", "1"}}, 76},
      {"the third not asked for", kWithGpu, gpu_node, {}, cpu_and_memory, 56},
      {"more than there is counts as all",
       {},
       {{"cpu", "1"}, {"memory", "100"}},
       {},
       {{"cpu", "5"}, {"memory", "100"}},
       75},
      {"one resource alone is always balanced",
       {},
       {{"cpu", "4"}, {"memory", "0"}},
       {},
       {{"cpu", "1"}},
       75},
      {"a node without anything", {}, {{"cpu", "0"}, {"memory", "0"}}, {}, {{"cpu", "1"}}, 75},
  };
  for (const Row& row : table) {
    PluginFixture fixture;
    fixture.add_node(fixture.world.node("n").allocatable(row.allocatable));
    fixture.add_pod(fixture.world.pod("there").container(row.used).on("n"));
    const auto plugin = fixture.make<NodeResourcesBalancedAllocation>(row.args);
    EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p").container(row.pod)),
              (Scores{{"n", row.expected}}))
        << row.why;
  }
}

TEST(NodeResourcesBalancedAllocation, CountsRealRequestsOnly) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("1").memory("1Gi"));
  // Requests nothing: with defaults it would unbalance the node.
  fixture.add_pod(fixture.world.pod("there").on("n"));
  const auto plugin = fixture.make<NodeResourcesBalancedAllocation>();
  EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p").cpu("500m").memory("512Mi")),
            (Scores{{"n", 75}}));
}

TEST(NodeResourcesBalancedAllocation, SitsOutForPodsThatAskForNoneOfItsResources) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n"));
  testing::World& world = fixture.world;
  const auto plugin = fixture.make<NodeResourcesBalancedAllocation>();
  EXPECT_EQ(fixture.score(*plugin, world.pod("p")), std::nullopt);
  EXPECT_EQ(fixture.score(*plugin, world.pod("p").cpu("0")), std::nullopt);
  EXPECT_EQ(fixture.score(*plugin, world.pod("p").request("x.com/gpu", "1")), std::nullopt);
  EXPECT_TRUE(fixture.score(*plugin, world.pod("p").cpu("1")).has_value());
  EXPECT_TRUE(fixture.score(*plugin, world.pod("p").overhead({{"memory", "1"}})).has_value());
  EXPECT_TRUE(fixture.score(*plugin, world.pod("p").pod_level({{"cpu", "1"}})).has_value());
  // A resource that no node can have keeps it from sitting out all the same.
  const auto pickles = fixture.make<NodeResourcesBalancedAllocation>(
      NodeResourcesBalancedAllocationArgs{.resources = {{"cpu", 1}, {"pickles", 1}}});
  EXPECT_EQ(fixture.score(*pickles, world.pod("p").request("pickles", "1")), (Scores{{"n", 75}}));
}

TEST(NodeResourcesBalancedAllocation, PodLevelRequestsCountUnlessTheGateIsOff) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("1").memory("100"));
  const Ref<const Pod> pod = fixture.world.pod("p").pod_level({{"memory", "100"}});
  EXPECT_EQ(fixture.score(*fixture.make<NodeResourcesBalancedAllocation>(), pod),
            (Scores{{"n", 50}}));
  ASSERT_TRUE(fixture.gates.set("PodLevelResources=false").has_value());
  EXPECT_EQ(fixture.score(*fixture.make<NodeResourcesBalancedAllocation>(), pod), std::nullopt);
}

TEST(NodeResourcesBalancedAllocation, CountsTheStatusOfThePod) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("4").memory("100"));
  const Ref<const Pod> written = fixture.world.pod("p").cpu("1").memory("100");
  PodDraft draft = draft_of(*written);
  draft.extra = std::make_unique<PodExtra>(fixture.world.interner.hold());
  StatusResources status;
  status.container = draft.extra->symbols.intern("main");
  status.requests = ResourceList({{fixture.world.symbol("cpu"), *Quantity::parse("4")}});
  draft.extra->container_resources.push_back(std::move(status));
  const Ref<const Pod> resized = make_pod(std::move(draft));
  const auto plugin = fixture.make<NodeResourcesBalancedAllocation>();
  EXPECT_EQ(fixture.score(*plugin, written), (Scores{{"n", 56}}));
  EXPECT_EQ(fixture.score(*plugin, resized), (Scores{{"n", 75}}));
}

TEST(NodeResourcesBalancedAllocation, WorksWithoutPreScore) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("4000m").memory("10000"));
  const auto plugin = fixture.make<NodeResourcesBalancedAllocation>();
  const NodeSet& feasible = fixture.cluster.nodes().nodes();
  std::vector<Score> by_row(fixture.cluster.nodes().rows(), -1);
  const Cycle asking(fixture.world.pod("p").cpu("3000m").memory("5000"), fixture.cluster);
  ASSERT_TRUE(plugin->score(asking, feasible, by_row).ok());
  feasible.for_each([&](NodeRow row) { EXPECT_EQ(by_row[row], 68); });
  const Cycle asking_nothing(fixture.world.pod("p"), fixture.cluster);
  ASSERT_TRUE(plugin->score(asking_nothing, feasible, by_row).ok());
  feasible.for_each([&](NodeRow row) { EXPECT_EQ(by_row[row], 0); });
}

TEST(NodeResourcesBalancedAllocation, AbsurdAmountsDoNotTrap) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("-1m").memory("1"));
  fixture.add_pod(fixture.world.pod("there").memory("-9223372036854775807").on("n"));
  const auto plugin = fixture.make<NodeResourcesBalancedAllocation>();
  EXPECT_TRUE(fixture.score(*plugin, fixture.world.pod("p").cpu("1")).has_value());
}

}  // namespace
}  // namespace berth::plugins
