#include <gmock/gmock.h>

#include <memory>

#include "base/testing/names.h"
#include "berth/random.h"
#include "berth/topology.h"
#include "cluster/pod_counts.h"
#include "plugins/pod_topology_spread/domain_counts.h"
#include "plugins/pod_topology_spread/testing/spread_fixture.h"

namespace berth::plugins {
namespace {

const Verdict kFits;
const Verdict kSkewed = unschedulable({"node(s) didn't match pod topology spread constraints"});
const Verdict kNoKey =
    unresolvable({"node(s) didn't match pod topology spread constraints (missing required label)"});

struct SpreadFilter : SpreadFixture {
  // The nodes that fit, in the order of their names; batch and one by one must agree.
  std::vector<std::string> fitting(const Plugin& plugin, const Ref<const Pod>& pod) {
    const Verdicts verdicts = filter(plugin, pod);
    EXPECT_EQ(verdicts, filter_one_by_one(plugin, pod));
    std::vector<std::string> fits;
    for (const auto& [name, verdict] : verdicts)
      if (verdict == kFits) fits.push_back(name);
    return fits;
  }
  std::vector<std::string> fitting(const Ref<const Pod>& pod) {
    return fitting(*make<PodTopologySpread>(), pod);
  }
  Verdicts verdicts(const Ref<const Pod>& pod) { return filter(*make<PodTopologySpread>(), pod); }
  void nodes_2_1_0_3() {
    node("a", "", 2);
    node("b", "", 1);
    node("c", "", 0);
    node("d", "", 3);
  }
};

TEST_F(SpreadFilter, SkewIsMeasuredFromTheEmptiestDomain) {
  nodes_2_1_0_3();
  EXPECT_THAT(fitting(web("p", {{}})), ElementsAre("c"));
  EXPECT_THAT(fitting(web("p", {{.max_skew = 2}})), ElementsAre("b", "c"));
  EXPECT_EQ(verdicts(web("p", {{}}))["d"], kSkewed);
}

TEST_F(SpreadFilter, APodThatDoesNotMatchItselfLeavesRoomForOneMore) {
  nodes_2_1_0_3();
  auto pod = world.pod("p");
  constrain(pod, {});
  EXPECT_THAT(fitting(pod), ElementsAre("b", "c"));
}

TEST_F(SpreadFilter, EqualDomainsAllFit) {
  node("a", "z1", 2);
  node("b", "z1", 1);
  node("c", "z2", 0);
  node("d", "z2", 3);
  EXPECT_THAT(fitting(web("p", {{.key = kZone}})), ElementsAre("a", "b", "c", "d"));
}

TEST_F(SpreadFilter, ANodeWithoutTheKeyIsNeitherCountedNorPossible) {
  node("a", "z1", 1);
  node("b", "", 1);
  node("c", "z2", 1);
  node("d", "z2", 1);
  const auto found = verdicts(web("p", {{.key = kZone}}));
  EXPECT_EQ(found.at("a"), kFits);
  EXPECT_EQ(found.at("b"), kNoKey);
  EXPECT_EQ(found.at("c"), kSkewed);
  EXPECT_EQ(found.at("d"), kSkewed);
}

TEST_F(SpreadFilter, WhereNoNodeHasTheKeyNoneFits) {
  node("a");
  node("b");
  const auto found = verdicts(web("p", {{.key = kZone}}));
  EXPECT_EQ(found.at("a"), kNoKey);
  EXPECT_EQ(found.at("b"), kNoKey);
}

TEST_F(SpreadFilter, AnEmptyValueIsADomainToo) {
  add_node(world.node("a").label("rack", ""));
  add_node(world.node("b").label("rack", "r1"));
  place("a");
  EXPECT_THAT(fitting(web("p", {{.key = "rack"}})), ElementsAre("b"));
}

TEST_F(SpreadFilter, FewerDomainsThanMinDomainsMakeTheMinimumZero) {
  node("a", "", 2);
  node("b", "", 2);
  node("c", "", 1);
  EXPECT_THAT(fitting(web("p", {{.max_skew = 2, .min_domains = 4}})), ElementsAre("c"));
  EXPECT_THAT(fitting(web("p", {{.max_skew = 2, .min_domains = 2}})), ElementsAre("a", "b", "c"));
}

TEST_F(SpreadFilter, MinDomainsCountsZones) {
  node("a", "z1", 2);
  node("b", "z2", 1);
  EXPECT_THAT(fitting(web("p", {{.key = kZone, .max_skew = 2, .min_domains = 3}})),
              ElementsAre("b"));
  EXPECT_THAT(fitting(web("p", {{.key = kZone, .max_skew = 2, .min_domains = 1}})),
              ElementsAre("a", "b"));
}

TEST_F(SpreadFilter, NodesThatThePodsAffinityExcludesDoNotCountButAreStillJudged) {
  for (const auto& [name, pods] :
       std::map<std::string, int>{{"a", 2}, {"b", 1}, {"c", 0}, {"d", 3}}) {
    auto made = world.node(name);
    if (name == "a" || name == "d") made.label("pool", "x");
    add_node(made);
    for (int i = 0; i < pods; ++i) place(name);
  }
  auto pod = web("p", {{}});
  pod.node_selector("pool", "x");
  const auto found = verdicts(pod);
  EXPECT_EQ(found.at("a"), kFits);
  EXPECT_EQ(found.at("b"), kFits);  // its domain does not exist, so it has no pods
  EXPECT_EQ(found.at("c"), kFits);
  EXPECT_EQ(found.at("d"), kSkewed);

  auto ignoring = web("p", {{.affinity = NodeInclusionPolicy::kIgnore}});
  ignoring.node_selector("pool", "x");
  EXPECT_THAT(fitting(ignoring), ElementsAre("c"));
}

TEST_F(SpreadFilter, TaintedNodesCountUnlessThePolicyHonoursTaints) {
  node("a", "z1", 1);
  add_node(world.node("b").zone("z2").taint("gpu", "NoSchedule"));
  EXPECT_THAT(fitting(web("p", {{.key = kZone}})), ElementsAre("b"));
  const WantedConstraint honoring{.key = kZone, .taints = NodeInclusionPolicy::kHonor};
  EXPECT_THAT(fitting(web("p", {honoring})), ElementsAre("a", "b"));
  auto tolerant = web("p", {honoring});
  tolerant.tolerates("gpu");
  EXPECT_THAT(fitting(tolerant), ElementsAre("b"));
}

TEST_F(SpreadFilter, CordonedNodesAndPreferNoScheduleAlwaysCount) {
  node("a", "z1", 1);
  add_node(world.node("b").zone("z2").cordoned());
  add_node(world.node("c").zone("z3").taint("slow", "PreferNoSchedule"));
  EXPECT_THAT(fitting(web("p", {{.key = kZone, .taints = NodeInclusionPolicy::kHonor}})),
              ElementsAre("b", "c"));
}

TEST_F(SpreadFilter, PodsThatAreBeingDeletedAndOtherNamespacesDoNotCount) {
  node("a");
  node("b", "", 1);
  add_pod(web("going").on("a").deleted(WallTime{std::chrono::seconds(5)}));
  add_pod(web("elsewhere").in("other").on("a"));
  EXPECT_THAT(fitting(web("p", {{}})), ElementsAre("a"));
}

TEST_F(SpreadFilter, NoSelectorMatchesNobodyNotEvenThePodItself) {
  nodes_2_1_0_3();
  EXPECT_THAT(fitting(web("p", {{.selects = false}})), ElementsAre("a", "b", "c", "d"));
}

TEST_F(SpreadFilter, ASelectorForEverythingCountsNobodyButThePodItself) {
  nodes_2_1_0_3();
  EXPECT_THAT(fitting(web("p", {{.labels = {}}})), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(fitting(web("p", {{.max_skew = 0, .labels = {}}})), IsEmpty());
}

TEST_F(SpreadFilter, ConstraintsAreJudgedInOrderAndTheFirstFailureIsTold) {
  node("a", "z1", 1);
  node("b", "", 0);
  node("c", "z2", 0);
  node_without_hostname("d", "z2");
  // b lacks the zone, d the hostname: neither counts for anything.
  const auto found = verdicts(web("p", {{.key = kZone}, {.key = kHost}}));
  EXPECT_EQ(found.at("a"), kSkewed);
  EXPECT_EQ(found.at("b"), kNoKey);
  EXPECT_EQ(found.at("c"), kFits);
  EXPECT_EQ(found.at("d"), kNoKey);
  // Skewed by the first wins over a key that the second misses.
  node_without_hostname("e", "z1");
  EXPECT_EQ(verdicts(web("p", {{.key = kZone}, {.key = kHost}})).at("e"), kSkewed);
}

TEST_F(SpreadFilter, TwoConstraintsOfOneKeyKeepSeparateCounts) {
  node("a", "z1", 1);
  node("b", "z2", 0);
  place("b", "db");
  auto pod = web("p", {{.key = kZone}, {.key = kZone, .labels = {{"app", "db"}}}});
  EXPECT_THAT(fitting(pod), ElementsAre("b"));
  pod.label("app", "db");  // now it counts for the other one
  EXPECT_THAT(fitting(pod), ElementsAre("a"));
}

TEST_F(SpreadFilter, MatchLabelKeysAddThePodsOwnValues) {
  node("a");
  node("b");
  add_pod(web("old").label("version", "1").on("a"));
  const WantedConstraint wanted{.match_label_keys = {"version", "absent"}};
  auto second = web("p", {wanted});
  second.label("version", "2");
  EXPECT_THAT(fitting(second), ElementsAre("a", "b"));
  auto first = web("p", {wanted});
  first.label("version", "1");
  EXPECT_THAT(fitting(first), ElementsAre("b"));

  ASSERT_TRUE(gates
                  .set("MatchLabelKeysInPodTopologySpread=false,"
                       "MatchLabelKeysInPodTopologySpreadSelectorMerge=false")
                  .has_value());
  EXPECT_THAT(fitting(second), ElementsAre("b"));
}

TEST_F(SpreadFilter, MatchLabelKeysMakeASelectorForEverythingCountAndLeaveNoSelectorAlone) {
  node("a", "", 1);
  node("b");
  EXPECT_THAT(fitting(web("p", {{.labels = {}, .match_label_keys = {"app"}}})), ElementsAre("b"));
  EXPECT_THAT(fitting(web("p", {{.selects = false, .match_label_keys = {"app"}}})),
              ElementsAre("a", "b"));
}

TEST_F(SpreadFilter, WithoutHardConstraintsItSkips) {
  node("a");
  const auto plugin = make<PodTopologySpread>();
  Cycle soft(web("p", {{.action = kSoft}}), cluster);
  EXPECT_EQ(plugin->pre_filter(soft).outcome.code, Code::kSkip);
  Cycle none(web("p"), cluster);
  EXPECT_EQ(plugin->pre_filter(none).outcome.code, Code::kSkip);
}

TEST_F(SpreadFilter, ASelectorThatMakesNoSenseIsAnError) {
  node("a");
  auto pod = web("p", {{}});
  LabelSelector& selector = *pod.spec().topology_spread_constraints[0].label_selector;
  selector.match_expressions.push_back(
      {pod.symbol("app"), SelectorOperator::kUnknown, pod.symbol("Near"), {}});
  Cycle cycle(pod, cluster);
  const Outcome outcome = make<PodTopologySpread>()->pre_filter(cycle).outcome;
  EXPECT_EQ(outcome.code, Code::kError);
  EXPECT_EQ(outcome.message(),
            "get constraints from pod: obtaining pod's hard topology spread constraints: \"Near\" "
            "is not a valid label selector operator");
}

TEST_F(SpreadFilter, WithoutWhatPreFilterLeavesItIsAnError) {
  node("a");
  const auto plugin = make<PodTopologySpread>();
  CycleAtFilter at(web("p", {{}}), cluster);
  at.filter(*plugin);
  const std::string expected = "reading \"PreFilterPodTopologySpread\" from cycleState: not found";
  EXPECT_EQ(at.verdict(*plugin, row("a")), (Verdict{Code::kError, {expected}}));
  const Ref<const Pod> other = web("q");
  EXPECT_EQ(plugin->add_pod(at.cycle, *other, row("a")).message(), expected);
}

// ---- trials -------------------------------------------------------------------------------------

// One attempt, with pods put on and taken off nodes.
struct SpreadTrial : SpreadFilter {
  std::unique_ptr<PodTopologySpread> plugin = make<PodTopologySpread>();
  std::unique_ptr<Cycle> cycle;
  internal::CycleScratch scratch;

  void begin(const Ref<const Pod>& pod) {
    cycle = std::make_unique<Cycle>(pod, cluster);
    ASSERT_TRUE(plugin->pre_filter(*cycle).outcome.ok());
  }
  Code judged(const std::string& name) {
    scratch.reset(cluster.nodes().rows());
    cycle->lend(&scratch);
    NodeSet feasible(cluster.nodes().rows());
    feasible.insert(row(name));
    FilterPass pass(0, *cycle, feasible, scratch.verdicts);
    plugin->filter(*cycle, pass);
    return scratch.verdicts[row(name)].code;
  }
  void add(const Ref<const Pod>& pod, const std::string& name) {
    ASSERT_TRUE(plugin->add_pod(*cycle, *pod, row(name)).ok());
  }
  void remove(const Ref<const Pod>& pod, const std::string& name) {
    ASSERT_TRUE(plugin->remove_pod(*cycle, *pod, row(name)).ok());
  }
};

TEST_F(SpreadTrial, PodsThatComeAndGoCount) {
  node("a", "", 0);
  node("b", "", 0);
  const Ref<const Pod> there = place("a");
  begin(web("p", {{}}));
  EXPECT_EQ(judged("a"), Code::kUnschedulable);
  remove(there, "a");
  EXPECT_EQ(judged("a"), Code::kSuccess);
  add(there, "a");
  EXPECT_EQ(judged("a"), Code::kUnschedulable);
  add(web("q"), "b");
  EXPECT_EQ(judged("a"), Code::kSuccess);
  add(web("r"), "a");
  EXPECT_EQ(judged("a"), Code::kUnschedulable);
}

TEST_F(SpreadTrial, PodsOfOtherNamespacesOrLabelsOrNodesThatDoNotCountAreNothing) {
  node("a");
  node("b");
  node_without_hostname("keyless");
  begin(web("p", {{}}));
  add(web("q").in("other"), "a");
  add(world.pod("r").label("app", "db"), "a");
  add(web("s"), "keyless");
  EXPECT_EQ(judged("a"), Code::kSuccess);
  add(web("t"), "a");
  EXPECT_EQ(judged("a"), Code::kUnschedulable);
}

TEST_F(SpreadTrial, NodesThatPolicyExcludesAreNotCountedThereEither) {
  node("a");
  add_node(world.node("b").taint("gpu", "NoSchedule"));
  begin(web("p", {{.taints = NodeInclusionPolicy::kHonor}}));
  add(web("q"), "b");
  EXPECT_EQ(judged("b"), Code::kSuccess);
}

TEST_F(SpreadTrial, ASelectorForEverythingCountsHereSoThatCountsBecomeNegative) {
  node("a", "", 1);
  node("b", "", 1);
  begin(web("p", {{.labels = {}}}));
  EXPECT_EQ(judged("b"), Code::kSuccess);
  remove(web("x"), "a");  // −1: now b's 0 is one above the emptiest
  EXPECT_EQ(judged("b"), Code::kUnschedulable);
  EXPECT_EQ(judged("a"), Code::kSuccess);
}

TEST_F(SpreadTrial, RemovingAPodThatIsBeingDeletedMakesCountsNegativeToo) {
  node("a");
  node("b");
  const Ref<const Pod> going = web("going").on("a").deleted(WallTime{std::chrono::seconds(5)});
  add_pod(going);
  begin(web("p", {{}}));
  EXPECT_EQ(judged("b"), Code::kSuccess);
  remove(going, "a");
  EXPECT_EQ(judged("b"), Code::kUnschedulable);
  add(going, "a");
  EXPECT_EQ(judged("b"), Code::kSuccess);
}

TEST_F(SpreadTrial, AGhostIsNothing) {
  node("a");
  node("b");
  add_pod(web("q").on("gone"));
  begin(web("p", {{}}));
  add(web("r"), "gone");
  EXPECT_EQ(judged("a"), Code::kSuccess);
}

// ---- the smallest count -------------------------------------------------------------------------

TEST(DomainCountsOfSpread, KnowTheSmallestUnderAnyChanges) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t domains = 2 + random.below(8);
    DomainCounts counts(domains);
    std::map<Domain, std::int32_t> expected;
    for (Domain domain = 1; domain < domains; ++domain) {
      if (random.below(4) == 0) continue;
      const auto pods = static_cast<std::int32_t>(random.below(4));
      counts.enter(domain);
      counts.add(domain, pods);
      expected[domain] = pods;
    }
    counts.filled();
    ASSERT_EQ(counts.size(), expected.size());
    if (expected.empty()) {
      EXPECT_EQ(counts.smallest(), std::numeric_limits<std::int32_t>::max());
      continue;
    }
    for (int step = 0; step < 60; ++step) {
      auto at = expected.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random.below(expected.size())));
      const std::int32_t by = random.below(2) == 0 ? 1 : -1;
      at->second += by;
      counts.change(at->first, by);
      std::int32_t smallest = std::numeric_limits<std::int32_t>::max();
      for (const auto& [domain, pods] : expected) smallest = std::min(smallest, pods);
      ASSERT_EQ(counts.smallest(), smallest);
      ASSERT_EQ(counts.of(at->first), at->second);
    }
  }
}

