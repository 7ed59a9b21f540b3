#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/node_resources/fit.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

using config::NodeResourcesFitArgs;
using config::ScoringStrategyType;

struct NodeCase {
  std::string cpu, memory;  // allocatable
  Amounts used;
};

// The scores of nodes a, b, … in order.
std::vector<Score> scores(const NodeResourcesFitArgs& args, const std::vector<NodeCase>& nodes,
                          const Amounts& pod) {
  PluginFixture fixture;
  std::string name = "a";
  for (const NodeCase& node : nodes) {
    fixture.add_node(fixture.world.node(name).cpu(node.cpu).memory(node.memory));
    if (!node.used.empty())
      fixture.add_pod(fixture.world.pod("on-" + name).container(node.used).on(name));
    ++name[0];
  }
  const auto plugin = fixture.make<NodeResourcesFit>(args);
  const Scores by_name = fixture.score(*plugin, fixture.world.pod("p").container(pod)).value();
  std::vector<Score> in_order;
  for (const auto& [node, score] : by_name) in_order.push_back(score);
  return in_order;
}

NodeResourcesFitArgs least() { return {}; }
NodeResourcesFitArgs most() {
  NodeResourcesFitArgs args;
  args.strategy = ScoringStrategyType::kMostAllocated;
  return args;
}
NodeResourcesFitArgs ratio(std::vector<config::UtilizationShapePoint> shape) {
  NodeResourcesFitArgs args;
  args.strategy = ScoringStrategyType::kRequestedToCapacityRatio;
  args.shape = std::move(shape);
  return args;
}

const std::vector<NodeCase> kUsedNodes = {
    {"4000m", "10000", {{"cpu", "2000m"}, {"memory", "4000"}}},
    {"6000m", "10000", {{"cpu", "1000m"}, {"memory", "2000"}}},
};
const std::vector<NodeCase> kEmptyNodes = {{"4000m", "10000", {}}, {"6000m", "10000", {}}};
const Amounts kSmallPod = {{"cpu", "1000m"}, {"memory", "2000"}};
const Amounts kLargePod = {{"cpu", "3000m"}, {"memory", "5000"}};

TEST(NodeResourcesFitScore, FollowsTheStrategy) {
  struct Row {
    const char* why;
    NodeResourcesFitArgs args;
    std::vector<NodeCase> nodes;
    Amounts pod;
    std::vector<Score> expected;
  };
  const Row table[] = {
      {"least", least(), kUsedNodes, kSmallPod, {32, 63}},
      {"most", most(), kUsedNodes, kSmallPod, {67, 36}},
      {"least, nothing used", least(), kEmptyNodes, kLargePod, {37, 50}},
      {"falling shape: a resource at 0 is dropped",
       ratio({{0, 10}, {100, 0}}),
       kUsedNodes,
       kLargePod,
       {10, 32}},
      {"rising shape", ratio({{0, 0}, {100, 10}}), kUsedNodes, kLargePod, {95, 68}},
      {"the ratio's average is rounded",
       ratio({{0, 10}, {100, 0}}),
       kEmptyNodes,
       kLargePod,
       {38, 50}},
      {"too little cpu, all the memory",
       least(),
       {{"4000m", "10000", {}}},
       {{"cpu", "5000m"}, {"memory", "0"}},
       {50}},
      {"most: what is too much counts as full",
       most(),
       {{"4000m", "10000", {}}},
       {{"cpu", "5000m"}, {"memory", "0"}},
       {50}},
      {"a node without anything", least(), {{"0", "0", {}}}, kSmallPod, {0}},
      {"most, a node without anything", most(), {{"0", "0", {}}}, kSmallPod, {0}},
      {"ratio, a node without anything",
       ratio({{0, 10}, {100, 0}}),
       {{"0", "0", {}}},
       kSmallPod,
       {0}},
      {"a node without memory is scored by cpu", least(), {{"4000m", "0", {}}}, kSmallPod, {75}},
  };
  for (const Row& row : table)
    EXPECT_EQ(scores(row.args, row.nodes, row.pod), row.expected) << row.why;
}

TEST(NodeResourcesFitScore, WeighsResources) {
  NodeResourcesFitArgs args = least();
  args.resources = {{"cpu", 1}, {"memory", 3}};
  // cpu 25, memory 50: (25 + 150) / 4
  EXPECT_EQ(scores(args, kEmptyNodes, kLargePod), (std::vector<Score>{43, 50}));
  args = most();
  args.resources = {{"cpu", 3}, {"memory", 1}};
  // cpu 75 and 50, memory 50
  EXPECT_EQ(scores(args, kEmptyNodes, kLargePod), (std::vector<Score>{68, 50}));
}

TEST(NodeResourcesFitScore, ScoresScalarsByTheShape) {
  NodeResourcesFitArgs args = ratio({{0, 0}, {100, 1}});
  args.resources = {{"intel.com/foo", 1}};
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("eight").allocatable({{"intel.com/foo", "8"}}));
  fixture.add_node(fixture.world.node("four").allocatable({{"intel.com/foo", "4"}}));
  fixture.add_node(fixture.world.node("none"));
  const auto plugin = fixture.make<NodeResourcesFit>(args);
  testing::World& world = fixture.world;
  EXPECT_EQ(fixture.score(*plugin, world.pod("p").request("intel.com/foo", "2")),
            (Scores{{"eight", 2}, {"four", 5}, {"none", 0}}));
  EXPECT_EQ(fixture.score(*plugin, world.pod("p").request("intel.com/foo", "4")),
            (Scores{{"eight", 5}, {"four", 10}, {"none", 0}}));
  EXPECT_EQ(fixture.score(*plugin, world.pod("p")),
            (Scores{{"eight", 0}, {"four", 0}, {"none", 0}}));
}

