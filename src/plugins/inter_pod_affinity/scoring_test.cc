#include <gtest/gtest.h>

#include <limits>

#include "berth/topology.h"
#include "cluster/affinity_pods.h"
#include "cluster/pod_counts.h"
#include "plugins/inter_pod_affinity/testing/affinity_fixture.h"

namespace berth::plugins {
namespace {

class InterPodAffinityScore : public AffinityFixture {
 protected:
  // By node, before and after normalising; nullopt: Skip.
  std::optional<Scores> raw(const InterPodAffinity& plugin, const Ref<const Pod>& incoming) {
    const NodeSet& nodes = cluster.nodes().nodes();
    Cycle cycle(incoming, cluster);
    const Outcome outcome = plugin.pre_score(cycle, nodes);
    if (outcome.code == Code::kSkip) return std::nullopt;
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    std::vector<Score> by_row(cluster.nodes().rows(), -7);
    EXPECT_TRUE(plugin.score(cycle, nodes, by_row).ok());
    Scores scores;
    nodes.for_each(
        [&](NodeRow at) { scores[std::string(cluster.nodes().name_text(at))] = by_row[at]; });
    return scores;
  }
  std::optional<Scores> raw(const Ref<const Pod>& incoming) { return raw(*make(), incoming); }
  std::optional<Scores> scores(const Ref<const Pod>& incoming) {
    return fixture.score(*make(), incoming);
  }

