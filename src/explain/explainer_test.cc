#include "explain/explainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "explain/testing/evaluator_fixture.h"

namespace berth::explain {
namespace {

struct ExplainerTest : EvaluatorTest {
  ExplainerOptions explainer_options;
  std::unique_ptr<Evaluator> evaluator;

  ExplainerTest() { options.preempt = true; }

  Explanation explain(const Ref<const Pod>& pod) {
    if (!evaluator) evaluator = loaded();
    EXPECT_TRUE(evaluator) << failure;
    return Explainer(*evaluator, explainer_options).explain(pod);
  }
  void rejects(const char* plugin, const char* node, const char* reason, Code code) {
    filter(plugin, [=](const Cycle& cycle, NodeRow row) {
      return cycle.nodes().name_text(row) == node ? Outcome::of(code, reason) : Outcome();
    });
  }
  // "a b: Plugin reason; Other reason", a line for each group of nodes.
  static std::string groups(const Explanation& explanation) {
    std::string text;
    for (const NodeGroup& group : explanation.rejections) {
      for (const std::string& node : group.nodes)
        text += (text.ends_with('\n') || text.empty() ? "" : " ") + node;
      std::string separator = ": ";
      for (const NodeObstacle& by : group.obstacles)
        text += std::exchange(separator, "; ") + by.plugin + " " + by.obstacle.text;
      text += "\n";
    }
    return text;
  }
};

TEST_F(ExplainerTest, NodesAreGroupedByAllTheirReasonsNearestFirst) {
  nodes({"a", "b", "c", "d"});
  filter("Full", [](const Cycle& cycle, NodeRow row) {
    return cycle.nodes().name_text(row) == "d" ? Outcome() : Outcome::unschedulable("full");
  });
  filter("Tainted", [](const Cycle& cycle, NodeRow row) {
    return cycle.nodes().name_text(row) == "b"
               ? Outcome()
               : Outcome::of(Code::kUnschedulableAndUnresolvable, "tainted");
  });
  const Explanation explanation = explain(world.pod("p").build());
  EXPECT_EQ(explanation.verdict, "Unschedulable");
  EXPECT_EQ(explanation.message, "0/4 nodes are available: 1 tainted, 3 full.");
  EXPECT_EQ(groups(explanation),
            "b: Full full\nd: Tainted tainted\na c: Full full; Tainted tainted\n");
  EXPECT_EQ(explanation.rejections[1].obstacles[0].code, Code::kUnschedulableAndUnresolvable);
}

TEST_F(ExplainerTest, APodThatFitsHasItsNodeWithTiesMarginAndRunnersUp) {
  nodes({"a", "b", "c", "d", "e"});
  rejects("Full", "e", "full", Code::kUnschedulable);
  score("Score", [](const Cycle& cycle, NodeRow row) -> Score {
    const std::string_view node = cycle.nodes().name_text(row);
    return node == "a" ? 5 : node == "d" ? 1 : 7;
  });
  explainer_options.runners_up = 1;
  explainer_options.nodes = {"d"};
  const Explanation explanation = explain(world.pod("p").build());
  EXPECT_EQ(explanation.verdict, "Schedulable");
  EXPECT_EQ(explanation.chosen, "b");
  EXPECT_THAT(explanation.ties, ElementsAre("b", "c"));
  EXPECT_EQ(explanation.margin, 4) << "of 14 over 10: the weight is 2";
  ASSERT_EQ(explanation.scores.size(), 3U);
  EXPECT_EQ(explanation.scores[0].node, "b");
  EXPECT_EQ(explanation.scores[1].node, "c");
  EXPECT_EQ(explanation.scores[2].node, "d");
  EXPECT_EQ(explanation.scores[2].plugins[0].raw, 1);
  EXPECT_EQ(explanation.scores[2].plugins[0].weighted, 2);
  EXPECT_EQ(groups(explanation), "e: Full full\n");
}

TEST_F(ExplainerTest, APodThatHasANodeIsJudgedAsIfItHadNoneAndStaysThere) {
  nodes({"a", "b"});
  room_for(1);
  pod(world.pod("p").on("b"));
  pod(world.pod("other").on("a"));
  evaluator = loaded();
  const Ref<const Pod> placed = evaluator->cluster().seen_pod("default", "p");
  for (int i = 0; i < 2; ++i) {
    const Explanation explanation = explain(placed);
    EXPECT_EQ(explanation.verdict, "Scheduled");
    EXPECT_EQ(explanation.chosen, "b");
    EXPECT_EQ(groups(explanation), "a: Room full\n");
  }
  EXPECT_EQ(evaluator->cluster().placed_count(), 2U);
}

TEST_F(ExplainerTest, EventsOfThePluginsThatRejectWakeThePod) {
  nodes({"a"});
  plugin("Full", [](const Handle&) {
    auto filter = std::make_unique<FakeFilter>("Full");
    filter->script = [](const Cycle&, NodeRow) { return Outcome::unschedulable("full"); };
    filter->events = {{.event = events::kNodeAdd, .hint = {}},
                      {.event = events::kAssignedPodDelete, .hint = {}}};
    return filter;
  });
  rejects("Silent", "b", "no", Code::kUnschedulable);
  EXPECT_THAT(explain(world.pod("p").build()).wakes,
              ElementsAre(Pair("Full", ElementsAre("AssignedPodDelete", "NodeAdd"))));
}

TEST_F(ExplainerTest, AGateIsNamedAndTheNodesAreJudgedAllTheSame) {
  nodes({"a"});
  plugin("Gate", [](const Handle&) {
    auto gate = std::make_unique<FakePreEnqueue>("Gate");
    gate->script = [](const Pod&) { return Outcome::unschedulable("waits for approval"); };
    gate->events = {
        {.event = {EventResource::kTargetPod, action::kUpdatePodSchedulingGatesEliminated, {}},
         .hint = {}}};
    return gate;
  });
  const Explanation explanation = explain(world.pod("p").build());
  EXPECT_EQ(explanation.verdict, "Gated");
  EXPECT_EQ(explanation.gate, "Gate");
  EXPECT_EQ(explanation.message, "waits for approval");
  EXPECT_EQ(explanation.chosen, "a");
  EXPECT_EQ(explanation.wakes.size(), 1U);
}

TEST_F(ExplainerTest, PreemptionIsToldWithItsVictimsOrWhyItDoesNotHelp) {
  nodes({"a"});
  rejects("Full", "a", "full", Code::kUnschedulable);
  std::string node;
  plugin("Evict", [&node](const Handle&) {
    auto evict = std::make_unique<FakePostFilter>("Evict");
    evict->script = [&node](Cycle&, const Diagnosis&) {
      return node.empty() ? PostFilterResult{Outcome::unschedulable("no victims"), {}}
                          : PostFilterResult{Outcome(), Nominating::to(node)};
    };
    return evict;
  });
  Explanation explanation = explain(world.pod("p").build());
  ASSERT_TRUE(explanation.preemption);
  EXPECT_EQ(explanation.preemption->message, "no victims");
  node = "a";
  explanation = explain(world.pod("q").build());
  EXPECT_EQ(explanation.verdict, "Unschedulable");
  EXPECT_EQ(explanation.preemption->node, "a");
  EXPECT_EQ(explanation.preemption->message, "");
}

TEST_F(ExplainerTest, AnErrorIsNotARejection) {
  nodes({"a"});
  filter("Broken", [](const Cycle&, NodeRow) { return Outcome::failure("out of order"); });
  const Explanation explanation = explain(world.pod("p").build());
  EXPECT_EQ(explanation.verdict, "Error");
  EXPECT_THAT(explanation.message, HasSubstr("out of order"));
  EXPECT_EQ(explanation.rejections.at(0).obstacles.at(0).obstacle.code, "Error");
}

}  // namespace
}  // namespace berth::explain
