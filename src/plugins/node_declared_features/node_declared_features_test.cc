#include "plugins/node_declared_features/node_declared_features.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr const char* kRestart = "RestartAllContainersOnContainerExits";
constexpr const char* kUsers = "UserNamespacesHostNetworkSupport";
constexpr ClusterEvent kNodeDeclaredFeaturesNodeEvent{
    EventResource::kNode, action::kAdd | action::kUpdateNodeDeclaredFeature, {}};
constexpr ClusterEvent kNodeDeclaredFeaturesPodEvent{
    EventResource::kTargetPod, action::kUpdate, {}};

class NodeDeclaredFeaturesTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const Verdict lacking = unresolvable({"node(s) didn't match Pod's required features"});

  Ref<const Pod> restarting(bool init = false) {
    testing::PodBuilder pod = world.pod("p");
    PodSpec& spec = pod.spec();
    spec.containers.emplace_back().restarts_all = !init;
    spec.init_containers.emplace_back().restarts_all = init;
    return pod;
  }
  Ref<const Pod> with_users(bool host_network, bool own_users) {
    testing::PodBuilder pod = world.pod("p");
    pod.spec().host_network = host_network;
    pod.spec().own_users = own_users;
    return pod;
  }

  Code pre_filter(const Ref<const Pod>& pod, bool enabled = true) {
    Cycle cycle(pod, fixture.cluster);
    return NodeDeclaredFeatures(enabled).pre_filter(cycle).outcome.code;
  }
};

TEST_F(NodeDeclaredFeaturesTest, RejectsNodesThatDoNotDeclareWhatThePodNeeds) {
  fixture.add_node(world.node("none"));
  fixture.add_node(world.node("restart").feature("A").feature(kRestart).feature("Z"));
  fixture.add_node(world.node("users").feature(kUsers));
  fixture.add_node(world.node("both").feature(kRestart).feature("Something").feature(kUsers));
  // Parity: names are expected to be sorted; what comes too late is not seen.
  fixture.add_node(world.node("unsorted").feature(kUsers).feature(kRestart));
  const auto plugin = fixture.make<NodeDeclaredFeatures>();
  const Verdicts restart{
      {"none", lacking}, {"restart", {}}, {"users", lacking}, {"both", {}}, {"unsorted", lacking}};
  EXPECT_EQ(fixture.filter(*plugin, restarting()), restart);
  EXPECT_EQ(fixture.filter(*plugin, restarting(true)), restart);
  EXPECT_EQ(fixture.filter_one_by_one(*plugin, restarting()), restart);
  EXPECT_EQ(
      fixture.filter(*plugin, with_users(true, true)),
      (Verdicts{
          {"none", lacking}, {"restart", lacking}, {"users", {}}, {"both", {}}, {"unsorted", {}}}));
}

TEST_F(NodeDeclaredFeaturesTest, MountsWithOptionsNeedANodeThatKnowsThem) {
  fixture.add_node(world.node("none").feature(kUsers));
  fixture.add_node(world.node("able").feature(kUsers).feature("VolumeBindMountOptions"));
  const auto plugin = fixture.make<NodeDeclaredFeatures>();
  const auto judged = [&](void (*mount)(PodSpec&)) {
    testing::PodBuilder pod = world.pod("p");
    mount(pod.spec());
    return fixture.filter(*plugin, pod);
  };
  const Verdicts expected{{"none", lacking}, {"able", {}}};
  EXPECT_EQ(judged([](PodSpec& s) { s.containers.emplace_back().bind_mount_options = true; }),
            expected);
  EXPECT_EQ(judged([](PodSpec& s) { s.init_containers.emplace_back().bind_mount_options = true; }),
            expected);
  EXPECT_EQ(judged([](PodSpec& s) { s.ephemeral_bind_mount_options = true; }), expected);
}

TEST_F(NodeDeclaredFeaturesTest, APodThatNeedsNothingIsNotLookedAt) {
  EXPECT_EQ(pre_filter(world.pod("p")), Code::kSkip);
  EXPECT_EQ(pre_filter(with_users(true, false)), Code::kSkip);
  EXPECT_EQ(pre_filter(with_users(false, true)), Code::kSkip);
  EXPECT_EQ(pre_filter(with_users(true, true)), Code::kSuccess);
  EXPECT_EQ(pre_filter(restarting()), Code::kSuccess);
}

