#include "plugins/taint_toleration/taint_toleration.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr ClusterEvent kTaintTolerationNodeEvent{
    EventResource::kNode, action::kAdd | action::kUpdateNodeTaint, {}};
constexpr ClusterEvent kTaintTolerationPodEvent{
    EventResource::kTargetPod, action::kUpdatePodToleration, {}};

class TaintTolerationTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const Verdict repelled = unresolvable({"node(s) had untolerated taint(s)"});

  Ref<const Pod> pod_with(TolerationOperator op, std::string_view key, std::string_view value,
                          TaintEffect effect = TaintEffect::kAny) {
    testing::PodBuilder pod = world.pod("p");
    Toleration toleration;
    toleration.key = pod.symbol(key);
    toleration.value = pod.symbol(value);
    toleration.op = op;
    toleration.effect = effect;
    return pod.toleration(toleration);
  }
};

TEST_F(TaintTolerationTest, RejectsNodesWithATaintThatRepelsAndIsNotTolerated) {
  fixture.add_node(world.node("clean"));
  fixture.add_node(world.node("hard").taint("a", "NoSchedule", "x"));
  fixture.add_node(world.node("evicting").taint("a", "NoExecute", "x"));
  fixture.add_node(world.node("soft").taint("a", "PreferNoSchedule", "x"));
  fixture.add_node(world.node("two").taint("a", "NoSchedule").taint("b", "NoSchedule"));
  fixture.add_node(world.node("mixed").taint("a", "PreferNoSchedule").taint("b", "NoSchedule"));
  struct Row {
    const char* why;
    const char* node;
    Ref<const Pod> pod;
    bool fits;
  };
  const Row table[] = {
      {"no taints", "clean", world.pod("p"), true},
      {"no tolerations", "hard", world.pod("p"), false},
      {"NoExecute repels too", "evicting", world.pod("p"), false},
      {"PreferNoSchedule never filters", "soft", world.pod("p"), true},
      {"key, value, effect", "hard", world.pod("p").tolerates("a", "NoSchedule", "x"), true},
      {"another value", "hard", world.pod("p").tolerates("a", "NoSchedule", "y"), false},
      {"another effect", "hard", world.pod("p").tolerates("a", "PreferNoSchedule", "x"), false},
      {"Exists, any value", "hard", world.pod("p").tolerates("a", "NoSchedule"), true},
      {"empty effect is any effect", "evicting", world.pod("p").tolerates("a", "", "x"), true},
      {"one of two", "two", world.pod("p").tolerates("a"), false},
      {"both of two", "two", world.pod("p").tolerates("a").tolerates("b"), true},
      {"the soft one does not count", "mixed", world.pod("p").tolerates("b"), true},
      {"the hard one does", "mixed", world.pod("p").tolerates("a"), false},
  };
  const auto plugin = fixture.make<TaintToleration>();
  for (const Row& row : table) {
    const Verdict expected = row.fits ? Verdict{} : repelled;
    EXPECT_EQ(fixture.filter(*plugin, row.pod)[row.node], expected) << row.why;
    EXPECT_EQ(fixture.filter_one_by_one(*plugin, row.pod)[row.node], expected) << row.why;
  }
}

TEST_F(TaintTolerationTest, TolerationsMatchAsTheOperatorSays) {
  using enum TolerationOperator;
  struct Row {
    Ref<const Pod> pod;
    const char* value;  // of the taint a=<value>:NoSchedule
    bool tolerated, with_gate;
  };
  const Row table[] = {
      {pod_with(kEqual, "a", "x"), "x", true, true},
      {pod_with(kEqual, "a", "x", TaintEffect::kNoExecute), "x", false, false},
      {pod_with(kExists, "", ""), "anything", true, true},
      {pod_with(kExists, "a", "ignored"), "anything", true, true},
      {pod_with(kGreaterThan, "a", "900"), "950", false, true},
      {pod_with(kGreaterThan, "a", "900"), "900", false, false},
      {pod_with(kGreaterThan, "a", "900"), "abc", false, false},
      {pod_with(kGreaterThan, "a", "900"), "0950", false, false},
      {pod_with(kLessThan, "a", "100"), "99", false, true},
      {pod_with(kLessThan, "a", "100"), "-5", false, true},
      {pod_with(kLessThan, "a", "100"), "100", false, false},
      {pod_with(kUnknown, "a", "x"), "x", false, false},
  };
  for (const Row& row : table) {
    fixture.add_node(world.node(row.value).taint("a", "NoSchedule", row.value));
    EXPECT_EQ(fixture.filter(TaintToleration(false), row.pod)[row.value],
              row.tolerated ? Verdict{} : repelled)
        << row.value;
    EXPECT_EQ(fixture.filter(TaintToleration(true), row.pod)[row.value],
              row.with_gate ? Verdict{} : repelled)
        << row.value << " with the gate";
  }
}

