#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/pod_topology_spread/testing/spread_fixture.h"

namespace berth::plugins {
namespace {

struct SpreadObstacles : SpreadFixture {
  ObstacleTexts said(const Ref<const Pod>& pod) {
    return obstacle_texts(*make<PodTopologySpread>(), pod);
  }
};

TEST_F(SpreadObstacles, SaysHowManyPodsTheDomainHasAndHowManyTheEmptiest) {
  node("a1", "a", 2);
  node("a2", "a", 1);
  node("b", "b", 1);
  const std::string text =
      "SpreadSkewExceeded topology.kubernetes.io/zone: constraint 0 (topology.kubernetes.io/zone, "
      "maxSkew 1): topology.kubernetes.io/zone=a has 3 matching pods, the fewest is 1: skew 3 with "
      "this pod";
  const auto pod = web("p", {{.key = kZone}});
  EXPECT_EQ(said(pod), (ObstacleTexts{{"a1", {text}}, {"a2", {text}}}));
  const Obstacle one = obstacles(*make<PodTopologySpread>(), pod)["a1"].front();
  EXPECT_EQ(one.facts, (Facts{{"constraint", "0"},
                              {"topologyKey", kZone},
                              {"maxSkew", "1"},
                              {"selector", "app=web"},
                              {"value", "a"},
                              {"matchingPods", "3"},
                              {"fewest", "1"},
                              {"skew", "3"}}));
  EXPECT_NEAR(one.distance, 2.0 / 3, 1e-9);  // two of the three pods are too many
}

TEST_F(SpreadObstacles, CountsConstraintsAsTheyAreWritten) {
  node("a", "a", 1);
  node("b", "b", 0);
  const auto pod = web("p", {{.key = kHost, .action = kSoft}, {.key = kZone, .max_skew = 1}});
  const Texts texts = said(pod)["a"];
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_TRUE(texts.front().contains("constraint 1 (topology.kubernetes.io/zone, maxSkew 1)"))
      << texts.front();
}

TEST_F(SpreadObstacles, TooFewDomainsMakeTheFewestZero) {
  node("a", "a", 1);
  node("b", "b", 1);
  const auto pod = web("p", {{.key = kZone, .min_domains = 3}});
  EXPECT_EQ(
      said(pod)["b"].front(),
      "SpreadSkewExceeded topology.kubernetes.io/zone: constraint 0 "
      "(topology.kubernetes.io/zone, maxSkew 1): topology.kubernetes.io/zone=b has 1 matching "
      "pod, there are 2 of at least 3 domains, so that the fewest counts as 0: skew 2 with "
      "this pod");
}

TEST_F(SpreadObstacles, ANodeWithoutTheKeyIsInNoDomain) {
  node("a", "a", 0);
  node("nowhere");
  EXPECT_EQ(said(web("p", {{.key = kZone}})),
            (ObstacleTexts{{"nowhere",
                            {"TopologyKeyMissing topology.kubernetes.io/zone: constraint 0 "
                             "(topology.kubernetes.io/zone, maxSkew 1): the node has no label "
                             "topology.kubernetes.io/zone"}}}));
}

TEST_F(SpreadObstacles, ConstraintsThatAreViolatedAlikeAreAllNamed) {
  node("a", "a", 2);
  node("b", "b", 0);
  EXPECT_EQ(said(web("p", {{.key = kHost}, {.key = kZone}}))["a"].size(), 2U);
  // The first one decides what the verdict is about.
  node("nowhere", "", 0);
  EXPECT_EQ(said(web("p", {{.key = kHost}, {.key = kZone}}))["nowhere"].size(), 1U);
}

TEST_F(SpreadObstacles, DefaultConstraintsAreCalledSo) {
  node("a", "a", 2);
  node("b", "b", 0);
  service("s", "app", "web");
  config::PodTopologySpreadArgs args;
  args.system_defaults = false;
  args.symbols = world.interner.hold();
  args.default_constraints.emplace_back();
  args.default_constraints.back().topology_key = args.symbols.intern(kZone);
  const auto all = obstacles(*make<PodTopologySpread>(args), web("p"));
  ASSERT_TRUE(all.contains("a"));
  EXPECT_TRUE(all.at("a").front().text.starts_with("default constraint 0 ("));
  EXPECT_EQ(all.at("a").front().facts.at("default"), "true");
}

}  // namespace
}  // namespace berth::plugins