TEST_F(NodeDeclaredFeaturesTest, WithoutTheGateItHasNothingToSay) {
  EXPECT_EQ(pre_filter(restarting(), false), Code::kSkip);
  const NodeDeclaredFeatures off(false);
  EXPECT_TRUE(off.events_to_register()->empty());
  std::vector<SignatureFragment> fragments;
  EXPECT_EQ(off.sign(*restarting(), fragments).message(), "target version cannot be nil");
  EXPECT_FALSE(fixture.make<NodeDeclaredFeatures>()->events_to_register()->empty());
  fixture.gates.emulate({"1.36", 36}, {"1.35", 35});  // today it is locked
  ASSERT_TRUE(fixture.gates.set("NodeDeclaredFeatures=false").has_value());
  EXPECT_TRUE(fixture.make<NodeDeclaredFeatures>()->events_to_register()->empty());
}

TEST_F(NodeDeclaredFeaturesTest, FilteringWithoutPreFilterIsAnError) {
  fixture.add_node(world.node("n"));
  const NodeDeclaredFeatures plugin(true);
  CycleAtFilter at(restarting(), fixture.cluster);
  at.filter(plugin);
  EXPECT_EQ(
      at.verdict(plugin, 0),
      (Verdict{Code::kError,
               {"error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found"}}));
}

TEST_F(NodeDeclaredFeaturesTest, QueuesWhenANodeDeclaresOtherFeatures) {
  const auto plugin = fixture.make<NodeDeclaredFeatures>();
  const Ref<const Object> none = Ref<const Node>(world.node("n"));
  const Ref<const Object> one = Ref<const Node>(world.node("n").feature(kRestart));
  const Ref<const Object> relabelled =
      Ref<const Node>(world.node("n").feature(kRestart).label("a", "b"));
  const Ref<const Pod> pod = restarting();
  using enum QueueingHint;
  EXPECT_EQ(fixture.hint(*plugin, kNodeDeclaredFeaturesNodeEvent, pod, {}, none), kQueue);
  EXPECT_EQ(fixture.hint(*plugin, kNodeDeclaredFeaturesNodeEvent, pod, none, one), kQueue);
  EXPECT_EQ(fixture.hint(*plugin, kNodeDeclaredFeaturesNodeEvent, pod, one, none), kQueue);
  EXPECT_EQ(fixture.hint(*plugin, kNodeDeclaredFeaturesNodeEvent, pod, one, relabelled), kSkip);
  EXPECT_EQ(registered_events(*plugin),
            (RegisteredEvents{{EventResource::kNode, 129}, {EventResource::kTargetPod, 32764}}));
}

TEST_F(NodeDeclaredFeaturesTest, QueuesWhenThePodNeedsOtherFeatures) {
  const auto plugin = fixture.make<NodeDeclaredFeatures>();
  const Ref<const Pod> needing = restarting();
  const Ref<const Pod> plain = world.pod("p");
  const Ref<const Pod> labelled = world.pod("p").label("a", "b");
  using enum QueueingHint;
  EXPECT_EQ(fixture.hint(*plugin, kNodeDeclaredFeaturesPodEvent, needing, needing, plain), kQueue);
  EXPECT_EQ(fixture.hint(*plugin, kNodeDeclaredFeaturesPodEvent, needing, plain, labelled), kSkip);
}

TEST_F(NodeDeclaredFeaturesTest, SignsWhatThePodNeeds) {
  const auto plugin = fixture.make<NodeDeclaredFeatures>();
  const auto signature = [&](const Ref<const Pod>& pod) {
    return berth::testing::signature(*plugin, pod, {"v1.Pod.Spec.RequiredFeatures()"});
  };
  EXPECT_EQ(signature(world.pod("p")), "000000000");
  EXPECT_EQ(signature(restarting()), "000000100");
  EXPECT_EQ(signature(with_users(true, true)), "000000010");
}

TEST_F(NodeDeclaredFeaturesTest, NamesEachFeatureThatTheNodeLacks) {
  fixture.add_node(world.node("none"));
  fixture.add_node(world.node("users").feature(kUsers));
  const auto plugin = fixture.make<NodeDeclaredFeatures>();
  testing::PodBuilder pod = world.pod("p");
  pod.spec().containers.emplace_back().restarts_all = true;
  pod.spec().host_network = pod.spec().own_users = true;
  const auto said = [](const std::string& feature) {
    return "FeatureNotDeclared " + feature + ": the node's kubelet does not declare feature " +
           feature;
  };
  EXPECT_EQ(fixture.obstacle_texts(*plugin, pod),
            (ObstacleTexts{{"none", {said(kRestart), said(kUsers)}}, {"users", {said(kRestart)}}}));
}

}  // namespace
}  // namespace berth::plugins
