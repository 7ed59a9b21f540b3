#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "berth/topology.h"
#include "cluster/affinity_pods.h"
#include "cluster/pod_counts.h"
#include "plugins/inter_pod_affinity/testing/affinity_fixture.h"

namespace berth::plugins {
namespace {

const Verdict kFits;
const Verdict kNoAffinity = unresolvable({"node(s) didn't match pod affinity rules"});
const Verdict kAvoided = unschedulable({"node(s) didn't match pod anti-affinity rules"});
const Verdict kAvoids = unschedulable({"node(s) didn't satisfy existing pods anti-affinity rules"});

// Two zones: a with a1 and a2, b with b1; `bare` has no zone.
class InterPodAffinityFilter : public AffinityFixture {
 protected:
  void SetUp() override {
    add_node("a1", {{"zone", "a"}, {"host", "a1"}});
    add_node("a2", {{"zone", "a"}, {"host", "a2"}});
    add_node("b1", {{"zone", "b"}, {"host", "b1"}});
    add_node("bare", {{"host", "bare"}});
  }

  Verdicts filter(const Ref<const Pod>& incoming) {
    const auto plugin = make();
    const Verdicts verdicts = fixture.filter(*plugin, incoming);
    EXPECT_EQ(fixture.filter_one_by_one(*plugin, incoming), verdicts);
    return verdicts;
  }

  Outcome pre_filter(const Ref<const Pod>& incoming) {
    Cycle cycle(incoming, cluster);
    return make()->pre_filter(cycle).outcome;
  }

