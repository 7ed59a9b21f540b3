#include <gmock/gmock.h>

#include "base/testing/names.h"
#include "plugins/pod_topology_spread/testing/spread_fixture.h"

namespace berth::plugins {
namespace {

struct SpreadHints : SpreadFixture {
  std::unique_ptr<PodTopologySpread> plugin = make<PodTopologySpread>();

  bool queued(std::uint32_t actions, EventResource resource, const Ref<const Pod>& waiting,
              const AnyObject& before, const AnyObject& after) {
    return hint(*plugin, {resource, actions, {}}, waiting, before, after) == QueueingHint::kQueue;
  }
  bool by_pod(const Ref<const Pod>& waiting, const AnyObject& before, const AnyObject& after) {
    return queued(515, EventResource::kAssignedPod, waiting, before, after);
  }
  bool by_itself(const Ref<const Pod>& waiting, const Ref<const Pod>& before,
                 const Ref<const Pod>& after) {
    return queued(4608, EventResource::kTargetPod, waiting, before, after);
  }
  bool by_node(const Ref<const Pod>& waiting, const Ref<const Node>& before,
               const Ref<const Node>& after) {
    const auto any = [](const Ref<const Node>& node) {
      return node ? AnyObject(Ref<const Object>(node)) : AnyObject();
    };
    return queued(27, EventResource::kNode, waiting, any(before), any(after));
  }
};

TEST_F(SpreadHints, RegistersForPodsAndNodes) {
  EXPECT_THAT(registered_events(*plugin),
              ElementsAre(Pair(EventResource::kAssignedPod, 515U),
                          Pair(EventResource::kTargetPod, 4608U), Pair(EventResource::kNode, 27U)));
}

TEST_F(SpreadHints, PodsThatComeOrGoMatterWhenTheyCount) {
  const Ref<const Pod> waiting = web("p", {{}});
  const Ref<const Pod> match = web("q").on("a"), nominated = web("q").nominated("a"),
                       nowhere = web("q"), other = world.pod("q").label("app", "db").on("a"),
                       elsewhere = web("q").in("other").on("a");
  EXPECT_TRUE(by_pod(waiting, {}, match));
  EXPECT_TRUE(by_pod(waiting, {}, nominated));
  EXPECT_FALSE(by_pod(waiting, {}, nowhere));
  EXPECT_FALSE(by_pod(waiting, {}, other));
  EXPECT_FALSE(by_pod(waiting, {}, elsewhere));
  EXPECT_TRUE(by_pod(waiting, match, {}));
  EXPECT_FALSE(by_pod(waiting, other, {}));
  EXPECT_FALSE(by_pod(waiting, elsewhere, {}));
  // A selector for everything matches here.
  EXPECT_TRUE(by_pod(web("p", {{.labels = {}}}), {}, other));
}

TEST_F(SpreadHints, ChangedLabelsMatterWhenTheyChangeWhoCounts) {
  const Ref<const Pod> waiting = web("p", {{}});
  const Ref<const Pod> match = web("q").on("a"), other = world.pod("q").label("app", "db").on("a"),
                       still = web("q").label("x", "y").on("a");
  EXPECT_TRUE(by_pod(waiting, match, other));
  EXPECT_TRUE(by_pod(waiting, other, match));
  EXPECT_FALSE(by_pod(waiting, match, still));
  EXPECT_FALSE(by_pod(waiting, match, match));
}

TEST_F(SpreadHints, ThePodsOwnTolerationsMatterWhenTaintsAreHonoured) {
  const Ref<const Pod> before = web("p", {{.taints = NodeInclusionPolicy::kHonor}});
  const Ref<const Pod> after = web("p", {{.taints = NodeInclusionPolicy::kHonor}}).tolerates("gpu");
  EXPECT_TRUE(by_itself(before, before, after));
  EXPECT_FALSE(by_itself(before, before, before));
  const Ref<const Pod> careless = web("p", {{}}), tolerant = web("p", {{}}).tolerates("gpu");
  EXPECT_FALSE(by_itself(careless, careless, tolerant));
  // Another pod's tolerations do not.
  const Ref<const Pod> q = web("q").on("a"), r = web("q").on("a").tolerates("gpu");
  EXPECT_FALSE(by_pod(before, q, r));
}

TEST_F(SpreadHints, ThePodsOwnLabelsMatterWhenTheyChangeWhetherItCounts) {
  const Ref<const Pod> waiting = web("p", {{}}), counted = web("p"),
                       still = web("p").label("x", "y"), other = world.pod("p").label("app", "db");
  EXPECT_TRUE(by_itself(waiting, other, counted));
  EXPECT_TRUE(by_itself(waiting, counted, other));
  EXPECT_FALSE(by_itself(waiting, counted, still));
}

TEST_F(SpreadHints, NodesMatterWhenTheyHaveAllKeys) {
  const Ref<const Pod> waiting = web("p", {{.key = kZone}, {.key = kHost}});
  const Ref<const Node> whole = world.node("n").zone("z1"), moved = world.node("n").zone("z2"),
                        half = world.node("n"),
                        tainted = world.node("n").zone("z1").taint("t", "NoSchedule"),
                        labelled = world.node("n").zone("z1").label("x", "y"),
                        half_tainted = world.node("n").taint("t", "NoSchedule");
  EXPECT_TRUE(by_node(waiting, nullptr, whole));
  EXPECT_FALSE(by_node(waiting, nullptr, half));
  EXPECT_TRUE(by_node(waiting, whole, nullptr));
  EXPECT_FALSE(by_node(waiting, half, nullptr));
  EXPECT_TRUE(by_node(waiting, half, whole));
  EXPECT_TRUE(by_node(waiting, whole, half));
  EXPECT_TRUE(by_node(waiting, whole, moved));
  EXPECT_TRUE(by_node(waiting, whole, tainted));
  EXPECT_FALSE(by_node(waiting, whole, labelled));
  EXPECT_FALSE(by_node(waiting, half, half_tainted));
  EXPECT_TRUE(by_node(web("p"), nullptr, half));  // nothing is demanded of it
}

TEST_F(SpreadHints, ConstraintsThatMakeNoSenseAndForeignObjectsAreErrors) {
  auto pod = web("p", {{}});
  pod.spec().topology_spread_constraints[0].label_selector->match_expressions.push_back(
      {pod.symbol("app"), SelectorOperator::kUnknown, pod.symbol("Near"), {}});
  const Ref<const Pod> waiting = pod, other = web("q").on("a");
  const std::vector<EventRegistration> events = plugin->events_to_register().value();
  EXPECT_FALSE(events[0].hint(*waiting, {}, other).has_value());
  EXPECT_FALSE(events[1].hint(*waiting, other, other).has_value());
  EXPECT_EQ(events[2].hint(*waiting, {}, other).error().message,
            "expected *v1.Node, but got *v1.Pod");
}

TEST_F(SpreadHints, PodsAreSignedOnlyWithoutAnyConstraints) {
  std::vector<SignatureFragment> fragments;
  const Ref<const Pod> plain = web("p"), spread = web("q", {{}});
  EXPECT_EQ(plugin->sign(*plain, fragments).message(),
            "pods with default topology constraints are not signable");
  EXPECT_EQ(plugin->sign(*spread, fragments).message(),
            "pods with topology constraints are not signable");
  config::PodTopologySpreadArgs none;
  none.system_defaults = false;
  const auto bare = make<PodTopologySpread>(none);
  EXPECT_TRUE(bare->sign(*plain, fragments).ok());
  EXPECT_EQ(bare->sign(*spread, fragments).code, Code::kUnschedulable);
  EXPECT_TRUE(fragments.empty());
}

TEST_F(SpreadHints, ArgumentsOfAnotherKindAreRefused) {
  const auto made = PodTopologySpread::create(config::NodeAffinityArgs{}, handle());
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message,
            "want args to be of type PodTopologySpreadArgs, got *config.NodeAffinityArgs");
}

}  // namespace
}  // namespace berth::plugins