TEST_F(SpreadFilter, ConstraintsOnKeysThatNoNodeHasCountNobody) {
  for (int i = 0; i < 20; ++i) node("n" + std::to_string(i), "z", 2);
  std::vector<WantedConstraint> constraints{{.key = kZone}};
  for (int i = 0; i < 200; ++i) {
    WantedConstraint& one = constraints.emplace_back();
    one.key = "invented-" + std::to_string(i);
    one.labels = {{"app", "web-" + std::to_string(i)}};
  }
  const auto plugin = make<PodTopologySpread>();
  EXPECT_EQ(filter(*plugin, web("p", constraints))["n1"],
            testing::unresolvable({"node(s) didn't match pod topology spread constraints (missing "
                                   "required label)"}));
  for (WantedConstraint& one : constraints) one.action = kSoft;
  cluster.begin_cycle();
  EXPECT_EQ(scores(*plugin, web("q", constraints), {"n1", "n2"}), (Scores{0, 0}));
  EXPECT_EQ(cluster.pod_counts().size(), 0U);
  EXPECT_LE(cluster.topology().size(), 1U);
}

TEST_F(SpreadFilter, ManyConstraintsOnKeysOfOneNodeKeepFewColumns) {
  std::vector<WantedConstraint> constraints;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "own-" + std::to_string(i);
    add_node(world.node("n" + std::to_string(i)).label(key, "v"));
    constraints.emplace_back().key = key;
  }
  const auto plugin = make<PodTopologySpread>();
  for (const auto& [node, verdict] : filter(*plugin, web("p", constraints)))
    EXPECT_EQ(verdict,
              testing::unresolvable({"node(s) didn't match pod topology spread constraints "
                                     "(missing required label)"}))
        << node;
  for (WantedConstraint& one : constraints) one.action = kSoft;
  EXPECT_EQ(scores(*plugin, web("q", constraints), {"n1", "n150"}), (Scores{0, 0}));
  EXPECT_LT(cluster.topology().size(), 100U);
}