  static Verdicts verdicts(const Verdict& a1, const Verdict& a2, const Verdict& b1,
                           const Verdict& bare) {
    return {{"a1", a1}, {"a2", a2}, {"b1", b1}, {"bare", bare}};
  }
  static Verdicts all(const Verdict& verdict) {
    return verdicts(verdict, verdict, verdict, verdict);
  }
};

TEST_F(InterPodAffinityFilter, RequiredAffinityWantsAMatchingPodInTheDomain) {
  add(pod("web", {{"app", "web"}}, {}, "a1"));
  EXPECT_EQ(filter(pod("p", {}, {near({{in("app", {"web"})}})})),
            verdicts(kFits, kFits, kNoAffinity, kNoAffinity));
  EXPECT_EQ(filter(pod("p", {}, {near({{in("app", {"web"})}}, "host")})),
            verdicts(kFits, kNoAffinity, kNoAffinity, kNoAffinity));
  EXPECT_EQ(filter(pod("p", {}, {near({{in("app", {"other"})}})})), all(kNoAffinity));
}

TEST_F(InterPodAffinityFilter, OnePodHasToMatchAllTerms) {
  add(pod("x", {{"x", "1"}}, {}, "a1"));
  add(pod("y", {{"y", "1"}}, {}, "a1"));
  const std::vector<WrittenTerm> both{near({{has("x")}}), near({{has("y")}}, "host")};
  EXPECT_EQ(filter(pod("p", {}, both)), all(kNoAffinity));
  add(pod("xy", {{"x", "1"}, {"y", "1"}}, {}, "a2"));
  // In zone a everywhere, but only a2 is the host.
  EXPECT_EQ(filter(pod("p", {}, both)), verdicts(kNoAffinity, kFits, kNoAffinity, kNoAffinity));
}

TEST_F(InterPodAffinityFilter, TerminatingPodsCount) {
  testing::PodBuilder going = world.pod("web");
  going.label("app", "web").on("a1").deleted(WallTime{std::chrono::seconds(5)});
  add(going);
  EXPECT_EQ(filter(pod("p", {}, {near({{has("app")}})}))["a2"], kFits);
  EXPECT_EQ(filter(pod("p", {}, {away({{has("app")}})}))["a2"], kAvoided);
}

TEST_F(InterPodAffinityFilter, TheFirstPodOfItsKindMayStartAnywhereWithTheKey) {
  const std::vector<WrittenTerm> own{near({{in("app", {"web"})}})};
  EXPECT_EQ(filter(pod("p", {{"app", "web"}}, own)), verdicts(kFits, kFits, kFits, kNoAffinity));
  // It has to match its own term, in its own namespace.
  EXPECT_EQ(filter(pod("p", {}, own)), all(kNoAffinity));
  EXPECT_EQ(filter(pod("p", {{"app", "web"}}, {near({{has("app")}}).of({"elsewhere"})})),
            all(kNoAffinity));
  EXPECT_EQ(filter(pod("p", {{"app", "web"}}, {near({{has("app")}}), near({{has("db")}})})),
            all(kNoAffinity));
}

TEST_F(InterPodAffinityFilter, APodOnANodeWithoutTheKeyDoesNotEndBeingFirst) {
  add(pod("web", {{"app", "web"}}, {}, "bare"));
  const Ref<const Pod> incoming = pod("p", {{"app", "web"}}, {near({{has("app")}})});
  EXPECT_EQ(filter(incoming), verdicts(kFits, kFits, kFits, kNoAffinity));
  // An entry of any key does: nobody is first any more, though no zone has a pod.
  const std::vector<WrittenTerm> two{near({{has("app")}}), near({{has("app")}}, "host")};
  EXPECT_EQ(filter(pod("p", {{"app", "web"}}, two)), all(kNoAffinity));
}

TEST_F(InterPodAffinityFilter, PodsWhoseNodeIsUnknownDoNotCount) {
  add(pod("web", {{"app", "web"}}, {away({{has("app")}})}, "gone"));
  EXPECT_EQ(filter(pod("p", {{"app", "web"}}, {near({{has("app")}})})),
            verdicts(kFits, kFits, kFits, kNoAffinity));
}

TEST_F(InterPodAffinityFilter, AntiAffinityRejectsDomainsWithAMatchingPod) {
  add(pod("web", {{"app", "web"}}, {}, "a1"));
  EXPECT_EQ(filter(pod("p", {}, {away({{has("app")}})})),
            verdicts(kAvoided, kAvoided, kFits, kFits));
  EXPECT_EQ(filter(pod("p", {}, {away({{has("app")}}, "host")})),
            verdicts(kAvoided, kFits, kFits, kFits));
}

TEST_F(InterPodAffinityFilter, AnyAntiAffinityTermRejects) {
  add(pod("x", {{"x", "1"}}, {}, "a1"));
  add(pod("y", {{"y", "1"}}, {}, "b1"));
  add(pod("z", {{"y", "1"}}, {}, "bare"));
  EXPECT_EQ(filter(pod("p", {}, {away({{has("x")}}, "host"), away({{has("y")}})})),
            verdicts(kAvoided, kFits, kAvoided, kFits));
}

TEST_F(InterPodAffinityFilter, ExistingPodsAntiAffinityIsHonoured) {
  add(pod("loner", {}, {away({{in("app", {"web"})}})}, "a1"));
  add(pod("host-loner", {}, {away({{has("app")}}, "host")}, "bare"));
  EXPECT_EQ(filter(pod("p", {{"app", "web"}})), verdicts(kAvoids, kAvoids, kFits, kAvoids));
  EXPECT_EQ(filter(pod("p", {{"app", "db"}})), verdicts(kFits, kFits, kFits, kAvoids));
  EXPECT_EQ(pre_filter(pod("p", {})).code, Code::kSkip);
  EXPECT_EQ(pre_filter(pod("p", {{"app", "web"}}, {}, "", "elsewhere")).code, Code::kSkip);
}

TEST_F(InterPodAffinityFilter, AffinityIsCheckedFirstThenOwnThenOthersAntiAffinity) {
  add(pod("web", {{"app", "web"}}, {away({{has("app")}})}, "a1"));
  const Labels own{{"app", "web"}};
  EXPECT_EQ(filter(pod("p", own, {away({{has("app")}}, "host")})),
            verdicts(kAvoided, kAvoids, kFits, kFits));
  EXPECT_EQ(filter(pod("p", own, {near({{has("app")}}, "host"), away({{has("app")}})})),
            verdicts(kAvoided, kNoAffinity, kNoAffinity, kNoAffinity));
}

TEST_F(InterPodAffinityFilter, ThereIsNothingToDoWithoutRequiredTerms) {
  EXPECT_EQ(pre_filter(pod("p")).code, Code::kSkip);
  EXPECT_EQ(pre_filter(pod("p", {}, {likes(1, {{has("app")}})})).code, Code::kSkip);
  // A term on a node without its key says nothing.
  add(pod("loner", {}, {away({{has("app")}})}, "bare"));
  EXPECT_EQ(pre_filter(pod("p", {{"app", "web"}})).code, Code::kSkip);
  add(pod("loner-2", {}, {away({{has("app")}})}, "b1"));
  EXPECT_TRUE(pre_filter(pod("p", {{"app", "web"}})).ok());
}

TEST_F(InterPodAffinityFilter, SelectorsMayBeAbsentOrEmpty) {
  add(pod("web", {}, {}, "a1"));
  EXPECT_EQ(filter(pod("p", {}, {away(WantedList{})})), verdicts(kAvoided, kAvoided, kFits, kFits));
  EXPECT_EQ(filter(pod("p", {}, {away(std::nullopt)})), all(kFits));
  EXPECT_EQ(filter(pod("p", {}, {near(std::nullopt)})), all(kNoAffinity));
}

TEST_F(InterPodAffinityFilter, TermsNameNamespaces) {
  add(pod("web", {{"app", "web"}}, {}, "a1", "red"));
  const auto a2 = [&](WrittenTerm term) {
    return filter(pod("p", {}, {std::move(term)}))["a2"] == kAvoided;
  };
  EXPECT_FALSE(a2(away({{has("app")}})));
  EXPECT_TRUE(a2(away({{has("app")}}).of({"red", "blue"})));
  EXPECT_FALSE(a2(away({{has("app")}}).of({"blue"})));
}

TEST_F(InterPodAffinityFilter, TermsSelectNamespacesByTheirLabels) {
  add_namespace("red", {{"team", "red"}});
  add_namespace("blue", {{"team", "blue"}});
  add_namespace("default", {});
  add(pod("web", {{"app", "web"}}, {}, "a1", "red"));
  add(pod("stray", {{"app", "web"}}, {}, "b1", "unknown"));
  const auto avoided = [&](WantedList namespaces) {
    const Verdicts verdicts =
        filter(pod("p", {}, {away({{has("app")}}).of_chosen(std::move(namespaces))}));
    return std::pair(verdicts.at("a2") == kAvoided, verdicts.at("b1") == kAvoided);
  };
  EXPECT_EQ(avoided({in("team", {"red"})}), (std::pair(true, false)));
  EXPECT_EQ(avoided({has("team")}), (std::pair(true, false)));
  EXPECT_EQ(avoided({in("team", {"blue"})}), (std::pair(false, false)));
  EXPECT_EQ(avoided({}), (std::pair(true, true)));
  // A namespace that nobody knows is not selected by the labels that it does not have.
  EXPECT_EQ(avoided({not_in("team", {"red"})}), (std::pair(false, false)));
  EXPECT_EQ(avoided({not_in("team", {"blue"})}), (std::pair(true, false)));
  EXPECT_EQ(avoided({lacks("team")}), (std::pair(false, false)));
  EXPECT_EQ(avoided({has("team"), not_in("team", {"red"})}), (std::pair(false, false)));
}

TEST_F(InterPodAffinityFilter, TheFirstPodOfAGroupHasToBeInANamespaceThatItsTermSelects) {
  const auto first = [&] {
    return filter(pod("p", {{"app", "web"}},
                      {near({{has("app")}}).of_chosen({not_in("team", {"red"})})}))["a1"];
  };
  add_namespace("default", {{"team", "blue"}});
  EXPECT_EQ(first(), kFits);
  add_namespace("default", {{"team", "red"}});
  EXPECT_EQ(first(), kNoAffinity);
}

TEST_F(InterPodAffinityFilter, ChosenNamespacesFollowTheirLabels) {
  const auto plugin = make();
  add_namespace("red", {{"team", "red"}});
  add(pod("web", {{"app", "web"}}, {}, "a1", "red"));
  const Ref<const Pod> incoming =
      pod("p", {}, {away({{has("app")}}).of_chosen({in("team", {"red"})})});
  EXPECT_EQ(fixture.filter(*plugin, incoming)["a1"], kAvoided);
  add_namespace("red", {{"team", "former"}});
  EXPECT_EQ(fixture.filter(*plugin, incoming)["a1"], kFits);
}

TEST_F(InterPodAffinityFilter, ExistingTermsSeeTheRealLabelsOfTheNamespace) {
  add_namespace("default", {{"team", "red"}});
  add(pod("in", {}, {away({{has("x")}}).of_chosen({in("team", {"red"})})}, "a1", "other"));
  add(pod("not", {}, {away({{has("x")}}).of_chosen({not_in("team", {"red"})})}, "b1", "other"));
  EXPECT_EQ(filter(pod("p", {{"x", "1"}})), verdicts(kAvoids, kAvoids, kFits, kFits));
  // A namespace that nobody knows has no labels.
  EXPECT_EQ(filter(pod("p", {{"x", "1"}}, {}, "", "unknown")),
            verdicts(kFits, kFits, kAvoids, kFits));
}

TEST_F(InterPodAffinityFilter, ATermThatMakesNoSenseIsToldForTheIncomingPod) {
  WrittenTerm bad = near({{in("app", {})}});
  const Outcome outcome = pre_filter(pod("p", {}, {bad}));
  EXPECT_EQ(outcome.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(outcome.message(),
            "parsing pod: requiredAffinityTerms: values: Invalid value: null: for 'in', 'notin' "
            "operators, values set can't be empty");
  EXPECT_EQ(pre_filter(pod("p", {}, {bad, dislikes(1, {{in("app", {})}})})).message(),
            "parsing pod: [requiredAffinityTerms: values: Invalid value: null: for 'in', 'notin' "
            "operators, values set can't be empty, preferredAntiAffinityTerms: values: Invalid "
            "value: null: for 'in', 'notin' operators, values set can't be empty]");
}

TEST_F(InterPodAffinityFilter, AnExistingPodsBadTermSilencesItsListOnly) {
  add(pod("bad", {}, {away({{in("app", {})}}), away({{has("app")}})}, "a1"));
  add(pod("half-bad", {}, {near({{in("app", {})}}), away({{has("app")}})}, "b1"));
  EXPECT_EQ(filter(pod("p", {{"app", "x"}})), verdicts(kFits, kFits, kAvoids, kFits));
}

TEST_F(InterPodAffinityFilter, FilteringWithoutPreFilterIsAnError) {
  const auto plugin = make();
  CycleAtFilter at(pod("p"), cluster);
  at.filter(*plugin);
  const std::string text = "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";
  EXPECT_EQ(at.verdict(*plugin, row("a1")), (Verdict{Code::kError, {text}}));
  EXPECT_EQ(plugin->add_pod(at.cycle, *pod("q"), row("a1")).message(), text);
  EXPECT_EQ(plugin->remove_pod(at.cycle, *pod("q"), row("a1")).message(), text);
}

TEST_F(InterPodAffinityFilter, ArgumentsAreOfTheRightType) {
  const auto wrong = InterPodAffinity::create(config::NodeAffinityArgs{}, fixture.handle());
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message.substr(0, 50),
            "want args to be of type InterPodAffinityArgs, got ");
  EXPECT_TRUE(InterPodAffinity::create({}, fixture.handle()).has_value());
}

// ---- trials -------------------------------------------------------------------------------------

// One cycle in which pods come and go for the sake of a question.
class InterPodAffinityTrial : public InterPodAffinityFilter {
 protected:
  void begin(const Ref<const Pod>& incoming) {
    plugin = make();
    cycle.emplace(incoming, cluster);
    scratch.reset(cluster.nodes().rows());
    cycle->lend(&scratch);
    ASSERT_TRUE(plugin->pre_filter(*cycle).outcome.ok());
  }
  void put(const Ref<const Pod>& other, const std::string& node) {
    EXPECT_TRUE(plugin->add_pod(*cycle, *other, row(node)).ok());
  }
  void take(const Ref<const Pod>& other, const std::string& node) {
    EXPECT_TRUE(plugin->remove_pod(*cycle, *other, row(node)).ok());
  }
  Verdicts judged() {
    scratch.reset(cluster.nodes().rows());
    NodeSet feasible = cluster.nodes().nodes();
    FilterPass pass(0, *cycle, feasible, scratch.verdicts);
    plugin->filter(*cycle, pass);
    Verdicts judged;
    cluster.nodes().nodes().for_each([&](NodeRow row) {
      const Status& status = scratch.verdicts[row];
      judged[std::string(cluster.nodes().name_text(row))] = {
          status.code,
          status.ok() ? std::vector<std::string>() : cycle->reasons_of(status, plugin.get())};
    });
    return judged;
  }

