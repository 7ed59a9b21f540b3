#include <gmock/gmock.h>

#include <bit>

#include "base/testing/names.h"
#include "plugins/pod_topology_spread/natural_log.h"
#include "plugins/pod_topology_spread/testing/spread_fixture.h"

namespace berth::plugins {
namespace {

const WantedConstraint kByHost{.key = kHost, .action = kSoft};
const WantedConstraint kByZone{.key = kZone, .action = kSoft};

struct SpreadScore : SpreadFixture {
  std::optional<Scores> scored(const Ref<const Pod>& pod, const std::vector<std::string>& names) {
    return scores(*make<PodTopologySpread>(), pod, names);
  }
  std::optional<Scores> raw(const Ref<const Pod>& pod, const std::vector<std::string>& names) {
    return scores(*make<PodTopologySpread>(), pod, names, false);
  }
  static WantedConstraint by_host(std::int32_t max_skew) {
    WantedConstraint wanted = kByHost;
    wanted.max_skew = max_skew;
    return wanted;
  }
  void hosts(const std::vector<int>& pods) {
    for (std::size_t i = 0; i < pods.size(); ++i)
      node(std::string(1, static_cast<char>('a' + i)), "", pods[i]);
  }
};

TEST_F(SpreadScore, NodesWithFewerMatchingPodsArePreferred) {
  hosts({2, 1, 0, 3});
  EXPECT_THAT(scored(web("p", {by_host(1)}), {"a", "b", "c", "d"}),
              Optional(ElementsAre(20, 60, 100, 0)));
  EXPECT_THAT(scored(web("p", {by_host(2)}), {"a", "b", "c", "d"}),
              Optional(ElementsAre(33, 66, 100, 16)));
}

TEST_F(SpreadScore, ALargerSkewFlattensTheDifference) {
  hosts({4, 3, 2, 1});
  EXPECT_THAT(scored(web("p", {by_host(3)}), {"a", "b", "c", "d"}),
              Optional(ElementsAre(44, 66, 77, 100)));
  service("s", "app", "web");
  EXPECT_THAT(scored(web("p"), {"a", "b", "c", "d"}), Optional(ElementsAre(44, 66, 77, 100)));
}

TEST_F(SpreadScore, OnlyCandidatesAreScored) {
  hosts({4, 2, 1, 0});
  EXPECT_THAT(scored(web("p", {kByHost}), {"a", "b", "c"}), Optional(ElementsAre(33, 83, 100)));
}

TEST_F(SpreadScore, ACandidateWithoutTheKeyIsWorthNothing) {
  node("a", "", 4);
  node_without_hostname("b");
  node("c", "", 1);
  node("d", "", 3);
  place("b");
  place("b");
  EXPECT_THAT(scored(web("p", {kByHost}), {"a", "b", "c"}), Optional(ElementsAre(16, 0, 100)));
  EXPECT_THAT(scored(web("p", {kByZone}), {"a"}), Optional(ElementsAre(0)));
}

TEST_F(SpreadScore, WhereNobodyCountsAllAreEqual) {
  hosts({2, 1, 0, 3});
  WantedConstraint none = kByHost;
  none.selects = false;
  EXPECT_THAT(scored(web("p", {none}), {"a", "d"}), Optional(ElementsAre(100, 100)));
  WantedConstraint everything = kByHost;
  everything.labels = {};
  EXPECT_THAT(scored(web("p", {everything}), {"a", "d"}), Optional(ElementsAre(100, 100)));
  EXPECT_THAT(scored(web("p", {kByHost}), {"d"}), Optional(ElementsAre(100)));
  WantedConstraint nobody = kByHost;
  nobody.labels = {{"app", "absent"}};
  EXPECT_THAT(scored(web("p", {nobody}), {"a", "d"}), Optional(ElementsAre(100, 100)));
}

TEST_F(SpreadScore, ZonesAndHostsTogether) {
  node("a", "z1", 0);
  node("b", "z1", 1);
  node("c", "z2", 0);
  node("d", "z2", 0);
  // Zone counts 2/2/1/1, host counts 0/1/0/1.
  add_pod(web("q").on("d"));
  node("x", "z1", 1);
  const auto pod = [&] { return web("p", {kByZone, kByHost}); };
  EXPECT_THAT(scored(pod(), {"a", "b", "c", "d"}), Optional(ElementsAre(60, 20, 100, 60)));
  EXPECT_THAT(scored(pod(), {"a", "b", "c"}), Optional(ElementsAre(50, 25, 100)));
}

TEST_F(SpreadScore, ConstraintsWithDifferentSelectorsCountDifferentPods) {
  node("a", "z1");
  node("b", "z1");
  node("c", "z2");
  node("d", "z2");
  for (const char* name : {"b", "d"}) place(name, "web");
  for (const char* name : {"c", "d"}) place(name, "db");
  WantedConstraint zone = kByZone;
  zone.labels = {{"app", "db"}};
  // Zone counts 0/0/2/2, host counts 0/1/0/1.
  EXPECT_THAT(scored(web("p", {zone, kByHost}), {"a", "b", "c", "d"}),
              Optional(ElementsAre(100, 60, 40, 0)));
  // One key, two selectors: web is even, db is not.
  EXPECT_THAT(raw(web("p", {kByZone, zone}), {"a", "c"}), Optional(ElementsAre(1, 4)));
}

TEST_F(SpreadScore, PodsOfZonesCountWhereverTheyAreInTheZone) {
  node("a", "z1", 4);
  node("b", "z1", 2);
  node("c", "z2", 1);
  node("d", "z2", 3);
  EXPECT_THAT(raw(web("p", {kByZone}), {"a", "b", "c"}), Optional(ElementsAre(8, 8, 6)));
  EXPECT_THAT(scored(web("p", {kByZone}), {"a", "b", "c"}), Optional(ElementsAre(75, 75, 100)));
}

TEST_F(SpreadScore, HostsCountTheirOwnPodsAndZonesEverybodys) {
  node("a", "z1", 2);
  node("b", "z1", 1);
  node("c", "z2", 2);
  node("d", "z2", 4);
  EXPECT_THAT(raw(web("p", {kByZone, kByHost}), {"a", "c"}), Optional(ElementsAre(7, 11)));
  EXPECT_THAT(scored(web("p", {kByZone, kByHost}), {"a", "c"}), Optional(ElementsAre(100, 63)));
}

TEST_F(SpreadScore, NodesThatPolicyExcludesDoNotCountForZonesButDoForHosts) {
  node("a", "z1", 0);
  node("b", "z2", 0);
  add_node(world.node("t").zone("z2").taint("gpu", "NoSchedule"));
  place("t");
  place("t");
  WantedConstraint honoring = kByZone;
  honoring.taints = NodeInclusionPolicy::kHonor;
  EXPECT_THAT(scored(web("p", {honoring}), {"a", "b"}), Optional(ElementsAre(100, 100)));
  EXPECT_THAT(scored(web("p", {kByZone}), {"a", "b"}), Optional(ElementsAre(100, 0)));
  honoring.key = kHost;
  EXPECT_THAT(scored(web("p", {honoring}), {"a", "t"}), Optional(ElementsAre(100, 0)));
}

TEST_F(SpreadScore, SystemDefaultsTakeNodesWithoutAZoneAsADomainOfTheirOwn) {
  add_node(world.node("a").zone("z1"));
  add_node(world.node("b"));
  node_without_hostname("c");
  place("a");
  service("s", "app", "web");
  EXPECT_THAT(raw(web("p"), {"a", "b", "c"}), Optional(ElementsAre(9, 2, 0)));
}

TEST_F(SpreadScore, UnderSystemDefaultsAnEmptyZoneAndNoneAreOneDomain) {
  service("s", "app", "web");
  add_node(world.node("a").zone("z1"));
  add_node(world.node("b").zone(""));
  add_node(world.node("c"));
  place("c");
  // Host: ln 5 with offset 2. Zone: domains {"", z1}, ln 4 with offset 4; c's pod is in "".
  EXPECT_THAT(raw(web("p"), {"a", "b", "c"}), Optional(ElementsAre(6, 7, 4)));
}

TEST_F(SpreadScore, DefaultsNeedAnOwnerAndNoConstraintsOfThePodsOwn) {
  hosts({1, 0});
  EXPECT_EQ(scored(web("p"), {"a", "b"}), std::nullopt);
  service("elsewhere", "app", "web", "other");
  service("another", "app", "db");
  EXPECT_EQ(scored(web("p"), {"a", "b"}), std::nullopt);
  service("s", "app", "web");
  EXPECT_NE(scored(web("p"), {"a", "b"}), std::nullopt);
  EXPECT_EQ(scored(web("p", {{}}), {"a", "b"}), std::nullopt);  // only a hard one
}

TEST_F(SpreadScore, AListOfDefaultsIsTakenInsteadOfTheSystems) {
  config::PodTopologySpreadArgs args;
  args.system_defaults = false;
  EXPECT_EQ(scores(*make<PodTopologySpread>(args), web("p"), {}), std::nullopt);
  args.symbols = world.interner.hold();
  TopologySpreadConstraint soft, hard;
  soft.topology_key = args.symbols.intern("rack");
  soft.when_unsatisfiable = kSoft;
  // A default's own keys do not count: its selector is the owner's.
  soft.match_label_keys.push_back(args.symbols.intern("version"));
  hard.topology_key = args.symbols.intern(kHost);
  args.default_constraints = {soft, hard};
  service("s", "app", "web");
  add_node(world.node("a").label("rack", "r1"));
  add_node(world.node("b").label("rack", "r2"));
  node("c");
  place("a");
  const auto plugin = make<PodTopologySpread>(args);
  auto pod = web("p");
  pod.label("version", "1");
  // c lacks the key, which only the system's own defaults put up with.
  EXPECT_THAT(scores(*plugin, pod, {"a", "b", "c"}), Optional(ElementsAre(0, 100, 0)));
  const auto verdicts = filter(*plugin, pod);
  EXPECT_EQ(verdicts.at("a").code, Code::kUnschedulable);
  EXPECT_EQ(verdicts.at("b").code, Code::kSuccess);
}

TEST_F(SpreadScore, AClusterWithoutNodesIsSkipped) {
  EXPECT_EQ(scored(web("p", {kByHost}), {}), std::nullopt);
}

TEST_F(SpreadScore, AScoreOfMinusOneIsTakenForIgnored) {
  hosts({0, 2});
  EXPECT_THAT(raw(web("p", {by_host(0)}), {"a", "b"}), Optional(ElementsAre(-1, 2)));
  EXPECT_THAT(scored(web("p", {by_host(0)}), {"a", "b"}), Optional(ElementsAre(0, -50)));
}

TEST_F(SpreadScore, AnErrorInTheSelectorIsTold) {
  node("a");
  auto pod = web("p", {kByHost});
  LabelSelector& selector = *pod.spec().topology_spread_constraints[0].label_selector;
  selector.match_expressions.push_back(
      {pod.symbol("app"), SelectorOperator::kUnknown, pod.symbol("Near"), {}});
  Cycle cycle(pod, cluster);
  const auto plugin = make<PodTopologySpread>();
  EXPECT_EQ(plugin->pre_score(cycle, cluster.nodes().nodes()).message(),
            "calculating preScoreState: obtaining pod's soft topology spread constraints: \"Near\" "
            "is not a valid label selector operator");
  std::vector<Score> by_row(cluster.nodes().rows());
  EXPECT_EQ(plugin->score(cycle, cluster.nodes().nodes(), by_row).message(),
            "error reading \"PreScorePodTopologySpread\" from cycleState: not found");
}

TEST(NaturalLog, IsUpstreamsToTheLastBit) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(natural_log(x)); };
  EXPECT_EQ(bits(1), 0U);
  EXPECT_EQ(bits(2), 0x3fe62e42fefa39efU);
  EXPECT_EQ(bits(3), 0x3ff193ea7aad030aU);  // the C library's ends in b
  EXPECT_EQ(bits(5002), 0x40210901f6dc84b9U);
  EXPECT_NEAR(natural_log(5002), 8.517593, 1e-6);
}

}  // namespace
}  // namespace berth::plugins
