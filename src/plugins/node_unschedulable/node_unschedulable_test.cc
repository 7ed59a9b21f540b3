#include "plugins/node_unschedulable/node_unschedulable.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr const char* kTaint = "node.kubernetes.io/unschedulable";
constexpr ClusterEvent kNodeUnschedulableNodeEvent{
    EventResource::kNode, action::kAdd | action::kUpdateNodeTaint, {}};
constexpr ClusterEvent kNodeUnschedulablePodEvent{
    EventResource::kTargetPod, action::kUpdatePodToleration, {}};

class NodeUnschedulableTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;
  NodeUnschedulable plugin;
  const Verdict cordoned = unresolvable({"node(s) were unschedulable"});
};

TEST_F(NodeUnschedulableTest, KeepsPodsOffCordonedNodesUnlessTheyTolerateIt) {
  fixture.add_node(world.node("closed").cordoned());
  fixture.add_node(world.node("open"));
  // The taint alone is TaintToleration's business.
  fixture.add_node(world.node("tainted").taint(kTaint, "NoSchedule"));
  struct Row {
    const char* why;
    Ref<const Pod> pod;
    bool tolerated;
  };
  const Row table[] = {
      {"no tolerations", world.pod("p"), false},
      {"by key and effect", world.pod("p").tolerates(kTaint, "NoSchedule"), true},
      {"by key", world.pod("p").tolerates(kTaint), true},
      {"any key", world.pod("p").tolerates(""), true},
      {"another effect", world.pod("p").tolerates(kTaint, "NoExecute"), false},
      {"another key", world.pod("p").tolerates("other", "NoSchedule"), false},
      {"a value", world.pod("p").tolerates(kTaint, "NoSchedule", "x"), false},
  };
  for (const Row& row : table) {
    const Verdicts expected{
        {"closed", row.tolerated ? Verdict{} : cordoned}, {"open", {}}, {"tainted", {}}};
    EXPECT_EQ(fixture.filter(plugin, row.pod), expected) << row.why;
    EXPECT_EQ(fixture.filter_one_by_one(plugin, row.pod), expected) << row.why;
  }
}

TEST_F(NodeUnschedulableTest, QueuesWhenANodeOpens) {
  const Ref<const Pod> pod = world.pod("p");
  const Ref<const Object> open = Ref<const Node>(world.node("n"));
  const Ref<const Object> closed = Ref<const Node>(world.node("n").cordoned());
  const AnyObject nothing;
  using enum QueueingHint;
  fixture.expect_hints(plugin, kNodeUnschedulableNodeEvent, pod,
                       {
                           {"added open", nothing, open, kQueue},
                           {"added closed", nothing, closed, kSkip},
                           {"uncordoned", closed, open, kQueue},
                           {"cordoned", open, closed, kSkip},
                           {"was open before", open, open, kSkip},
                           {"still closed", closed, closed, kSkip},
                       });
}

TEST_F(NodeUnschedulableTest, QueuesWhenThePodBeginsToTolerate) {
  const Ref<const Pod> pod = world.pod("p");
  const Ref<const Pod> tolerant = world.pod("p").tolerates(kTaint, "NoSchedule");
  const Ref<const Pod> otherwise = world.pod("p").tolerates("other", "NoSchedule");
  EXPECT_EQ(fixture.hint(plugin, kNodeUnschedulablePodEvent, pod, pod, tolerant),
            QueueingHint::kQueue);
  EXPECT_EQ(fixture.hint(plugin, kNodeUnschedulablePodEvent, pod, pod, otherwise),
            QueueingHint::kSkip);
}

TEST_F(NodeUnschedulableTest, RegistersNodeAndTolerationEvents) {
  EXPECT_EQ(registered_events(plugin),
            (RegisteredEvents{{EventResource::kNode, 17}, {EventResource::kTargetPod, 4096}}));
}

TEST_F(NodeUnschedulableTest, SaysThatTheNodeIsCordoned) {
  fixture.add_node(world.node("closed").cordoned());
  fixture.add_node(world.node("open"));
  EXPECT_EQ(fixture.obstacle_texts(plugin, world.pod("p")),
            (ObstacleTexts{
                {"closed", {"Cordoned : the node is cordoned, which the pod does not tolerate"}}}));
}

}  // namespace
}  // namespace berth::plugins