  std::unique_ptr<InterPodAffinity> plugin;
  std::optional<Cycle> cycle;
  internal::CycleScratch scratch;
};

TEST_F(InterPodAffinityTrial, AffinityFollows) {
  const Ref<const Pod> web = pod("web", {{"app", "web"}}, {}, "a1");
  add(web);
  begin(pod("p", {{"app", "web"}}, {near({{has("app")}}), near({{has("app")}})}));
  const Verdicts before = judged();
  EXPECT_EQ(before, verdicts(kFits, kFits, kNoAffinity, kNoAffinity));
  put(pod("other", {{"x", "y"}}), "b1");  // matches nothing
  EXPECT_EQ(judged(), before);
  put(pod("web-2", {{"app", "web"}}), "b1");
  EXPECT_EQ(judged(), verdicts(kFits, kFits, kFits, kNoAffinity));
  take(pod("web-2", {{"app", "web"}}), "b1");
  take(web, "a1");
  // The last one is gone: the map is empty, and the pod would be the first.
  EXPECT_EQ(judged(), verdicts(kFits, kFits, kFits, kNoAffinity));
  put(web, "a1");
  EXPECT_EQ(judged(), before);
}

TEST_F(InterPodAffinityTrial, OwnAntiAffinityFollows) {
  const Ref<const Pod> web = pod("web", {{"app", "web"}}, {}, "a1");
  add(web);
  begin(pod("p", {}, {away({{has("app")}}), away({{has("db")}}, "host")}));
  take(web, "a1");
  EXPECT_EQ(judged(), all(kFits));
  put(pod("db", {{"db", "1"}}), "bare");
  put(pod("nowhere", {{"app", "web"}}), "bare");  // has no zone
  EXPECT_EQ(judged(), verdicts(kFits, kFits, kFits, kAvoided));
  take(pod("db", {{"db", "1"}}), "bare");
  put(web, "a1");
  EXPECT_EQ(judged(), verdicts(kAvoided, kAvoided, kFits, kFits));
}

TEST_F(InterPodAffinityTrial, ExistingAntiAffinityFollows) {
  const Ref<const Pod> loner = pod("loner", {}, {away({{has("app")}})}, "a1");
  add(loner);
  begin(pod("p", {{"app", "web"}}));
  EXPECT_EQ(judged(), verdicts(kAvoids, kAvoids, kFits, kFits));
  take(loner, "a1");
  EXPECT_EQ(judged(), all(kFits));
  // A kind of pod, and a key, that the cluster has not seen.
  put(pod("new", {}, {away({{has("app")}}, "host"), away({{has("other")}})}), "b1");
  EXPECT_EQ(judged(), verdicts(kFits, kFits, kAvoids, kFits));
}

// The whole with the framework's eyes is in tests of what-if questions; here the pods really move
// and the plugin's state after edits has to say what a new PreFilter would.
TEST_F(InterPodAffinityTrial, EditsEndWhereANewPreFilterWouldBegin) {
  const std::vector<WrittenTerm> terms{near({{has("app")}}, "host"), away({{has("db")}})};
  const Ref<const Pod> anchor = pod("anchor", {{"app", "1"}}, {}, "a1");
  const Ref<const Pod> moving =
      pod("moving", {{"app", "1"}, {"db", "1"}}, {away({{in("x", {"y"})}}, "host")}, "b1");
  const Ref<const Pod> incoming = pod("p", {{"x", "y"}}, terms);
  add(anchor);
  begin(incoming);
  put(moving, "b1");
  const Verdicts edited = judged();
  add(moving);
  EXPECT_EQ(edited, filter(incoming));
  begin(incoming);
  take(moving, "b1");
  const Verdicts taken = judged();
  ASSERT_TRUE(cluster.remove_pod(*moving).has_value());
  EXPECT_EQ(taken, filter(incoming));
  EXPECT_NE(taken, edited);
}

TEST_F(InterPodAffinityFilter, RequiredTermsAtKeysThatNoNodeHasKeepNothing) {
  for (int i = 0; i < 50; ++i)
    fixture.add_node(world.node("n" + std::to_string(i)).label("zone", "z"));
  std::vector<WrittenTerm> away_terms, near_terms;
  for (int i = 0; i < 300; ++i) {
    away_terms.push_back(away(WantedList{has("app")}, "invented-" + std::to_string(i)));
    near_terms.push_back(near(WantedList{has("app")}, "invented-" + std::to_string(i)));
  }
  add(pod("placed", {{"app", "x"}}, away_terms, "n3"));
  const auto plugin = make();
  EXPECT_EQ(fixture.filter(*plugin, pod("away", {{"app", "y"}}, away_terms))["n1"],
            testing::Verdict{});
  EXPECT_EQ(fixture.filter(*plugin, pod("near", {{"app", "y"}}, near_terms))["n1"],
            testing::unresolvable({"node(s) didn't match pod affinity rules"}));
  EXPECT_EQ(cluster.topology().size(), 0U);
  EXPECT_EQ(cluster.pod_counts().size(), 0U);
}

// Node n7 has the key own-7, and no other node has it. A column for every key would cost keys times
// nodes.
class InterPodAffinityAtRareKeys : public InterPodAffinityTrial {
 protected:
  static constexpr int kNodes = 300;

