// NodeSearch: what it tells whoever asked for a trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "search/testing/search_fixture.h"

namespace berth {
namespace {

std::string in_words(const FakeWorld& world, const SearchTrace& trace) {
  const NodeTable& nodes = world.cluster.nodes();
  std::string text;
  for (const SearchTrace::Rejected& entry : trace.rejected) {
    text += std::string(nodes.name_text(entry.row)) + ": " + entry.by.plugin + " " +
            entry.by.message() + "\n";
  }
  trace.feasible.for_each([&](NodeRow row) {
    text += std::string(nodes.name_text(row)) + ":";
    for (const SearchTrace::Scores& scores : trace.scores) {
      const SearchTrace::Points& points = scores.by_row[row];
      text += " " + scores.name + " " + std::to_string(points.raw) + "/" +
              std::to_string(points.normalized) + "/" + std::to_string(points.weighted);
    }
    if (!trace.totals.empty()) text += " = " + std::to_string(trace.totals[row]);
    text += "\n";
  });
  for (const NodeRow row : trace.best) text += "best " + std::string(nodes.name_text(row)) + "\n";
  return text;
}

TEST_F(NodeSearchTest, ATraceTellsWhoRejectedANodeAndWhoGaveItHowManyPoints) {
  nodes(4);
  const auto rejects = [](std::string_view node, std::string why) {
    return [=](const Cycle& c, NodeRow row) {
      return c.nodes().name_text(row) == node ? Outcome::unschedulable(why) : Outcome();
    };
  };
  profile.filter("F", rejects("n1", "full")).declared = Dependence::kRow;
  profile.filter("G", rejects("n1", "also full")).declared = Dependence::kRow;
  profile.filter("H", rejects("n4", "tainted")).declared = Dependence::kRow;
  const auto by_name = [](const Cycle& c, NodeRow row) -> Score {
    return c.nodes().name_text(row) == "n2" ? 3 : 5;
  };
  profile.score("A", by_name, 2).declared = Dependence::kRow;
  profile.score("B", [](const Cycle&, NodeRow) -> Score { return 1; }).declared = Dependence::kRow;

  SearchTrace first;
  EXPECT_EQ(chosen(search(world.pod("p"), &first)), "n3");
  constexpr std::string_view kPoints =
      "n2: A 3/3/6 B 1/1/1 = 7\n"
      "n3: A 5/5/10 B 1/1/1 = 11\n"
      "best n3\n";
  EXPECT_EQ(in_words(world, first), "n1: F full\nn4: H tainted\n" + std::string(kPoints));

  // Decided from what is kept, and told in full all the same.
  search(world.pod("p"));
  const std::size_t kept = searcher().decided_from_kept();
  EXPECT_GT(kept, 0U);
  SearchTrace later;
  EXPECT_EQ(chosen(search(world.pod("p"), &later)), "n3");
  EXPECT_EQ(searcher().decided_from_kept(), kept + 1);
  EXPECT_EQ(in_words(world, later), in_words(world, first));
}

TEST_F(NodeSearchTest, OfflineTheOnlyNodeIsScoredToo) {
  policy.scores_single = true;
  nodes(1);
  profile.score("A", [](const Cycle&, NodeRow) -> Score { return 4; });
  SearchTrace trace;
  EXPECT_EQ(search(world.pod("p"), &trace).score, 0);
  EXPECT_EQ(in_words(world, trace), "n1: A 4/4/4 = 4\nbest n1\n");
}

TEST_F(NodeSearchTest, ATraceDoesNotChangeWhatBecomesOfAPod) {
  nodes(1);
  profile.score("TooMuch", [](const Cycle&, NodeRow) -> Score { return 400; });
  SearchTrace trace;
  EXPECT_EQ(chosen(search(world.pod("p"), &trace)), "n1");
  EXPECT_TRUE(trace.feasible.contains(world.row("n1")));
  EXPECT_TRUE(trace.scores.empty());
}

TEST_F(NodeSearchTest, ATraceTellsWhatPreFilterLeft) {
  nodes(3);
  profile.pre_filter("P", [&](Cycle&) {
    return PreFilterResult(Outcome(), {world.symbol("n2"), world.symbol("n9")});
  });
  SearchTrace trace;
  search(world.pod("p"), &trace);
  ASSERT_TRUE(trace.narrowed);
  EXPECT_THAT(trace.narrowed->by, ElementsAre("P"));
  EXPECT_THAT(trace.narrowed->to, ElementsAre(world.row("n2")));
}

TEST_F(NodeSearchTest, ATraceEndsAtTheFirstError) {
  nodes(4);
  filter_all([](std::string_view node) {
    if (node == "n1") return Outcome::unschedulable("full");
    return node == "n3" ? Outcome::failure("broken") : Outcome();
  });
  SearchTrace trace;
  EXPECT_FALSE(search(world.pod("p"), &trace).outcome.ok());
  EXPECT_EQ(in_words(world, trace), "n1: Filter full\n");
}

TEST_F(NodeSearchTest, OfflineTheFirstOfTheBestByNameIsTaken) {
  policy.draws_ties = false;
  for (const char* name : {"n3", "n1", "n2"}) world.cluster.add_node(world.node(name));
  profile.score("A", [](const Cycle&, NodeRow) -> Score { return 4; });
  for (int i = 0; i < 10; ++i) {
    SearchTrace trace;
    EXPECT_EQ(chosen(search(world.pod("p"), &trace)), "n1");
    EXPECT_EQ(trace.chosen, world.row("n1"));
    EXPECT_EQ(trace.best.size(), 3U);
  }
}

TEST_F(NodeSearchTest, ATraceTellsThatNothingFitsAndWhatPostFilterMadeOfIt) {
  nodes(2);
  filter_all([](std::string_view) { return Outcome::unschedulable("full"); });
  profile.post_filter("P", [](Cycle&, const Diagnosis&) {
    return PostFilterResult{Outcome(), Nominating::to("n2")};
  });
  SearchTrace trace;
  search(world.pod("p"), &trace);
  EXPECT_EQ(trace.outcome.message(), "0/2 nodes are available: 2 full.");
  ASSERT_TRUE(trace.post_filter);
  EXPECT_EQ(trace.post_filter->nominated, "n2");
  EXPECT_EQ(trace.chosen, kNoRow);
}

TEST_F(NodeSearchTest, ATraceTellsThatThereAreNoNodes) {
  SearchTrace trace;
  search(world.pod("p"), &trace);
  EXPECT_EQ(trace.outcome.message(), kNoNodesAvailable);
}

}  // namespace
}  // namespace berth