TEST_F(SpreadFilter, OfManyNodesTheFewWithTheKeyAreJudgedByTheirDomains) {
  for (int i = 0; i < 100; ++i) {
    auto node = world.node("n" + std::to_string(i));
    if (i % 20 == 7) node.label("rack", i < 50 ? "low" : "high");  // n7, n27, n47; n67, n87
    add_node(node);
  }
  for (const char* full : {"n7", "n27", "n3"}) place(full);
  const WantedConstraint by_rack{.key = "rack"};
  const auto plugin = make<PodTopologySpread>();
  const Ref<const Pod> pod = web("p", {by_rack});
  for (const auto& [node, verdict] : filter(*plugin, pod)) {
    const bool low = node == "n7" || node == "n27" || node == "n47";
    const bool high = node == "n67" || node == "n87";
    EXPECT_EQ(verdict.code, low    ? Code::kUnschedulable
                            : high ? Code::kSuccess
                                   : Code::kUnschedulableAndUnresolvable)
        << node;
  }
  WantedConstraint soft = by_rack;
  soft.action = kSoft;
  EXPECT_EQ(scores(*plugin, web("q", {soft}), {"n3", "n7", "n8", "n67"}), (Scores{0, 0, 0, 100}));
  EXPECT_FALSE(cluster.topology().column(cluster.symbols().find("rack")).domains.is_dense());
}

}  // namespace
}  // namespace berth::plugins