  void SetUp() override {
    for (int i = 0; i < kNodes; ++i) {
      const std::string number = std::to_string(i);
      add_node("n" + number, {{"own-" + number, "v"}, {"common", "v"}});
    }
  }
  static std::vector<WrittenTerm> terms(WrittenTerm (*make)(std::optional<WantedList>,
                                                            std::string)) {
    std::vector<WrittenTerm> made;
    for (int i = 0; i < kNodes; ++i)
      made.push_back(make(WantedList{has("app")}, "own-" + std::to_string(i)));
    return made;
  }
  std::vector<std::string> rejected(const Verdict& by) {
    std::vector<std::string> nodes;
    for (const auto& [node, verdict] : judged())
      if (verdict == by) nodes.push_back(node);
    return nodes;
  }
};

TEST_F(InterPodAffinityAtRareKeys, ManyTermsKeepFewColumns) {
  add(pod("placed", {{"app", "x"}}, terms(away), "n3"));
  add(pod("late", {{"app", "x"}}, terms(away), "n250"));
  using Nodes = std::vector<std::string>;
  begin(pod("plain", {{"app", "y"}}));
  EXPECT_EQ(rejected(kAvoids), (Nodes{"n250", "n3"}));
  begin(pod("away", {}, terms(away)));
  EXPECT_EQ(rejected(kAvoided), (Nodes{"n250", "n3"}));
  begin(pod("near", {}, terms(near)));
  EXPECT_EQ(rejected(kNoAffinity).size(), kNodes);
  EXPECT_LT(cluster.topology().size(), 150U);
}

TEST_F(InterPodAffinityAtRareKeys, TrialsCountAtKeysThatNobodyWasAt) {
  const Ref<const Pod> loner = pod("loner", {{"app", "x"}}, terms(away));
  add(pod("placed", {{"app", "x"}}, terms(away), "n3"));
  begin(pod("p", {{"app", "y"}}));
  put(loner, "n200");
  EXPECT_EQ(rejected(kAvoids), (std::vector<std::string>{"n200", "n3"}));
  take(loner, "n200");
  EXPECT_EQ(rejected(kAvoids), std::vector<std::string>{"n3"});

  begin(pod("q", {}, terms(away)));
  put(pod("other", {{"app", "x"}}), "n200");
  EXPECT_EQ(rejected(kAvoided), (std::vector<std::string>{"n200", "n3"}));

  begin(pod("r", {}, terms(near)));
  put(pod("other", {{"app", "x"}}), "n200");
  EXPECT_EQ(rejected(kNoAffinity).size(), kNodes);
  EXPECT_LT(cluster.topology().size(), 150U);
}

TEST_F(InterPodAffinityAtRareKeys, ANodeWithAllKeysIsFound) {
  Labels labels;
  for (int i = 0; i < kNodes; ++i) labels["own-" + std::to_string(i)] = "w";
  add_node("all", labels);
  add(pod("placed", {{"app", "x"}}, {}, "all"));
  begin(pod("near", {}, terms(near)));
  EXPECT_EQ(rejected(kNoAffinity).size(), kNodes);
  EXPECT_EQ(judged()["all"], kFits);
  begin(pod("away", {}, terms(away)));
  EXPECT_EQ(rejected(kAvoided), std::vector<std::string>{"all"}) << "other values are elsewhere";
  add(pod("loner", {{"app", "x"}}, terms(away), "all"));
  begin(pod("plain", {{"app", "y"}}));
  EXPECT_EQ(rejected(kAvoids), std::vector<std::string>{"all"});
}

}  // namespace
}  // namespace berth::plugins
