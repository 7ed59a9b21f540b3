#include "compare/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const SideNames kNames{"A", "B"};

NodeView fits(std::map<std::string, std::int64_t> points) {
  NodeView view;
  view.verdict = NodeView::Verdict::kFits;
  view.there = true;
  for (const auto& [plugin, of_plugin] : points) view.total += of_plugin;
  view.points = std::move(points);
  return view;
}

NodeView rejected(const std::string& plugin, const std::string& reason) {
  NodeView view;
  view.verdict = NodeView::Verdict::kRejected;
  view.there = true;
  view.plugin = plugin;
  view.reason = reason;
  return view;
}

ProbedDecision chose(const std::string& node, NodeView n1, NodeView n2) {
  ProbedDecision decision;
  decision.chosen = node;
  decision.nodes = {{"n1", std::move(n1)}, {"n2", std::move(n2)}};
  return decision;
}

TEST(Cause, ThePluginWhoseDifferenceTurnedTheOrderIsNamed) {
  const Cause cause = find_cause(
      chose("n1", fits({{"Fit", 60}, {"Taint", 100}}), fits({{"Fit", 40}, {"Taint", 100}})),
      chose("n2", fits({{"Fit", 40}, {"Taint", 100}}), fits({{"Fit", 60}, {"Taint", 95}})), kNames);
  EXPECT_EQ(cause.type, Cause::Type::kScore);
  EXPECT_EQ(cause.plugin, "Fit");
  EXPECT_THAT(cause.shifts, ElementsAre(Pair("Fit", 40), Pair("Taint", -5)));
  EXPECT_EQ(
      cause.text,
      "Fit: n1 before n2 by +20 points on side A, by -20 on side B; all plugins: +20 and -15");
}

TEST(Cause, APluginThatOnlyOneSideHasCountsWithAllItsPoints) {
  const Cause cause = find_cause(chose("n1", fits({{"Spread", 10}}), fits({{"Spread", 0}})),
                                 chose("n2", fits({{"Other", 0}}), fits({{"Other", 30}})), kNames);
  EXPECT_EQ(cause.plugin, "Other");
  EXPECT_THAT(cause.shifts, ElementsAre(Pair("Other", 30), Pair("Spread", 10)));
}

TEST(Cause, ARejectionComesBeforePoints) {
  const Cause cause =
      find_cause(chose("n1", fits({}), fits({})),
                 chose("n2", rejected("NodeResourcesFit", "Insufficient cpu"), fits({})), kNames);
  EXPECT_EQ(cause.type, Cause::Type::kFilter);
  EXPECT_EQ(cause.plugin, "NodeResourcesFit");
  EXPECT_EQ(cause.text, "NodeResourcesFit rejects n1 on side B: Insufficient cpu");
}

TEST(Cause, APodWithoutANodeOnOneSideWasRejectedThere) {
  const Cause cause = find_cause(
      chose("", rejected("TaintToleration", "taint"), rejected("TaintToleration", "taint")),
      chose("n2", fits({}), fits({})), kNames);
  EXPECT_EQ(cause.text, "TaintToleration rejects n2 on side A: taint");
}

TEST(Cause, BetweenEqualNodesTheDrawChooses) {
  const Cause cause = find_cause(chose("n1", fits({{"Fit", 50}}), fits({{"Fit", 50}})),
                                 chose("n2", fits({{"Fit", 50}}), fits({{"Fit", 50}})), kNames);
  EXPECT_EQ(cause.type, Cause::Type::kDraw);
  EXPECT_THAT(cause.plugin, IsEmpty());
}

TEST(Cause, ANodeThatWasNotLookedAtSaysSo) {
  NodeView unseen;
  unseen.there = true;
  EXPECT_EQ(find_cause(chose("n1", fits({}), fits({})), chose("n2", unseen, fits({})), kNames).text,
            "the search on side B did not look at n1");
  EXPECT_EQ(
      find_cause(chose("n1", fits({}), fits({})), chose("n2", NodeView(), fits({})), kNames).text,
      "there was no node n1 on side B then");
  ProbedDecision nominated = chose("n2", unseen, fits({}));
  nominated.nominated = "n2";
  EXPECT_THAT(find_cause(chose("n1", fits({}), fits({})), nominated, kNames).text,
              HasSubstr("nominated to n2"));
}

TEST(Cause, PodsThatAreElsewhereAreCounted) {
  ProbedDecision there, here;
  there.placements = {1, 2, 3};
  here.placements = {2, 3, 4, 5};
  EXPECT_EQ(count_elsewhere(there, here), 2);
  EXPECT_EQ(count_elsewhere(there, there), 0);
}

}  // namespace
}  // namespace berth::compare
