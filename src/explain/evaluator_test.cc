#include "explain/evaluator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "explain/testing/evaluator_fixture.h"

namespace berth::explain {
namespace {

using config::ExtensionPoint;

TEST_F(EvaluatorTest, ADecisionHasVerdictsScoresAndTheFirstOfTheBestByName) {
  filter("No", [](const Cycle& cycle, NodeRow row) {
    return cycle.nodes().name_text(row) == "d"
               ? Outcome::of(Code::kUnschedulableAndUnresolvable, "not d")
               : Outcome();
  });
  score("Score1", [](const Cycle& cycle, NodeRow row) -> Score {
    return cycle.nodes().name_text(row) == "a" ? 10 : 40;
  });
  score("Score2", [](const Cycle&, NodeRow) -> Score { return 1; });
  nodes({"d", "c", "b", "a"});
  pod(world.pod("p"));
  const std::vector<PodDecision> decisions = decide();
  ASSERT_EQ(decisions.size(), 1u) << failure;
  const PodDecision& decision = decisions[0];
  EXPECT_EQ(decision.pod, "default/p");
  EXPECT_EQ(decision.all_nodes, 4u);
  ASSERT_EQ(decision.rejected.size(), 1u);
  EXPECT_EQ(decision.rejected.at("d"),
            (Verdict{Code::kUnschedulableAndUnresolvable, "No", {"not d"}}));
  EXPECT_THAT(decision.totals, ElementsAre(Pair("a", 22), Pair("b", 82), Pair("c", 82)));
  EXPECT_THAT(decision.scores.at("a"), ElementsAre(Pair("Score1", 20), Pair("Score2", 2)));
  EXPECT_THAT(decision.best, ElementsAre("b", "c"));
  EXPECT_EQ(decision.chosen, "b");
  EXPECT_THAT(decision.message, IsEmpty());
}

TEST_F(EvaluatorTest, AllWhoRejectANodeAreNamedWhenThatIsAsked) {
  for (const char* name : {"Full", "Tainted", "Fine", "Far"})
    filter(name, [name](const Cycle& cycle, NodeRow row) {
      return cycle.nodes().name_text(row) == "b" || std::string_view(name) == "Fine"
                 ? Outcome()
                 : Outcome::unschedulable(std::string("is ") + name);
    });
  nodes({"a", "b"});
  pod(world.pod("p"));
  EXPECT_THAT(decide().at(0).also_rejected, IsEmpty());
  options.all_rejections = true;
  const PodDecision decision = decide().at(0);
  EXPECT_EQ(decision.chosen, "b");
  EXPECT_EQ(decision.rejected.at("a"), (Verdict{Code::kUnschedulable, "Full", {"is Full"}}));
  EXPECT_THAT(decision.also_rejected.at("a"),
              ElementsAre(Verdict{Code::kUnschedulable, "Tainted", {"is Tainted"}},
                          Verdict{Code::kUnschedulable, "Far", {"is Far"}}));
}

TEST_F(EvaluatorTest, ReasonsAreSorted) {
  filter("No", [](const Cycle&, NodeRow) {
    Outcome outcome = Outcome::unschedulable("z");
    outcome.reasons.push_back("a");
    return outcome;
  });
  nodes({"n"});
  pod(world.pod("p"));
  const std::vector<PodDecision> decisions = decide();
  EXPECT_THAT(decisions.at(0).rejected.at("n").reasons, ElementsAre("a", "z"));
  EXPECT_EQ(decisions[0].message, "0/1 nodes are available: 1 a, 1 z.");
}

TEST_F(EvaluatorTest, PodsAreJudgedInTheOrderOfTheListWhateverTheirScheduler) {
  nodes({"n"});
  pod(world.pod("second").scheduler("somebody-else"));
  pod(world.pod("placed").on("n"));
  pod(world.pod("first").phase(PodPhase::kSucceeded));
  pod(world.pod("gone").on("n").phase(PodPhase::kFailed));
  std::vector<std::string> judged;
  for (const PodDecision& decision : decide()) judged.push_back(decision.pod);
  EXPECT_THAT(judged, ElementsAre("default/second", "default/first"));
}

TEST_F(EvaluatorTest, APodThatIsOverTakesNoRoom) {
  room_for(1);
  nodes({"n"});
  pod(world.pod("over").on("n").phase(PodPhase::kSucceeded));
  pod(world.pod("p"));
  EXPECT_EQ(decide().at(0).chosen, "n") << failure;
}

TEST_F(EvaluatorTest, OnlyInSequenceThePodsBeforeAreThere) {
  room_for(1);
  nodes({"a", "b"});
  for (const char* name : {"p", "q", "r"}) pod(world.pod(name));
  for (const bool sequence : {false, true}) {
    options.sequence = sequence;
    std::vector<std::string> chosen;
    for (const PodDecision& decision : decide()) chosen.push_back(decision.chosen);
    EXPECT_EQ(chosen, sequence ? (std::vector<std::string>{"a", "b", ""})
                               : (std::vector<std::string>{"a", "a", "a"}));
  }
}

TEST_F(EvaluatorTest, EqualPodsInSequenceAreDecidedFromTheirClass) {
  plugin("Score", [](const Handle&) {
    auto scorer = std::make_unique<FakePreScore>("Score");
    scorer->declared = Dependence::kRow;
    scorer->script = [](const Cycle& cycle, NodeRow row) -> Score {
      return 9 - static_cast<Score>(cycle.nodes().pods(row).size());
    };
    return scorer;
  });
  nodes({"a", "b"});
  for (const char* name : {"p", "q", "r", "s"}) pod(world.pod(name));
  options.sequence = true;
  std::vector<std::string> chosen;
  for (const PodDecision& decision : decide()) chosen.push_back(decision.chosen);
  EXPECT_THAT(chosen, ElementsAre("a", "b", "a", "b"));
  EXPECT_EQ(from_classes, 3U);  // the first pod is seen, the second makes the class
}

TEST_F(EvaluatorTest, NominatedPodsTakeTheirPlaceUntilTheyArePlaced) {
  room_for(1);
  nodes({"a", "b"});
  pod(world.pod("p"));
  pod(world.pod("nominated").nominated("a"));
  pod(world.pod("important").priority(5));
  options.sequence = true;
  const std::vector<PodDecision> decisions = decide();
  EXPECT_EQ(decisions.at(0).chosen, "b") << "a is somebody's";
  EXPECT_EQ(decisions.at(1).chosen, "a") << "which is no obstacle for itself";
  EXPECT_EQ(decisions.at(2).chosen, "");
  options.sequence = false;
  EXPECT_EQ(decide().at(2).chosen, "a") << "nobody more important is nominated";
}

TEST_F(EvaluatorTest, APreFilterThatRejectsIsTold) {
  pre_filter("Strict", [](Cycle&) {
    return PreFilterResult(Outcome::of(Code::kUnschedulableAndUnresolvable, "never"));
  });
  nodes({"a", "b"});
  pod(world.pod("p"));
  const PodDecision decision = decide().at(0);
  EXPECT_EQ(decision.pre_filter,
            (Verdict{Code::kUnschedulableAndUnresolvable, "Strict", {"never"}}));
  EXPECT_THAT(decision.rejected, IsEmpty());
  EXPECT_EQ(decision.message, "0/2 nodes are available: never.");
  EXPECT_THAT(decision.unschedulable_plugins, ElementsAre("Strict"));
}

TEST_F(EvaluatorTest, APreFilterThatNarrowsIsTold) {
  pre_filter("Narrow", [](Cycle& cycle) {
    std::vector<Symbol> nodes;
    for (const char* name : {"b", "c"}) nodes.push_back(cycle.symbols().find(name));
    std::ranges::sort(nodes);
    return PreFilterResult(Outcome(), std::move(nodes));
  });
  filter("No", [](const Cycle&, NodeRow) { return Outcome::unschedulable("no"); });
  nodes({"c", "b", "a"});
  pod(world.pod("p"));
  const PodDecision decision = decide().at(0);
  ASSERT_TRUE(decision.narrowed);
  EXPECT_THAT(decision.narrowed->by, ElementsAre("Narrow"));
  EXPECT_THAT(decision.narrowed->to, ElementsAre("b", "c"));
  EXPECT_THAT(decision.rejected,
              UnorderedElementsAre(Pair("b", ::testing::_), Pair("c", ::testing::_)));
  EXPECT_EQ(decision.message,
            "0/3 nodes are available: 1 node(s) didn't satisfy plugin(s) [Narrow], 2 no.");
  EXPECT_THAT(decision.unschedulable_plugins, ElementsAre("Narrow", "No"));
  EXPECT_THAT(decision.pending_plugins, IsEmpty());
}

TEST_F(EvaluatorTest, AnErrorEndsThePodAndNobodyElse) {
  filter("Breaks", [](const Cycle& cycle, NodeRow row) {
    if (cycle.pod().name() != "bad") return Outcome();
    const std::string_view node = cycle.nodes().name_text(row);
    if (node == "a") return Outcome::unschedulable("no");
    return node == "b" ? Outcome::failure("b is broken") : Outcome::failure("c is broken");
  });
  nodes({"a", "b", "c"});
  pod(world.pod("bad"));
  pod(world.pod("good"));
  const std::vector<PodDecision> decisions = decide();
  EXPECT_EQ(decisions.at(0).error, "running \"Breaks\" filter plugin: b is broken");
  EXPECT_THAT(decisions[0].rejected, ElementsAre(Pair("a", ::testing::_))) << "as far as it got";
  EXPECT_THAT(decisions[0].message, IsEmpty());
  EXPECT_EQ(decisions.at(1).chosen, "a");
}

TEST_F(EvaluatorTest, ANominatedPodThatBreaksAPluginEndsThePodAtItsNode) {
  plugin("Counting", [](const Handle&) {
    auto counting = std::make_unique<FakePreFilter>("Counting");
    counting->script = [](Cycle&) { return PreFilterResult(Outcome()); };
    counting->on_add = [](const Pod&, NodeRow) { return Outcome::failure("cannot add"); };
    return counting;
  });
  filter("No", [](const Cycle&, NodeRow) { return Outcome::unschedulable("no"); });
  nodes({"a", "b", "c"});
  pod(world.pod("nominated").nominated("b"));
  pod(world.pod("p"));
  const PodDecision decision = decide().at(1);
  EXPECT_EQ(decision.error, "running AddPod on PreFilter plugin \"Counting\": cannot add");
  EXPECT_THAT(decision.rejected, ElementsAre(Pair("a", ::testing::_)));
}

TEST_F(EvaluatorTest, AFailedScoreLeavesTheVerdicts) {
  filter("No", [](const Cycle& cycle, NodeRow row) {
    return cycle.nodes().name_text(row) == "a" ? Outcome::unschedulable("no") : Outcome();
  });
  score("Score1", [](const Cycle&, NodeRow) -> Score { return 101; });
  nodes({"a", "b"});
  pod(world.pod("p"));
  const PodDecision decision = decide().at(0);
  EXPECT_THAT(decision.error, HasSubstr("plugin \"Score1\" returns an invalid score 101"));
  EXPECT_THAT(decision.rejected, ElementsAre(Pair("a", ::testing::_)));
  EXPECT_THAT(decision.totals, IsEmpty());
  EXPECT_THAT(decision.chosen, IsEmpty());
}

TEST_F(EvaluatorTest, OfSeveralInvalidScoresThatOfTheFirstNodeIsTold) {
  const auto bad_on = [](const char* node, Score score) {
    return [node, score](const Cycle& cycle, NodeRow row) -> Score {
      return cycle.nodes().name_text(row) == node ? score : 7;
    };
  };
  score("Score1", bad_on("c", 101));
  score("Score2", bad_on("b", -1));
  score("Score3", bad_on("b", 102));
  nodes({"a", "b", "c"});
  pod(world.pod("p"));
  EXPECT_THAT(decide().at(0).error, HasSubstr("plugin \"Score2\" returns an invalid score -1,"));
}

TEST_F(EvaluatorTest, ItIsLaterThanAnythingThatTheObjectsTellOf) {
  WallTime now;
  plugin("Clock", [&now](const Handle& handle) {
    auto clock = std::make_unique<FakeFilter>("Clock");
    clock->script = [&now, &loop = handle.loop](const Cycle&, NodeRow) {
      now = loop.wall_now();
      return Outcome();
    };
    return clock;
  });
  nodes({"n"});
  const WallTime started = VirtualLoop::kDefaultStart + std::chrono::hours(1000);
  pod(world.pod("placed").on("n").started(started));
  pod(world.pod("p"));
  decide();
  EXPECT_GT(now, started);
}

// Evicts whoever is on the node, after the cycle, as preemption does.
class Evicting final : public FakePlugin, public PostFilterPlugin {
 public:
  explicit Evicting(const Handle& handle) : FakePlugin("Evicting"), handle_(handle) {}
  Task<PostFilterResult> post_filter(Cycle& cycle, const Diagnosis&) const override {
    PostFilterResult result;
    if (cycle.pod().priority() == 0) {
      result.outcome = Outcome::unschedulable("preemption: not important");
      co_return result;
    }
    const NodeRow row = cycle.nodes().order().front();
    for (const Ref<const Pod>& victim : cycle.nodes().pods(row))
      handle_.loop.post([this, victim] { tasks_.spawn(evict(victim)); });
    result.nominating = Nominating::to(std::string(cycle.nodes().name_text(row)));
    co_return result;
  }

