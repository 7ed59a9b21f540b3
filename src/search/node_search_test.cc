#include "search/node_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/testing/names.h"
#include "search/testing/search_fixture.h"

namespace berth {
namespace {

TEST(FeasibleNodesToFind, FollowsThePercentage) {
  struct Case {
    std::size_t nodes;
    std::int32_t percentage;
    std::size_t enough;
  };
  for (const Case& c : {Case{50, 10, 50}, Case{99, 1, 99}, Case{1000, 40, 400}, Case{1000, 5, 100},
                        Case{6000, 5, 300}, Case{1000, 0, 1000}, Case{6000, 0, 6000},
                        Case{1000, 100, 1000}, Case{100, 99, 100}, Case{200, 99, 198}})
    EXPECT_EQ(feasible_nodes_to_find(c.nodes, c.percentage), c.enough)
        << c.nodes << " nodes at " << c.percentage << " %";
}

TEST_F(NodeSearchTest, WithoutNodesThereIsNothingToSay) {
  const SearchResult result = search();
  EXPECT_EQ(result.outcome.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(result.outcome.message(), "no nodes available to schedule pods");
  EXPECT_EQ(result.outcome.fit_error, nullptr);
  ASSERT_TRUE(result.nominating);
  EXPECT_EQ(result.nominating->mode, Nominating::Mode::kOverride);
}

TEST_F(NodeSearchTest, TheOnlyFeasibleNodeIsTakenWithoutScoring) {
  nodes(3);
  filter_all([](std::string_view name) {
    return name == "n2" ? Outcome() : Outcome::unschedulable("no");
  });
  profile.score("Score", [](const Cycle&, NodeRow) -> Score {
    ADD_FAILURE() << "must not be asked";
    return 0;
  });
  const SearchResult result = search();
  EXPECT_EQ(chosen(result), "n2");
  EXPECT_EQ(result.evaluated, 3u);
  EXPECT_EQ(result.feasible, 1u);
}

TEST_F(NodeSearchTest, TheBestScoreWins) {
  nodes(4);
  profile.score("Score", [](const Cycle& c, NodeRow row) {
    return c.nodes().name_text(row) == "n3" ? Score{50} : Score{10};
  });
  const SearchResult result = search();
  EXPECT_EQ(chosen(result), "n3");
  EXPECT_EQ(result.score, 50);
}

TEST_F(NodeSearchTest, TiesAreDrawnEvenlyAndByTheSeed) {
  nodes(4);
  profile.score("Score", [](const Cycle& c, NodeRow row) {
    return c.nodes().name_text(row) == "n3" ? Score{0} : Score{10};
  });
  std::map<std::string, int> counts;
  std::vector<std::string> first;
  for (int i = 0; i < 3000; ++i) first.push_back(chosen(search()));
  for (const std::string& name : first) ++counts[name];
  EXPECT_EQ(counts.count("n3"), 0u);
  for (const char* name : {"n1", "n2", "n4"}) {
    EXPECT_GT(counts[name], 850) << name;
    EXPECT_LT(counts[name], 1150) << name;
  }
  world.random = Random(1);
  for (const std::string& name : first) ASSERT_EQ(chosen(search()), name);
}

TEST_F(NodeSearchTest, NothingFitsSaysWhyAndWhoSaidSo) {
  nodes(3);
  profile.filter("A", [](const Cycle& c, NodeRow row) {
    return c.nodes().name_text(row) == "n1" ? Outcome::of(Code::kPending, "later") : Outcome();
  });
  profile.filter("B", [](const Cycle&, NodeRow) { return Outcome::unschedulable("full"); });
  const SearchResult result = search();
  EXPECT_EQ(result.outcome.code, Code::kUnschedulable);
  EXPECT_EQ(result.outcome.message(), "0/3 nodes are available: 1 later, 2 full.");
  ASSERT_TRUE(result.outcome.fit_error);
  EXPECT_THAT(result.outcome.fit_error->unschedulable_plugins, ElementsAre("A", "B"));
  EXPECT_THAT(result.outcome.fit_error->pending_plugins, ElementsAre("A"));
  ASSERT_TRUE(result.nominating) << "without PostFilter plugins the nomination is cleared";
}

TEST_F(NodeSearchTest, PreFilterRejectionStandsForAllNodes) {
  nodes(2);
  profile.pre_filter("A", [](Cycle&) { return Outcome::unschedulable("conflict"); });
  Code absent = Code::kSuccess;
  profile.post_filter("P", [&](Cycle&, const Diagnosis& diagnosis) {
    absent = diagnosis.absent.code;
    return PostFilterResult{Outcome::unschedulable("could not help"), std::nullopt};
  });
  const SearchResult result = search();
  EXPECT_EQ(result.outcome.message(), "0/2 nodes are available: conflict. could not help");
  EXPECT_EQ(absent, Code::kUnschedulable);
  EXPECT_FALSE(result.nominating) << "PostFilter did not say, so it stays";
}

TEST_F(NodeSearchTest, PreFilterRestrictionNarrowsAndIsNamed) {
  nodes(3);
  profile.pre_filter("Narrow",
                     [&](Cycle&) { return PreFilterResult(Outcome(), {world.symbol("n2")}); });
  filter_all([](std::string_view) { return Outcome::unschedulable("full"); });
  const SearchResult result = search();
  EXPECT_THAT(asked, ElementsAre("n2"));
  EXPECT_EQ(result.outcome.message(),
            "0/3 nodes are available: 1 full, 2 node(s) didn't satisfy plugin(s) [Narrow].");
  EXPECT_THAT(result.outcome.fit_error->unschedulable_plugins, ElementsAre("Filter", "Narrow"));
}

TEST_F(NodeSearchTest, AnErrorOnOneNodeFailsTheAttemptAndTheFirstInOrderCounts) {
  nodes(3);
  profile.filter("A", [](const Cycle& c, NodeRow row) {
    return c.nodes().name_text(row) == "n3" ? Outcome::failure("third") : Outcome();
  });
  profile.filter("B", [](const Cycle& c, NodeRow row) {
    return c.nodes().name_text(row) == "n2" ? Outcome::failure("second") : Outcome();
  });
  const SearchResult result = search();
  EXPECT_EQ(result.outcome.code, Code::kError);
  EXPECT_EQ(result.outcome.message(), "running \"B\" filter plugin: second");
}

TEST_F(NodeSearchTest, PostFilterMessageIsPartOfTheSentenceAndItsNominationIsTaken) {
  nodes(1);
  filter_all([](std::string_view) { return Outcome::unschedulable("full"); });
  profile.post_filter("P", [](Cycle&, const Diagnosis&) {
    return PostFilterResult{Outcome(), Nominating::to("n1")};
  });
  const SearchResult result = search();
  EXPECT_EQ(result.outcome.message(), "0/1 nodes are available: 1 full.");
  EXPECT_EQ(result.nominating->node_name, "n1");
}

// ---- filters that take long

TEST_F(NodeSearchTest, RowsThatAFilterPutsOffAreAskedAboutAgainWhenOthersHadTheirTurn) {
  nodes(4);
  int posted = 0;
  int done = 0;
  profile.slow_filter("Slow", [&](const Cycle& c, NodeRow row) {
    EXPECT_EQ(done, posted) << "what was posted in the turn before is done";
    ++posted;
    world.loop.post([&] {
      ++done;
      EXPECT_FALSE(world.cluster.nodes().on_trial());
    });
    return c.nodes().name_text(row) == "n2" ? Outcome::unschedulable("no") : Outcome();
  });
  profile.score("Score", [](const Cycle& c, NodeRow row) -> Score {
    return c.nodes().name_text(row) == "n3" ? 2 : 1;
  });
  const SearchResult result = search();
  EXPECT_EQ(chosen(result), "n3");
  EXPECT_EQ(result.feasible, 3U);
  EXPECT_EQ(result.evaluated, 4U);
  EXPECT_EQ(posted, 4);
}

TEST_F(NodeSearchTest, RowsWithNominatedPodsMayBePutOffToo) {
  nodes(3);
  profile.slow_filter("Slow", [&](const Cycle& c, NodeRow row) {
    world.loop.post([&] { EXPECT_FALSE(world.cluster.nodes().on_trial()); });
    return c.nodes().pod_counts()[row] > 0 ? Outcome::unschedulable("taken") : Outcome();
  });
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  const Ref<const Pod> other = world.pod("other").priority(5);
  world.cluster.see_pod(other);
  world.nominator.nominate(other, world.symbol("n1"));
  const SearchResult result = search();
  EXPECT_EQ(result.feasible, 2U);
  EXPECT_NE(chosen(result), "n1");
}

TEST_F(NodeSearchTest, ASampleIsCompleteWhenAFilterPutsRowsOff) {
  nodes(200);
  percentage = 60;
  profile.slow_filter("Slow");
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  EXPECT_EQ(search().feasible, 120U);
}

TEST_F(NodeSearchTest, TheNominatedNodeMayBePutOff) {
  nodes(3);
  FakeSlowFilter& slow = profile.slow_filter("Slow");
  profile.filter("First", [&](const Cycle&, NodeRow) { return Outcome(); });
  const Ref<const Pod> pod = world.pod("p").nominated("n2");
  Cycle other(pod, world.cluster);  // uses up the first turn
  internal::CycleScratch scratch;
  scratch.reset(world.cluster.nodes().rows());
  other.lend(&scratch);
  EXPECT_TRUE(profile.framework().filter_row(other, world.row("n3")).ok());
  EXPECT_EQ(chosen(search(pod)), "n2");
  EXPECT_EQ(slow.decided, (std::set<NodeRow>{world.row("n2"), world.row("n3")}));
}

// ---- the nominated node first

TEST_F(NodeSearchTest, ANominatedNodeThatFitsIsTheOnlyOneLookedAt) {
  nodes(5);
  filter_all();
  EXPECT_EQ(chosen(search(world.pod("p").nominated("n4"))), "n4");
  EXPECT_THAT(asked, ElementsAre("n4"));
}

TEST_F(NodeSearchTest, ANominatedNodeThatDoesNotFitIsLookedAtAgainWithAllOthers) {
  nodes(3);
  filter_all([](std::string_view name) {
    return name == "n3" ? Outcome() : Outcome::unschedulable("full");
  });
  const SearchResult result = search(world.pod("p").nominated("n1"));
  EXPECT_EQ(chosen(result), "n3");
  EXPECT_THAT(asked, ElementsAre("n1", "n1", "n2", "n3"));
  EXPECT_EQ(result.evaluated, 3u);
}

TEST_F(NodeSearchTest, ANominatedNodeThatIsGoneIsNoted) {
  nodes(1);
  EXPECT_EQ(chosen(search(world.pod("p").nominated("gone"))), "n1");
  EXPECT_EQ(observer.internal_errors.size(), 1u);
}

// ---- sampling

TEST_F(NodeSearchTest, SamplingTakesNodesInTurn) {
  nodes(300);
  percentage = 40;  // 120 of 300
  filter_all();
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  SearchResult result = search();
  EXPECT_EQ(result.feasible, 120u);
  EXPECT_EQ(asked.front(), "n1");
  EXPECT_EQ(asked.size(), 121u) << "one more than enough is found before the search ends";
  search();
  EXPECT_EQ(asked.front(), "n121") << "the next search begins where this one ended";
}

TEST_F(NodeSearchTest, SamplingGoesOnUntilEnoughFit) {
  nodes(200);
  percentage = 50;  // 100 of 200
  filter_all([](std::string_view name) {
    const int number = std::stoi(std::string(name.substr(1)));
    return number % 4 == 0 ? Outcome::unschedulable("no") : Outcome();
  });
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  const SearchResult result = search();
  EXPECT_EQ(result.feasible, 100u);
  EXPECT_EQ(result.evaluated, 133u) << "33 rejected among the first 133";
  search();
  EXPECT_THAT(asked, Contains("n134"));
  EXPECT_THAT(asked, Not(Contains("n133"))) << "the next search goes on from there, round the end";
}

TEST_F(NodeSearchTest, WithoutAnythingToChooseByOneNodeIsEnough) {
  nodes(5);
  filter_all();
  const SearchResult result = search();
  EXPECT_EQ(result.feasible, 1u);
  search();
  EXPECT_EQ(asked.front(), "n2");
}

// ---- extenders

class FakeExtender final : public Extender {
 public:
  std::string_view name() const override { return "http://extender"; }
  bool interested_in(const Pod&) const override { return true; }
  bool ignorable() const override { return is_ignorable; }
  bool filters() const override { return static_cast<bool>(on_filter); }
  bool prioritizes() const override { return static_cast<bool>(on_prioritize); }
  bool binds() const override { return false; }
  std::int64_t weight() const override { return 5; }
  Task<Result<ExtenderVerdicts>> filter(Ref<const Pod>, std::vector<std::string> nodes) override {
    Result<ExtenderVerdicts> answer = on_filter(std::move(nodes));
    co_return answer;
  }
  Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod>,
                                                      std::vector<std::string> nodes) override {
    Result<std::vector<ExtenderScore>> answer = on_prioritize(std::move(nodes));
    co_return answer;
  }
  Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return Result<void>(); }