  void add_regions() {
    add_node("n1", {{"region", "china"}});
    add_node("n2", {{"region", "india"}});
    add_node("n3", {{"az", "az1"}});
  }
};

TEST_F(InterPodAffinityScore, ThereIsNothingToDoWhenNobodyPrefersAnything) {
  add_regions();
  add(pod("e", {{"app", "web"}}, {}, "n1"));
  EXPECT_EQ(scores(pod("p", {{"app", "web"}})), std::nullopt);
  EXPECT_EQ(scores(pod("p", {}, {near({{has("app")}}, "region")})), std::nullopt);
  // Nor when what is preferred is nowhere, or nowhere with the key.
  EXPECT_EQ(scores(pod("p", {}, {likes(5, {{has("db")}}, "region")})), std::nullopt);
  EXPECT_EQ(scores(pod("p", {}, {likes(5, {{has("app")}}, "az")})), std::nullopt);
  // Required anti-affinity of others never scores.
  add(pod("f", {}, {away({{has("app")}}, "region")}, "n1"));
  EXPECT_EQ(scores(pod("p", {{"app", "web"}})), std::nullopt);
}

TEST_F(InterPodAffinityScore, PreferredAffinityPrefersTheDomain) {
  add_regions();
  add_node("n4", {{"region", "china"}});
  add(pod("e", {{"security", "S1"}}, {}, "n1"));
  EXPECT_EQ(scores(pod("p", {}, {likes(5, {{in("security", {"S1"})}}, "region")})),
            (Scores{{"n1", 100}, {"n2", 0}, {"n3", 0}, {"n4", 100}}));
}

TEST_F(InterPodAffinityScore, PreferredAntiAffinityPrefersTheOthers) {
  add_node("n1", {{"az", "az1"}});
  add_node("n2", {{"region", "china"}});
  add(pod("e1", {{"security", "S1"}}, {}, "n1"));
  add(pod("e2", {{"security", "S2"}}, {}, "n2"));
  EXPECT_EQ(scores(pod("p", {}, {dislikes(5, {{in("security", {"S1"})}}, "az")})),
            (Scores{{"n1", 0}, {"n2", 100}}));
}

TEST_F(InterPodAffinityScore, RequirementsOfATermAreAndedAndTermsAreSummed) {
  add_regions();
  add(pod("e1", {{"security", "S1"}}, {}, "n1"));
  add(pod("e2", {{"security", "S2"}}, {}, "n2"));
  add(pod("e3", {{"security", "S1"}}, {}, "n3"));
  const Ref<const Pod> incoming =
      pod("p", {},
          {likes(8, {{not_in("security", {"S1"}), in("security", {"S2"})}}, "region"),
           likes(2, {{has("security"), lacks("wrongkey")}}, "region")});
  EXPECT_EQ(raw(incoming), (Scores{{"n1", 2}, {"n2", 10}, {"n3", 0}}));
  EXPECT_EQ(scores(incoming), (Scores{{"n1", 20}, {"n2", 100}, {"n3", 0}}));
}

TEST_F(InterPodAffinityScore, AffinityAndAntiAffinityInBothDirections) {
  add_node("n1", {{"region", "china"}});
  add_node("n2", {{"az", "az1"}});
  add_node("n3", {{"region", "india"}});
  add_node("n4", {{"az", "az2"}});
  add(pod("e1", {{"security", "S1"}}, {}, "n1"));
  add(pod("e2", {{"security", "S2"}}, {}, "n2"));
  add(pod("e3", {}, {likes(8, {{in("app", {"p"})}}, "region")}, "n3"));
  add(pod("e4", {}, {dislikes(5, {{in("app", {"p"})}}, "az")}, "n4"));
  const Ref<const Pod> incoming = pod("p", {{"app", "p"}},
                                      {likes(8, {{in("security", {"S1"})}}, "region"),
                                       dislikes(5, {{in("security", {"S2"})}}, "az")});
  EXPECT_EQ(raw(incoming), (Scores{{"n1", 8}, {"n2", -5}, {"n3", 8}, {"n4", -5}}));
  EXPECT_EQ(scores(incoming), (Scores{{"n1", 100}, {"n2", 0}, {"n3", 100}, {"n4", 0}}));
}

TEST_F(InterPodAffinityScore, RequiredAffinityOfOthersCountsWithTheHardWeight) {
  add_node("n1", {{"region", "china"}});
  add_node("n2", {{"region", "india"}});
  const std::vector<WrittenTerm> terms{near({{in("security", {"S1"})}}, "region"),
                                       near({{has("security")}}, "region")};
  add(pod("e1", {}, terms, "n1"));
  add(pod("e2", {}, {terms[0]}, "n2"));
  add(pod("e3", {}, {terms[0]}, "n2"));
  add(pod("e4", {}, {terms[0]}, "n2"));
  const Ref<const Pod> incoming = pod("p", {{"security", "S1"}});
  EXPECT_EQ(raw(*make(1), incoming), (Scores{{"n1", 2}, {"n2", 3}}));
  EXPECT_EQ(raw(*make(10), incoming), (Scores{{"n1", 20}, {"n2", 30}}));
  EXPECT_EQ(raw(*make(0), incoming), std::nullopt);
}

TEST_F(InterPodAffinityScore, PreferencesOfOthersCanBeIgnored) {
  add_node("n1", {{"region", "china"}});
  add_node("n2", {{"region", "india"}});
  add(pod("e1", {{"app", "e"}}, {likes(8, {{has("x")}}, "region")}, "n1"));
  add(pod("e2", {{"app", "f"}}, {near({{has("x")}}, "region")}, "n2"));
  const Ref<const Pod> plain = pod("p", {{"x", "y"}});
  EXPECT_EQ(raw(*make(1, false), plain), (Scores{{"n1", 8}, {"n2", 1}}));
  EXPECT_EQ(raw(*make(1, true), plain), std::nullopt);
  // But not by a pod that has preferences of its own.
  const Ref<const Pod> picky = pod("p", {{"x", "y"}}, {likes(3, {{in("app", {"f"})}}, "region")});
  EXPECT_EQ(raw(*make(1, true), picky), (Scores{{"n1", 8}, {"n2", 4}}));
}

TEST_F(InterPodAffinityScore, EveryPodOfEveryNodeOfADomainCounts) {
  add_node("a1", {{"zone", "a"}});
  add_node("a2", {{"zone", "a"}});
  add_node("b1", {{"zone", "b"}});
  add(pod("e1", {{"app", "x"}}, {}, "a1"));
  add(pod("e2", {{"app", "x"}}, {}, "a1"));
  add(pod("e3", {{"app", "x"}}, {}, "a2"));
  add(pod("e4", {{"app", "x"}}, {}, "b1"));
  add(pod("e5", {{"app", "x"}}, {}, "ghost"));
  EXPECT_EQ(raw(pod("p", {}, {likes(4, {{has("app")}})})),
            (Scores{{"a1", 12}, {"a2", 12}, {"b1", 4}}));
}

TEST_F(InterPodAffinityScore, EqualSumsAreAllZero) {
  add_node("n1", {{"region", "china"}});
  add_node("n2", {{"region", "china"}});
  add(pod("e", {{"app", "x"}}, {}, "n1"));
  EXPECT_EQ(scores(pod("p", {}, {likes(4, {{has("app")}}, "region")})),
            (Scores{{"n1", 0}, {"n2", 0}}));
}

TEST_F(InterPodAffinityScore, WhatCancelsOutIsStillSomething) {
  add_node("n1", {{"zone", "a"}});
  add_node("n2", {{"zone", "b"}});
  add(pod("e", {{"app", "x"}}, {}, "n1"));
  EXPECT_EQ(scores(pod("p", {}, {likes(4, {{has("app")}}), dislikes(4, {{has("app")}})})),
            (Scores{{"n1", 0}, {"n2", 0}}));
}

TEST_F(InterPodAffinityScore, NamespacesAreChosenAsForFiltering) {
  add_namespace("red", {{"team", "red"}});
  add_namespace("default", {{"team", "blue"}});
  add_node("n1", {{"zone", "a"}});
  add_node("n2", {{"zone", "b"}});
  add(pod("e1", {{"app", "x"}}, {}, "n1", "red"));
  add(pod("e2", {{"app", "x"}}, {}, "n2", "green"));
  const auto liking = [&](WantedList namespaces) {
    return raw(pod("p", {}, {likes(4, {{has("app")}}).of_chosen(std::move(namespaces))}));
  };
  EXPECT_EQ(liking({in("team", {"red"})}), (Scores{{"n1", 4}, {"n2", 0}}));
  EXPECT_EQ(liking({not_in("team", {"blue"})}), (Scores{{"n1", 4}, {"n2", 0}}));
  EXPECT_EQ(liking({not_in("team", {"red"})}), std::nullopt) << "nobody is near anybody";
  EXPECT_EQ(liking({}), (Scores{{"n1", 4}, {"n2", 4}}));
  // The others look at the namespace's own labels.
  add(pod("f1", {}, {likes(9, {{has("x")}}).of_chosen({not_in("team", {"blue"})})}, "n1", "red"));
  add(pod("f2", {}, {likes(7, {{has("x")}}).of_chosen({in("team", {"blue"})})}, "n2", "red"));
  EXPECT_EQ(raw(pod("p", {{"x", "y"}})), (Scores{{"n1", 0}, {"n2", 7}}));
}

// Division comes before multiplication: 29/50 of 100 is 57.99….
TEST_F(InterPodAffinityScore, NormalisingIsDoneInFloatingPoint) {
  struct Row {
    std::int32_t range, part;
    Score score;
  };
  const Row table[] = {{50, 29, 57}, {100, 29, 28}, {100, 57, 56}, {100, 58, 57}, {100, 50, 50}};
  for (const Row& expected : table) {
    cluster.begin_cycle();
    add_node("none", {{"zone", "none"}});
    add_node("some", {{"zone", "some"}});
    add_node("most", {{"zone", "most"}});
    const std::string app = std::to_string(expected.range) + "-" + std::to_string(expected.part);
    add(pod("some-" + app, {{"some", app}}, {}, "some"));
    add(pod("most-" + app, {{"most", app}}, {}, "most"));
    const auto result = scores(pod("p", {},
                                   {likes(expected.part, {{in("some", {app})}}),
                                    likes(expected.range, {{in("most", {app})}})}));
    EXPECT_EQ(result, (Scores{{"none", 0}, {"some", expected.score}, {"most", 100}})) << app;
  }
}

TEST_F(InterPodAffinityScore, AbsurdWeightsWrapAround) {
  constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
  add_node("n1", {{"zone", "a"}});
  add_node("n2", {{"zone", "b"}});
  add(pod("e", {{"app", "x"}}, {}, "n1"));
  // The sign changes in 32 bits, where the lowest number has no opposite.
  EXPECT_EQ(raw(pod("p", {}, {dislikes(kLowest, {{has("app")}})})),
            (Scores{{"n1", kLowest}, {"n2", 0}}));
  EXPECT_EQ(raw(pod("p", {}, {likes(kLowest, {{has("app")}}), likes(kLowest, {{has("app")}})})),
            (Scores{{"n1", 2 * Score{kLowest}}, {"n2", 0}}));
}

TEST_F(InterPodAffinityScore, ErrorsAreToldInUpstreamsWords) {
  add_node("n1", {{"zone", "a"}});
  const auto plugin = make();
  Cycle cycle(pod("p", {}, {likes(1, {{in("app", {})}})}), cluster);
  const Outcome bad = plugin->pre_score(cycle, cluster.nodes().nodes());
  EXPECT_EQ(bad.code, Code::kError);
  EXPECT_EQ(bad.message(),
            "failed to parse pod: preferredAffinityTerms: values: Invalid value: null: for 'in', "
            "'notin' operators, values set can't be empty");
  std::vector<Score> by_row(cluster.nodes().rows());
  const std::string missing =
      "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";
  EXPECT_EQ(plugin->score(cycle, cluster.nodes().nodes(), by_row).message(), missing);
  EXPECT_EQ(plugin->normalize(cycle, cluster.nodes().nodes(), by_row).message(), missing);
}

// Terms at keys that no node has must not cost anything per node.
TEST_F(InterPodAffinityScore, TermsAtKeysThatNoNodeHasAddNothingAndKeepNothing) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    fixture.add_node(world.node(name).label("zone", i % 2 == 0 ? "even" : "odd"));
  }
  std::vector<WrittenTerm> terms{likes(7, WantedList{has("app")}, "zone")};
  for (int i = 0; i < 500; ++i)
    terms.push_back(likes(1, WantedList{has("app")}, "invented-" + std::to_string(i)));
  add(pod("placed", {{"app", "x"}}, terms, "n3"));
  const auto plugin = make();
  for (const auto& incoming :
       {pod("plain", {{"app", "y"}}), pod("likewise", {{"app", "y"}}, terms)}) {
    fixture.cluster.begin_cycle();
    const auto scores = fixture.score(*plugin, incoming);
    ASSERT_TRUE(scores.has_value());
    EXPECT_EQ(scores->at("n1"), 100);
    EXPECT_EQ(scores->at("n2"), 0);
  }
  EXPECT_EQ(cluster.topology().size(), 1U);
  EXPECT_LE(cluster.pod_counts().size(), 1U);
  EXPECT_EQ(cluster.affinity_pods().sum_bytes(), 0U);
}

