#include "plugins/node_name/node_name.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

class NodeNameTest : public ::testing::Test {
 protected:
  NodeNameTest() {
    fixture.add_node(fixture.world.node("foo"));
    fixture.add_node(fixture.world.node("bar"));
  }
  PluginFixture fixture;
  NodeName plugin;
  const Verdict other = unresolvable({"node(s) didn't match the requested node name"});
};

TEST_F(NodeNameTest, APodWithoutANodeNameMayGoAnywhere) {
  EXPECT_EQ(fixture.filter(plugin, fixture.world.pod("p")), (Verdicts{{"bar", {}}, {"foo", {}}}));
}

TEST_F(NodeNameTest, APodWithANodeNameMayGoThereOnly) {
  EXPECT_EQ(fixture.filter(plugin, fixture.world.pod("p").on("foo")),
            (Verdicts{{"bar", other}, {"foo", {}}}));
  EXPECT_EQ(fixture.filter_one_by_one(plugin, fixture.world.pod("p").on("foo")),
            (Verdicts{{"bar", other}, {"foo", {}}}));
  EXPECT_EQ(fixture.filter(plugin, fixture.world.pod("p").on("gone")),
            (Verdicts{{"bar", other}, {"foo", other}}));
}

TEST_F(NodeNameTest, NarrowsTheSearchToTheNodeThatThePodNames) {
  const auto narrowed_to = [&](const Ref<const Pod>& pod) {
    Cycle cycle(pod, fixture.cluster);
    PreFilterResult result = plugin.pre_filter(cycle);
    EXPECT_TRUE(result.outcome.ok());
    return result.nodes;
  };
  EXPECT_EQ(narrowed_to(fixture.world.pod("p")), std::nullopt);
  EXPECT_EQ(narrowed_to(fixture.world.pod("p").on("foo")),
            (std::vector<Symbol>{fixture.world.symbol("foo")}));
  EXPECT_FALSE(plugin.has_extensions());
}

TEST_F(NodeNameTest, EveryAddedNodeMayHelp) {
  EXPECT_EQ(registered_events(plugin), (RegisteredEvents{{EventResource::kNode, 1}}));
  EXPECT_FALSE(plugin.events_to_register()->front().hint);
}

TEST_F(NodeNameTest, SignsTheNodeName) {
  const Ref<const Pod> pod = fixture.world.pod("p").on("foo");
  EXPECT_EQ(signature(plugin, pod, {"v1.Pod.Spec.NodeName"}), "foo");
}

TEST_F(NodeNameTest, SaysWhichNodeThePodIsFor) {
  EXPECT_EQ(fixture.obstacle_texts(plugin, fixture.world.pod("p")), ObstacleTexts{});
  EXPECT_EQ(fixture.obstacle_texts(plugin, fixture.world.pod("p").on("foo")),
            (ObstacleTexts{
                {"bar", {"OtherNodeName foo: the pod is for node foo alone (spec.nodeName)"}}}));
}

}  // namespace
}  // namespace berth::plugins