  bool is_ignorable = false;
  std::function<Result<ExtenderVerdicts>(std::vector<std::string>)> on_filter;
  std::function<Result<std::vector<ExtenderScore>>(std::vector<std::string>)> on_prioritize;
};

TEST_F(NodeSearchTest, ExtendersFilterInTurnAndTheirReasonsCount) {
  nodes(3);
  FakeExtender first, second;
  first.on_filter = [](std::vector<std::string> given) -> Result<ExtenderVerdicts> {
    EXPECT_THAT(given, ElementsAre("n1", "n2", "n3"));
    return ExtenderVerdicts{{"n1", "n2"}, {{"n3", "too far"}}, {}};
  };
  second.on_filter = [](std::vector<std::string> given) -> Result<ExtenderVerdicts> {
    EXPECT_THAT(given, ElementsAre("n1", "n2"));
    return ExtenderVerdicts{{}, {{"n1", "busy"}}, {{"n2", "never"}, {"n1", "busy"}}};
  };
  extenders = {&first, &second};
  const SearchResult result = search();
  EXPECT_EQ(result.outcome.message(), "0/3 nodes are available: 1 busy, 1 never, 1 too far.");
  EXPECT_THAT(result.outcome.fit_error->unschedulable_plugins, ElementsAre("Extender"));
}

TEST_F(NodeSearchTest, AnExtenderMayOnlyNameNodesItWasGiven) {
  nodes(2);
  FakeExtender liar;
  liar.on_filter = [](auto) -> Result<ExtenderVerdicts> {
    return ExtenderVerdicts{{"n9"}, {}, {}};
  };
  extenders = {&liar};
  EXPECT_EQ(search().outcome.message(),
            "extender \"http://extender\" claims a filtered node \"n9\" which is not found in the "
            "input node list");
  liar.is_ignorable = true;
  EXPECT_TRUE(search().outcome.ok());
}

TEST_F(NodeSearchTest, AnExtendersErrorFailsTheAttemptUnlessItMayBeIgnored) {
  nodes(2);
  FakeExtender broken;
  broken.on_filter = [](auto) -> Result<ExtenderVerdicts> {
    return fail(ErrorKind::kUnavailable, "connection refused");
  };
  extenders = {&broken};
  EXPECT_EQ(search().outcome.message(), "connection refused");
  broken.is_ignorable = true;
  EXPECT_TRUE(search().outcome.ok());
}

TEST_F(NodeSearchTest, ExtenderScoresAreScaledAndTheirErrorsCostOnlyThem) {
  nodes(3);
  profile.score("Score", [](const Cycle& c, NodeRow row) {
    return c.nodes().name_text(row) == "n1" ? Score{100} : Score{0};
  });
  FakeExtender scorer, broken;
  scorer.on_prioritize = [](auto) -> Result<std::vector<ExtenderScore>> {
    return std::vector<ExtenderScore>{{"n2", 3}, {"unknown", 10}};
  };
  broken.on_prioritize = [](auto) -> Result<std::vector<ExtenderScore>> {
    return fail(ErrorKind::kTimeout, "too slow");
  };
  extenders = {&scorer, &broken};
  const SearchResult result = search();
  EXPECT_EQ(chosen(result), "n2");
  EXPECT_EQ(result.score, 3 * 5 * 10);
}

}  // namespace
}  // namespace berth