TEST_F(InterPodAffinityScore, ManyTermsAtKeysOfOneNodeKeepFewColumns) {
  std::vector<WrittenTerm> terms;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    add_node("n" + number, {{"own-" + number, "v"}});
    terms.push_back(likes(7, WantedList{has("app")}, "own-" + number));
  }
  add(pod("placed", {{"app", "x"}}, terms, "n250"));
  for (const auto& [incoming, expected] :
       {std::pair(pod("plain", {{"app", "y"}}), 7), std::pair(pod("likewise", {}, terms), 7),
        std::pair(pod("both", {{"app", "y"}}, terms), 14)}) {
    const auto scores = raw(incoming);
    ASSERT_TRUE(scores.has_value());
    EXPECT_EQ(scores->at("n250"), expected);
    EXPECT_EQ(scores->at("n249"), 0);
    EXPECT_EQ(scores->at("n3"), 0);
  }
  EXPECT_LT(cluster.topology().size(), 150U);
}

TEST_F(InterPodAffinityScore, ManyTermsAtKeysThatOneNodeHasAreAddedUpThere) {
  Labels all;
  std::vector<WrittenTerm> terms;
  for (int i = 0; i < 300; ++i) {
    const std::string key = "own-" + std::to_string(i);
    all[key] = "v";
    terms.push_back(likes(7, WantedList{has("app")}, key));
  }
  for (int i = 0; i < 100; ++i) add_node("n" + std::to_string(i), i == 50 ? all : Labels{});
  add(pod("placed", {{"app", "x"}}, {}, "n50"));
  const auto scores = raw(pod("p", {}, terms));
  ASSERT_TRUE(scores.has_value());
  for (const auto& [node, score] : *scores) EXPECT_EQ(score, node == "n50" ? 2100 : 0) << node;
  for (const auto& [key, value] : all)
    ASSERT_FALSE(cluster.topology().column(world.symbol(key)).domains.is_dense());
}

}  // namespace
}  // namespace berth::plugins