TEST(NodeResourcesFitScore, AScalarThatIsNotAskedForDoesNotCount) {
  NodeResourcesFitArgs args = least();
  args.resources = {{"cpu", 1}, {"x.com/gpu", 1}};
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("4").allocatable({{"x.com/gpu", "8"}}));
  fixture.add_pod(fixture.world.pod("there").cpu("0").request("x.com/gpu", "8").on("n"));
  const auto plugin = fixture.make<NodeResourcesFit>(args);
  EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p").cpu("1")), (Scores{{"n", 75}}));
  EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p").cpu("1").request("x.com/gpu", "1")),
            (Scores{{"n", 37}}));
}

TEST(NodeResourcesFitScore, ContainersThatRequestNothingCountWithDefaults) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("1").memory("1000Mi"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  // 100m of 1, 200Mi of 1000Mi: (90 + 80) / 2
  EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p")), (Scores{{"n", 85}}));
  fixture.add_pod(fixture.world.pod("there").on("n"));
  EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p")), (Scores{{"n", 70}}));
  // Storage has no defaults.
  NodeResourcesFitArgs args;
  args.resources = {{"ephemeral-storage", 1}};
  fixture.add_node(fixture.world.node("n").cpu("1").allocatable({{"ephemeral-storage", "10"}}));
  const auto by_storage = fixture.make<NodeResourcesFit>(args);
  EXPECT_EQ(fixture.score(*by_storage, fixture.world.pod("p")), (Scores{{"n", 100}}));
}

TEST(NodeResourcesFitScore, LeavesOutPodLevelRequestsOfThePodButNotOfThoseThere) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("10").memory("10Gi"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const Amounts level = {{"cpu", "5"}, {"memory", "5Gi"}};
  EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p").pod_level(level)), (Scores{{"n", 98}}));
  fixture.add_pod(fixture.world.pod("there").pod_level(level).on("n"));
  EXPECT_EQ(fixture.score(*plugin, fixture.world.pod("p").pod_level(level)), (Scores{{"n", 48}}));
}

TEST(NodeResourcesFitScore, AmountsAddedUpBeforeAndAfreshAreTheSame) {
  PluginFixture fixture;
  testing::World& world = fixture.world;
  fixture.add_node(world.node("n").cpu("10").memory("10Gi").allocatable(
      {{"ephemeral-storage", "10Gi"}, {"x.com/gpu", "8"}}));
  NodeResourcesFitArgs args;
  args.resources = {{"cpu", 1}, {"memory", 1}, {"ephemeral-storage", 1}, {"x.com/gpu", 1}};
  const auto before = fixture.make<NodeResourcesFit>(args);
  // A name that no node has makes no difference but that sums must be done afresh.
  args.resources.push_back({"pickles", 1});
  const auto afresh = fixture.make<NodeResourcesFit>(args);
  const Ref<const Pod> pods[] = {
      world.pod("p"),
      world.pod("p").cpu("500u").memory("0.5"),
      world.pod("p").container({{"cpu", "1"}}).container({{"memory", "1Gi"}}),
      world.pod("p").cpu("3").init_container({{"cpu", "4"}}).sidecar({{"memory", "2Gi"}}),
      world.pod("p").cpu("0").overhead({{"cpu", "250m"}, {"memory", "1Gi"}}),
      world.pod("p").request("x.com/gpu", "3").request("ephemeral-storage", "2Gi"),
      world.pod("p").cpu("1").request("pickles", "1"),
  };
  for (const Ref<const Pod>& pod : pods)
    EXPECT_EQ(fixture.score(*before, pod), fixture.score(*afresh, pod));
}

TEST(NodeResourcesFitScore, WorksWithoutPreScore) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("4000m").memory("10000"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const Cycle cycle(fixture.world.pod("p").cpu("3000m").memory("5000"), fixture.cluster);
  std::vector<Score> by_row(fixture.cluster.nodes().rows());
  const NodeSet& feasible = fixture.cluster.nodes().nodes();
  ASSERT_TRUE(plugin->score(cycle, feasible, by_row).ok());
  feasible.for_each([&](NodeRow row) { EXPECT_EQ(by_row[row], 37); });
}

TEST(NodeResourcesFitScore, NothingToScoreByIsAnError) {
  PluginFixture fixture;
  NodeResourcesFitArgs args;
  args.resources.clear();
  const NodeResourcesFit plugin(args, fixture.handle());
  const Cycle cycle(fixture.world.pod("p"), fixture.cluster);
  EXPECT_EQ(plugin.score(cycle, NodeSet(), {}).message(), "resources not found");
}

TEST(NodeResourcesFitScore, AbsurdAmountsDoNotTrap) {
  // 100 times this wraps around; upstream's score is whatever comes of it.
  const std::string huge = "9223372036854775807";
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("huge").cpu("1").memory(huge));
  fixture.add_node(fixture.world.node("negative").cpu("1").memory("-1"));
  fixture.add_pod(fixture.world.pod("there").memory("-" + huge).on("negative"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const auto result = fixture.score(*plugin, fixture.world.pod("p").cpu("0").memory("-1"));
  // (max - -1) * 100 wraps to 0 over max: 0, and cpu's 100.
  EXPECT_EQ(result->at("huge"), 50);
  EXPECT_TRUE(result->contains("negative"));
}

}  // namespace
}  // namespace berth::plugins
