#include "plugins/gang_scheduling/gang_scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/testing/plugin_fixture.h"

namespace berth::testing {
namespace {

using plugins::GangScheduling;

struct GangSchedulingTest : ::testing::Test, PluginFixture {
  Handle with = handle();
  std::shared_ptr<GroupStates> states = group_states(*with.shared);
  GangScheduling plugin{with};

  Ref<PodGroup> group(std::int32_t min_count) {
    auto made = make_ref<PodGroup>(SymbolHold(world.interner.symbols()));
    made->name = "g";
    made->symbol = made->symbols.intern("g");
    made->namespace_name = made->symbols.intern("default");
    if (min_count > 0) made->gang = GangPolicy{min_count};
    return made;
  }
  Ref<const Pod> member(const std::string& name, const std::string& node = {}) {
    PodBuilder builder = world.pod(name);
    builder.group("g");
    if (!node.empty()) builder.on(node);
    Ref<const Pod> pod = builder.build();
    states->see(pod);
    return pod;
  }
  std::string said(const Outcome& outcome) {
    return std::string(to_string(outcome.code)) + ": " + outcome.message();
  }
  PermitResult permit(const Ref<const Pod>& pod) {
    Cycle cycle(pod, cluster);
    states->assume(*pod);
    return plugin.permit(cycle, "n");
  }
};

TEST_F(GangSchedulingTest, APodWithoutAGroupIsNoneOfItsBusiness) {
  const Ref<const Pod> pod = world.pod("p").build();
  EXPECT_TRUE(plugin.pre_enqueue(*pod).ok());
  Cycle cycle(pod, cluster);
  EXPECT_TRUE(plugin.permit(cycle, "n").outcome.ok());
}

TEST_F(GangSchedulingTest, PodsWaitForTheirGroupAndForEnoughOfThem) {
  const auto a = member("a");
  EXPECT_EQ(said(plugin.pre_enqueue(*a)),
            "UnschedulableAndUnresolvable: waiting for pods's pod group \"g\" to appear in "
            "scheduling queue");
  cluster.put(Ref<const Object>(group(2)));
  EXPECT_EQ(said(plugin.pre_enqueue(*a)),
            "UnschedulableAndUnresolvable: waiting for minCount pods from a gang to appear in "
            "scheduling queue");
  const auto b = member("b", "n1");  // one that runs counts
  EXPECT_TRUE(plugin.pre_enqueue(*a).ok());
  states->remove(*b);
  EXPECT_FALSE(plugin.pre_enqueue(*a).ok());
  cluster.put(Ref<const Object>(group(0)));  // a basic group waits for nobody
  EXPECT_TRUE(plugin.pre_enqueue(*a).ok());
}

TEST_F(GangSchedulingTest, APlacementIsFeasibleWhenMinCountPodsHaveANode) {
  const auto gang = group(3), basic = group(0);
  EXPECT_EQ(said(plugin.placement_feasible(*gang, {3, 0})),
            "Wait: minCount (3) is not yet satisfied: 0 scheduled, 3 remaining");
  EXPECT_EQ(said(plugin.placement_feasible(*gang, {1, 1})),
            "Unschedulable: minCount (3) cannot be satisfied: 1 scheduled, 1 remaining");
  EXPECT_TRUE(plugin.placement_feasible(*gang, {0, 3}).ok());
  EXPECT_TRUE(plugin.placement_feasible(*basic, {2, 1}).ok());
  EXPECT_FALSE(plugin.placement_feasible(*basic, {0, 0}).ok());
}

TEST_F(GangSchedulingTest, TheLastOfAGangLetsTheOthersGo) {
  cluster.put(Ref<const Object>(group(3)));
  const auto a = member("a"), b = member("b"), c = member("c"), d = member("d");
  for (const auto& pod : {a, b}) {
    const PermitResult result = permit(pod);
    EXPECT_EQ(result.outcome.code, Code::kWait);
    EXPECT_EQ(result.timeout, std::chrono::minutes(5));
    with.waiting_pods.hold(pod, "n", std::vector<PermitHold>{{"GangScheduling", result.timeout}});
  }
  const auto waits = [&](const Ref<const Pod>& pod) {
    const auto waiting = with.waiting_pods.find(pod->uid());
    return waiting && !waiting->pending_plugins.empty();
  };
  EXPECT_TRUE(waits(a) && waits(b));
  EXPECT_TRUE(permit(c).outcome.ok());
  EXPECT_FALSE(waits(a) || waits(b));
  EXPECT_TRUE(permit(d).outcome.ok());  // beyond minCount
}

TEST_F(GangSchedulingTest, ItsEventsAreThoseOfThePodsOwnGroup) {
  const auto a = member("a");
  const AnyObject other = world.pod("x").group("other").build(), same = member("y");
  const ClusterEvent added{EventResource::kUnscheduledPod, action::kAdd, {}};
  EXPECT_EQ(hint(plugin, added, a, {}, same), QueueingHint::kQueue);
  EXPECT_EQ(hint(plugin, added, a, {}, other), QueueingHint::kSkip);
  const ClusterEvent came{EventResource::kPodGroup, action::kAdd, {}};
  EXPECT_EQ(hint(plugin, came, a, {}, Ref<const Object>(group(3))), QueueingHint::kQueue);
  const ClusterEvent changed{EventResource::kPodGroup, action::kUpdate, {}};
  const AnyObject three = Ref<const Object>(group(3)), two = Ref<const Object>(group(2));
  EXPECT_EQ(hint(plugin, changed, a, three, two), QueueingHint::kQueue);
  EXPECT_EQ(hint(plugin, changed, a, two, three), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::testing
