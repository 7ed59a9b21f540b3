#include "explain/decision_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace berth::explain {
namespace {

using ::testing::HasSubstr;

PodDecision placed() {
  PodDecision decision;
  decision.pod = "default/web";
  decision.all_nodes = 3;
  decision.rejected["c"] = {Code::kUnschedulable, "NodeResourcesFit", {"Insufficient cpu"}};
  decision.scores = {{"a", {{"Fit", 10}, {"Taint", 300}}}, {"b", {{"Fit", 7}, {"Taint", 300}}}};
  decision.totals = {{"a", 310}, {"b", 307}};
  decision.best = {"a"};
  decision.chosen = "a";
  return decision;
}

PodDecision stuck() {
  PodDecision decision;
  decision.pod = "default/\"x\"";
  decision.all_nodes = 1;
  decision.pre_filter = Verdict{Code::kUnschedulableAndUnresolvable, "", {}};
  decision.narrowed = Narrowing{{"NodeAffinity"}, {}};
  decision.message = "0/1 nodes are available: 1 no.";
  decision.unschedulable_plugins = {"DynamicResources", "NodeAffinity"};
  decision.pending_plugins = {"DynamicResources"};
  decision.preempt = PreemptionOutcome{"n", {"default/a", "default/b"}, ""};
  decision.error = "broken";
  return decision;
}

TEST(DecisionJson, HasTheFieldsInTheirOrderAndLeavesOutWhatIsEmpty) {
  const PodDecision decisions[] = {placed(), stuck()};
  EXPECT_EQ(to_json(decisions), R"({
 "decisions": [
  {
   "pod": "default/web",
   "rejected": {
    "c": {
     "code": "Unschedulable",
     "plugin": "NodeResourcesFit",
     "reasons": [
      "Insufficient cpu"
     ]
    }
   },
   "scores": {
    "a": {
     "Fit": 10,
     "Taint": 300
    },
    "b": {
     "Fit": 7,
     "Taint": 300
    }
   },
   "totals": {
    "a": 310,
    "b": 307
   },
   "best": [
    "a"
   ],
   "chosen": "a"
  },
  {
   "pod": "default/\"x\"",
   "preFilter": {
    "code": "UnschedulableAndUnresolvable"
   },
   "narrowed": {
    "by": [
     "NodeAffinity"
    ],
    "to": []
   },
   "message": "0/1 nodes are available: 1 no.",
   "unschedulablePlugins": [
    "DynamicResources",
    "NodeAffinity"
   ],
   "pendingPlugins": [
    "DynamicResources"
   ],
   "preempt": {
    "node": "n",
    "victims": [
     "default/a",
     "default/b"
    ]
   },
   "error": "broken"
  }
 ]
}
)");
}

TEST(DecisionJson, OfNoPodsIsAnEmptyList) { EXPECT_EQ(to_json({}), "{\n \"decisions\": []\n}\n"); }

TEST(DecisionTable, TellsTheChoiceTheScoresAndWhyNotElsewhere) {
  const PodDecision decisions[] = {placed()};
  EXPECT_EQ(to_table(decisions), R"(default/web  ->  a
  2 of 3 nodes fit
             a    b
    Fit     10    7
    Taint  300  300
    total  310  307
  1 of 3 nodes does not
       1  NodeResourcesFit: Insufficient cpu
          c

1 pending pod: 1 with a node, 0 without
)");
}

TEST(DecisionTable, TellsWhatIsInTheWay) {
  const PodDecision decisions[] = {stuck()};
  EXPECT_EQ(to_table(decisions), R"(default/"x"  ->  no node
  failed: broken
  PreFilter turned it away:
  NodeAffinity left 0 of 1 node:
  0/1 nodes are available: 1 no.
  rejected by: DynamicResources, NodeAffinity
  pending at: DynamicResources
  preemption makes room on n by evicting 2 pods: default/a, default/b

1 pending pod: 0 with a node, 1 without
)");
}

TEST(DecisionTable, NamesAllWhoRejectANodeWhenTheyAreKnown) {
  PodDecision decision = placed();
  decision.also_rejected["c"] = {{Code::kUnschedulableAndUnresolvable,
                                  "TaintToleration",
                                  {"node(s) had untolerated taint(s)"}}};
  EXPECT_THAT(to_paragraph(decision),
              HasSubstr("       1  NodeResourcesFit: Insufficient cpu\n"
                        "          TaintToleration: node(s) had untolerated taint(s) (preemption"
                        " cannot help)\n"
                        "          c\n"));
  EXPECT_THAT(to_json_line(decision),
              HasSubstr(R"("alsoRejected": {"c": [{"code": "UnschedulableAndUnresolvable", )"
                        R"("plugin": "TaintToleration", )"));
}

TEST(DecisionTable, StaysReadableWithManyNodes) {
  PodDecision decision;
  decision.pod = "default/p";
  decision.all_nodes = 5000;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = fmt::format("ip-10-0-{}-{}.ec2.internal", i / 100, i % 100);
    if (i % 2 == 0) {
      decision.totals[name] = 100 + i;
      decision.scores[name]["NodeResourcesBalancedAllocation"] = 100 + i;
    } else {
      decision.rejected[name] = {Code::kUnschedulableAndUnresolvable,
                                 "TaintToleration",
                                 {"node(s) had untolerated taint(s)"}};
    }
  }
  decision.best = {"ip-10-0-49-98.ec2.internal"};
  decision.chosen = decision.best.front();
  const std::string text = to_table(std::span(&decision, 1));
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_LT(count, 25u);
  EXPECT_THAT(text, HasSubstr("2500 of 5000 nodes fit\n"));
  EXPECT_THAT(text, HasSubstr("    and 2498 nodes with lower scores\n"));
  EXPECT_THAT(text, HasSubstr("2500  TaintToleration: node(s) had untolerated taint(s)"
                              " (preemption cannot help)\n"));
  EXPECT_THAT(text, HasSubstr("and 2480 more\n"));
}

}  // namespace
}  // namespace berth::explain
