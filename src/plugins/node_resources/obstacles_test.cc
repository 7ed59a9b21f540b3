#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/node_resources/fit.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

class NodeResourcesFitObstaclesTest : public ::testing::Test {
 protected:
  void add_node(const testing::Amounts& allocatable, const testing::Amounts& used) {
    fixture.add_node(world.node("n").allocatable(allocatable));
    fixture.add_pod(world.pod("there").container(used).on("n"));
  }
  Texts said(const testing::Amounts& requests) {
    return fixture.obstacle_texts(*fixture.make<NodeResourcesFit>(),
                                  world.pod("p").container(requests))["n"];
  }

  PluginFixture fixture;
  testing::World& world = fixture.world;
};

TEST_F(NodeResourcesFitObstaclesTest, SaysHowMuchOfWhatIsMissing) {
  add_node(
      {{"cpu", "8"}, {"memory", "16Gi"}, {"ephemeral-storage", "10Gi"}, {"example.com/x", "4"}},
      {{"cpu", "6750m"}, {"memory", "12Gi"}, {"ephemeral-storage", "1Gi"}, {"example.com/x", "3"}});
  EXPECT_EQ(said({{"cpu", "3"}}),
            (Texts{"InsufficientResource cpu: needs 3 cpu, 1250m free of 8"}));
  EXPECT_EQ(said({{"cpu", "1250m"}, {"memory", "4Gi"}}), Texts{});
  EXPECT_EQ(
      said({{"cpu", "1251m"},
            {"memory", "5000Mi"},
            {"ephemeral-storage", "10Gi"},
            {"example.com/y", "1"},
            {"example.com/x", "2"},
            {"hugepages-2Mi", "4Mi"}}),
      (Texts{
          "InsufficientResource cpu: needs 1251m cpu, 1250m free of 8",
          "InsufficientResource memory: needs 5000Mi memory, 4Gi free of 16Gi",
          "InsufficientResource ephemeral-storage: needs 10Gi ephemeral-storage, 9Gi free of 10Gi",
          "InsufficientResource example.com/x: needs 2 example.com/x, 1 free of 4",
          "InsufficientResource example.com/y: needs 1 example.com/y, the node has none",
          "InsufficientResource hugepages-2Mi: needs 4Mi hugepages-2Mi, the node has none"}));
}

TEST_F(NodeResourcesFitObstaclesTest, FactsHaveTheNumbers) {
  add_node({{"cpu", "8"}}, {{"cpu", "6500m"}});
  const Ref<const Pod> pod = world.pod("p").cpu("3");
  const Obstacle said = fixture.obstacles(*fixture.make<NodeResourcesFit>(), pod)["n"].at(0);
  EXPECT_EQ(said.facts, (Facts{{"resource", "cpu"},
                               {"requested", "3"},
                               {"free", "1500m"},
                               {"allocatable", "8"},
                               {"used", "6500m"}}));
  EXPECT_EQ(said.reason, "Insufficient cpu");
  EXPECT_EQ(said.distance, 0.5);
}

TEST_F(NodeResourcesFitObstaclesTest, AFullNodeHasTooManyPods) {
  add_node({{"pods", "1"}}, {});
  EXPECT_EQ(said({}), (Texts{"TooManyPods pods: has 1 of at most 1 pods"}));
  EXPECT_EQ(said({{"cpu", "100"}}),
            (Texts{"TooManyPods pods: has 1 of at most 1 pods",
                   "InsufficientResource cpu: needs 100 cpu, 4 free of 4"}));
}

TEST_F(NodeResourcesFitObstaclesTest, AnOverfullNodeHasLessThanNothing) {
  add_node({{"cpu", "2"}}, {{"cpu", "3"}});
  EXPECT_EQ(said({{"cpu", "1"}}), (Texts{"InsufficientResource cpu: needs 1 cpu, -1 free of 2"}));
}

// Resources that few of many nodes have are kept in another form.
TEST_F(NodeResourcesFitObstaclesTest, ResourcesOfFewNodesAreLookedUpToo) {
  for (int i = 0; i < 200; ++i) fixture.add_node(world.node("plain-" + std::to_string(i)));
  fixture.add_node(world.node("n").allocatable({{"example.com/x", "1"}}));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const Ref<const Pod> pod =
      world.pod("p").container({{"example.com/x", "3"}, {"example.com/y", "1"}});
  auto all = fixture.obstacle_texts(*plugin, pod);
  EXPECT_EQ(all.size(), 201U);
  EXPECT_EQ(
      all["n"],
      (Texts{"InsufficientResource example.com/x: needs 3 example.com/x, 1 free of 1",
             "InsufficientResource example.com/y: needs 1 example.com/y, the node has none"}));
  EXPECT_EQ(all["plain-7"].front(),
            "InsufficientResource example.com/x: needs 3 example.com/x, the node has none");
}

}  // namespace
}  // namespace berth::plugins