 private:
  Task<void> evict(Ref<const Pod> victim) const {
    Task<Result<void>> evicting = handle_.api.evict(victim);
    co_await evicting;
  }
  Handle handle_;
  mutable TaskSet tasks_;
};

TEST_F(EvaluatorTest, PreemptionIsToldAndNotCarriedOut) {
  room_for(2);
  plugin("Evicting", [](const Handle& handle) { return std::make_unique<Evicting>(handle); });
  nodes({"n"});
  pod(world.pod("z").on("n"));
  pod(world.pod("y").on("n"));
  pod(world.pod("important").priority(1));
  pod(world.pod("plain"));
  EXPECT_FALSE(decide().at(0).preempt) << "not asked for";
  options.preempt = true;
  const std::vector<PodDecision> decisions = decide();
  ASSERT_TRUE(decisions.at(0).preempt);
  EXPECT_EQ(decisions[0].preempt->node, "n");
  EXPECT_THAT(decisions[0].preempt->victims, ElementsAre("default/y", "default/z"));
  EXPECT_THAT(decisions[0].preempt->message, IsEmpty());
  EXPECT_EQ(decisions[0].message, "0/1 nodes are available: 1 full.");
  ASSERT_TRUE(decisions.at(1).preempt);
  EXPECT_THAT(decisions[1].preempt->node, IsEmpty());
  EXPECT_THAT(decisions[1].preempt->victims, IsEmpty());
  EXPECT_EQ(decisions[1].preempt->message, "preemption: not important");
  EXPECT_EQ(decisions[1].message, "0/1 nodes are available: 1 full. preemption: not important");
}

TEST_F(EvaluatorTest, WithoutNodesNothingFits) {
  pod(world.pod("p"));
  EXPECT_EQ(decide().at(0).message, "no nodes available to schedule pods");
}

TEST_F(EvaluatorTest, PodsWithoutUidsAreToldApart) {
  room_for(1);
  nodes({"n"});
  PodDraft draft = draft_of(*world.pod("placed").on("n").build());
  draft.uid.clear();
  objects.emplace_back().object = make_pod(std::move(draft));
  draft = draft_of(*world.pod("p").build());
  draft.uid.clear();
  objects.emplace_back().object = make_pod(std::move(draft));
  const std::vector<PodDecision> decisions = decide();
  ASSERT_EQ(decisions.size(), 1u) << failure;
  EXPECT_EQ(decisions[0].message, "0/1 nodes are available: 1 full.");
}

TEST_F(EvaluatorTest, WhatCannotBeDoneIsOneSentence) {
  options.profile = "packer";
  EXPECT_THAT(decide(), IsEmpty());
  EXPECT_EQ(failure, "no profile is named \"packer\"; there are: default-scheduler");
  options.profile = "default-scheduler";
  nodes({"n"});
  pod(world.pod("p").on("n"));
  pod(world.pod("p").on("n"));
  objects.back().where = "c.yaml: document 1 (line 1): items[2]";
  EXPECT_THAT(decide(), IsEmpty());
  EXPECT_THAT(failure, HasSubstr("c.yaml: document 1 (line 1): items[2]: pod "));
  EXPECT_THAT(failure, HasSubstr("(default/p) was already in added state"));
}

TEST_F(EvaluatorTest, ANodeWhoseScoreCannotBeTakenIsNoneEvenIfItIsTheOnlyOne) {
  nodes({"a"});
  Score points = 7;
  score("Score", [&points](const Cycle&, NodeRow) { return points; });
  const std::unique_ptr<Evaluator> evaluator = loaded();
  EXPECT_TRUE(evaluator->finds_node(world.pod("p")));
  points = -1;
  EXPECT_FALSE(evaluator->finds_node(world.pod("p")));
}

}  // namespace
}  // namespace berth::explain