TEST_F(TaintTolerationTest, TheGateSwitchesComparisonsOn) {
  const Ref<const Pod> pod = pod_with(TolerationOperator::kGreaterThan, "a", "1");
  fixture.add_node(world.node("n").taint("a", "NoSchedule", "2"));
  EXPECT_EQ(fixture.filter(*fixture.make<TaintToleration>(), pod)["n"], repelled);
  ASSERT_TRUE(fixture.gates.set("TaintTolerationComparisonOperators=true").has_value());
  EXPECT_EQ(fixture.filter(*fixture.make<TaintToleration>(), pod)["n"], Verdict{});
}

TEST_F(TaintTolerationTest, PrefersNodesWithFewerUntoleratedSoftTaints) {
  fixture.add_node(world.node("clean"));
  fixture.add_node(world.node("hard").taint("a", "NoSchedule").taint("b", "NoExecute"));
  fixture.add_node(world.node("one").taint("a", "PreferNoSchedule"));
  fixture.add_node(world.node("two").taint("a", "PreferNoSchedule").taint("b", "PreferNoSchedule"));
  const auto plugin = fixture.make<TaintToleration>();
  EXPECT_EQ(fixture.score(*plugin, world.pod("p")),
            (Scores{{"clean", 100}, {"hard", 100}, {"one", 50}, {"two", 0}}));
  EXPECT_EQ(fixture.score(*plugin, world.pod("p").tolerates("a", "PreferNoSchedule")),
            (Scores{{"clean", 100}, {"hard", 100}, {"one", 100}, {"two", 0}}));
  // A toleration of another effect does not soften them; one without effect does.
  EXPECT_EQ(fixture.score(*plugin, world.pod("p").tolerates("a", "NoSchedule")),
            (Scores{{"clean", 100}, {"hard", 100}, {"one", 50}, {"two", 0}}));
  EXPECT_EQ(fixture.score(*plugin, world.pod("p").tolerates("a").tolerates("b")),
            (Scores{{"clean", 100}, {"hard", 100}, {"one", 100}, {"two", 100}}));
}

TEST_F(TaintTolerationTest, ScoringWithoutPreScoreIsAnError) {
  fixture.add_node(world.node("n"));
  const auto plugin = fixture.make<TaintToleration>();
  const Cycle cycle(world.pod("p"), fixture.cluster);
  std::vector<Score> scores(fixture.cluster.nodes().rows());
  const Outcome outcome = plugin->score(cycle, fixture.cluster.nodes().nodes(), scores);
  EXPECT_EQ(outcome.code, Code::kError);
  EXPECT_EQ(outcome.message(),
            "failed to read \"PreScoreTaintToleration\" from cycleState: not found");
}

TEST_F(TaintTolerationTest, QueuesWhenANodeBecomesTolerable) {
  const Ref<const Pod> pod = world.pod("p").tolerates("ok");
  const Ref<const Object> clean = Ref<const Node>(world.node("n"));
  const Ref<const Object> tolerated = Ref<const Node>(world.node("n").taint("ok", "NoSchedule"));
  const Ref<const Object> soft = Ref<const Node>(world.node("n").taint("a", "PreferNoSchedule"));
  const Ref<const Object> repelling = Ref<const Node>(world.node("n").taint("a", "NoExecute"));
  const AnyObject nothing;
  const auto plugin = fixture.make<TaintToleration>();
  using enum QueueingHint;
  fixture.expect_hints(*plugin, kTaintTolerationNodeEvent, pod,
                       {
                           {"added clean", nothing, clean, kQueue},
                           {"added with a tolerated taint", nothing, tolerated, kQueue},
                           {"added with a soft taint", nothing, soft, kQueue},
                           {"added repelling", nothing, repelling, kSkip},
                           {"became tolerable", repelling, tolerated, kQueue},
                           {"became repelling", clean, repelling, kSkip},
                           {"was fine before", clean, tolerated, kSkip},
                           {"still repelling", repelling, repelling, kSkip},
                       });
}

TEST_F(TaintTolerationTest, QueuesWhenThePodsOwnTolerationsChange) {
  const auto plugin = fixture.make<TaintToleration>();
  const Ref<const Pod> pod = world.pod("p");
  const Ref<const Pod> updated = world.pod("p").tolerates("a");
  EXPECT_EQ(fixture.hint(*plugin, kTaintTolerationPodEvent, pod, pod, updated),
            QueueingHint::kQueue);
  EXPECT_EQ(registered_events(*plugin),
            (RegisteredEvents{{EventResource::kNode, 17}, {EventResource::kTargetPod, 4096}}));
}

TEST_F(TaintTolerationTest, SignsTolerationsInWhateverOrder) {
  const auto plugin = fixture.make<TaintToleration>();
  const auto signature = [&](const Ref<const Pod>& pod) {
    return berth::testing::signature(*plugin, pod, {"v1.Pod.Spec.Tolerations"});
  };
  EXPECT_EQ(signature(world.pod("p").tolerates("a").tolerates("b")),
            signature(world.pod("q").tolerates("b").tolerates("a")));
  EXPECT_NE(signature(world.pod("p").tolerates("a")), signature(world.pod("p")));
  EXPECT_NE(signature(world.pod("p").tolerates("a")),
            signature(world.pod("p").tolerates("a", "NoSchedule")));
  EXPECT_NE(signature(world.pod("p").tolerates("ab", "", "c")),
            signature(world.pod("p").tolerates("a", "", "bc")));
}

TEST_F(TaintTolerationTest, AmongManyTolerationsTheOneThatCountsIsFound) {
  testing::PodBuilder builder = world.pod("p");
  for (int i = 0; i < 200; ++i) {
    Toleration toleration;
    toleration.key = builder.symbol("invented-" + std::to_string(i));
    toleration.op = TolerationOperator::kExists;
    builder.toleration(toleration);
  }
  Toleration gpu;
  gpu.key = builder.symbol("gpu");
  gpu.op = TolerationOperator::kExists;
  gpu.effect = TaintEffect::kNoSchedule;
  builder.toleration(gpu);
  for (const char* name : {"a", "b"}) fixture.add_node(world.node(name).taint("gpu", "NoSchedule"));
  fixture.add_node(world.node("c").taint("gpu", "NoExecute"));
  fixture.add_node(world.node("d").taint("gpu", "PreferNoSchedule"));
  const auto plugin = fixture.make<TaintToleration>();
  const Ref<const Pod> asked = builder;
  EXPECT_EQ(fixture.filter(*plugin, asked),
            (Verdicts{{"a", {}}, {"b", {}}, {"c", repelled}, {"d", {}}}));
  EXPECT_EQ(fixture.score(*plugin, asked), (Scores{{"a", 100}, {"b", 100}, {"c", 100}, {"d", 0}}));
}

TEST_F(TaintTolerationTest, NamesEachTaintThatIsNotTolerated) {
  TaintToleration plugin(false);
  fixture.add_node(world.node("n")
                       .taint("team", "NoSchedule", "red")
                       .taint("gpu", "NoExecute")
                       .taint("soft", "PreferNoSchedule")
                       .taint("fine", "NoSchedule"));
  fixture.add_node(world.node("plain"));
  const Ref<const Pod> pod = world.pod("p").tolerates("fine");
  EXPECT_EQ(
      fixture.obstacle_texts(plugin, pod),
      (ObstacleTexts{
          {"n",
           {"UntoleratedTaint team=red:NoSchedule: taint team=red:NoSchedule is not tolerated",
            "UntoleratedTaint gpu:NoExecute: taint gpu:NoExecute is not tolerated"}}}));
  EXPECT_EQ(fixture.obstacles(plugin, pod)["n"].front().facts,
            (Facts{{"key", "team"}, {"value", "red"}, {"effect", "NoSchedule"}}));
}

}  // namespace
}  // namespace berth::plugins
