#include "framework/framework.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

// A cluster of three nodes, a pod, and a profile to be filled in.
struct FrameworkTest : ::testing::Test {
  FakeWorld world;
  FakeProfile profile{world};
  internal::CycleScratch scratch;
  std::unique_ptr<Cycle> cycle;

  FrameworkTest() {
    for (const char* name : {"n1", "n2", "n3"}) world.cluster.add_node(world.node(name));
    world.cluster.begin_cycle();
    cycle = std::make_unique<Cycle>(world.pod("p").priority(10), world.cluster);
    scratch.reset(world.cluster.nodes().rows());
    cycle->lend(&scratch);
  }
  NodeSet all() { return world.cluster.nodes().nodes(); }
  std::vector<std::string> names(const NodeSet& rows) {
    std::vector<std::string> found;
    rows.for_each([&](NodeRow row) { found.emplace_back(world.cluster.nodes().name_text(row)); });
    return found;
  }
  PreFilterResult only(std::initializer_list<const char*> nodes) {
    std::vector<Symbol> symbols;
    for (const char* node : nodes) symbols.push_back(world.symbol(node));
    std::ranges::sort(symbols);
    return {Outcome(), symbols};
  }
};

TEST_F(FrameworkTest, PreFilterIntersectsWhatPluginsAllow) {
  profile.pre_filter("A", [&](Cycle&) { return only({"n1", "n2"}); });
  profile.pre_filter("B", [](Cycle&) { return Outcome(); });
  profile.pre_filter("C", [&](Cycle&) { return only({"n2", "n3", "elsewhere"}); });
  const PreFilterRun run = profile.framework().run_pre_filter(*cycle);
  EXPECT_TRUE(run.outcome.ok());
  EXPECT_EQ(run.nodes, std::vector<Symbol>{world.symbol("n2")});
  EXPECT_EQ(run.restricting, (std::set<std::string>{"A", "C"}));
}

TEST_F(FrameworkTest, PreFilterThatLeavesNoNodeNamesWhoDid) {
  profile.pre_filter("B", [&](Cycle&) { return only({"n1"}); });
  profile.pre_filter("A", [&](Cycle&) { return only({"n2"}); });
  profile.pre_filter("Late", [](Cycle&) -> PreFilterResult {
    ADD_FAILURE() << "must not be asked";
    return Outcome();
  });
  const PreFilterRun run = profile.framework().run_pre_filter(*cycle);
  EXPECT_EQ(run.outcome.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(run.outcome.message(), "node(s) didn't satisfy plugin(s) [A B] simultaneously");
}

TEST_F(FrameworkTest, PreFilterOfOnePluginThatAllowsNothing) {
  profile.pre_filter("A", [&](Cycle&) { return only({}); });
  EXPECT_EQ(profile.framework().run_pre_filter(*cycle).outcome.message(),
            "node(s) didn't satisfy plugin A");
}

TEST_F(FrameworkTest, PreFilterUnschedulableLetsOthersRunAndTheLastOneCounts) {
  int asked = 0;
  profile.pre_filter("A", [](Cycle&) { return Outcome::unschedulable("first"); });
  profile.pre_filter("B", [](Cycle&) { return Outcome::unschedulable("second"); });
  profile.pre_filter("C", [&](Cycle&) {
    ++asked;
    return Outcome();
  });
  const PreFilterRun run = profile.framework().run_pre_filter(*cycle);
  EXPECT_EQ(run.outcome.message(), "second");
  EXPECT_EQ(run.outcome.plugin, "B");
  EXPECT_EQ(asked, 1);
}

TEST_F(FrameworkTest, ThoseWhoNarrowedTheNodesAreRejectorsUnlessAnUnresolvableAnswerFollows) {
  struct Case {
    Code code;
    std::set<std::string> rejectors;
  };
  for (const Case& c : {Case{Code::kUnschedulable, {"Narrow", "No"}},
                        Case{Code::kUnschedulableAndUnresolvable, {"No"}}}) {
    FakeProfile of_case(world);
    of_case.pre_filter("Narrow", [&](Cycle&) { return only({"n1"}); });
    of_case.pre_filter("No", [&](Cycle&) { return Outcome::of(c.code, "because"); });
    Diagnosis diagnosis;
    of_case.framework().run_pre_filter(*cycle).note_in(diagnosis);
    EXPECT_EQ(diagnosis.unschedulable_plugins, c.rejectors) << to_string(c.code);
    EXPECT_EQ(diagnosis.pre_filter_message, "because");
  }
}

TEST_F(FrameworkTest, PreFilterStopsAtAnUnresolvableOrUnexpectedAnswer) {
  struct Case {
    Code code;
    Code expected;
    const char* message;
  };
  for (const Case& c :
       {Case{Code::kUnschedulableAndUnresolvable, Code::kUnschedulableAndUnresolvable, "because"},
        Case{Code::kError, Code::kError, "running PreFilter plugin \"A\": because"},
        Case{Code::kPending, Code::kError, "running PreFilter plugin \"A\": because"},
        Case{Code::kWait, Code::kError, "running PreFilter plugin \"A\": because"}}) {
    FakeProfile of_case(world);
    of_case.pre_filter("A", [&](Cycle&) { return Outcome::of(c.code, "because"); });
    of_case.pre_filter("B", [](Cycle&) -> PreFilterResult {
      ADD_FAILURE() << "must not be asked";
      return Outcome();
    });
    const Outcome outcome = of_case.framework().run_pre_filter(*cycle).outcome;
    EXPECT_EQ(outcome.code, c.expected);
    EXPECT_EQ(outcome.message(), c.message);
    EXPECT_EQ(outcome.plugin, "A");
  }
}

TEST_F(FrameworkTest, APluginThatSkipsPreFilterIsLeftOutOfFilterAndOfTrials) {
  auto both = std::make_unique<FakePreFilter>("A");
  both->script = [](Cycle&) { return Outcome::skip(); };
  both->on_add = [](const Pod&, NodeRow) {
    ADD_FAILURE() << "must not be asked";
    return Outcome();
  };
  profile.add(std::move(both), profile.plugins.pre_filter);
  Framework& framework = profile.framework();
  framework.run_pre_filter(*cycle);
  EXPECT_TRUE(cycle->skip_filter.test(0));
  EXPECT_TRUE(framework.run_add_pod(*cycle, cycle->pod(), 0).ok());
}

TEST_F(FrameworkTest, TheFirstFilterThatRejectsANodeDecides) {
  std::vector<std::string> second_asked;
  profile.filter("A", [&](const Cycle&, NodeRow row) {
    return row == world.row("n1") ? Outcome::unschedulable("a") : Outcome();
  });
  profile.filter("B", [&](const Cycle& c, NodeRow row) {
    second_asked.emplace_back(c.nodes().name_text(row));
    return row == world.row("n3") ? Outcome::of(Code::kUnschedulableAndUnresolvable, "b")
                                  : Outcome();
  });
  NodeSet feasible = all();
  Framework& framework = profile.framework();
  framework.run_filters(*cycle, feasible);
  EXPECT_THAT(names(feasible), ElementsAre("n2"));
  EXPECT_THAT(second_asked, ElementsAre("n2", "n3"));
  const Outcome n1 = framework.explain(*cycle, scratch.verdicts[world.row("n1")]);
  EXPECT_EQ(n1.plugin, "A");
  EXPECT_EQ(n1.message(), "a");
  EXPECT_EQ(framework.explain(*cycle, scratch.verdicts[world.row("n3")]).code,
            Code::kUnschedulableAndUnresolvable);
}

TEST_F(FrameworkTest, AnythingButARejectionByFilterIsAnError) {
  profile.filter("A", [](const Cycle&, NodeRow) { return Outcome::of(Code::kSkip, "odd"); });
  Framework& framework = profile.framework();
  const Outcome verdict = framework.explain(*cycle, framework.filter_row(*cycle, world.row("n1")));
  EXPECT_EQ(verdict.code, Code::kError);
  EXPECT_EQ(verdict.message(), "running \"A\" filter plugin: odd");
}

TEST_F(FrameworkTest, AFilterThatThrowsFailsTheNodesItWasAskedAbout) {
  profile.filter("A", [](const Cycle&, NodeRow) -> Outcome { throw std::runtime_error("oops"); });
  Framework& framework = profile.framework();
  const Outcome verdict = framework.explain(*cycle, framework.filter_row(*cycle, world.row("n1")));
  EXPECT_EQ(verdict.message(), "running \"A\" filter plugin: A threw an exception: oops");
}

// ---- nominated pods (core.md §3.4)

struct NominatedCase {
  const char* behaviour;
  std::int32_t priority;
  const char* uid;
  bool counts;
};

TEST_F(FrameworkTest, NominatedPodsOfEqualOrHigherPriorityTakeTheirRoom) {
  for (const NominatedCase& c :
       {NominatedCase{"higher", 11, "", true}, NominatedCase{"equal", 10, "", true},
        NominatedCase{"lower", 9, "", false},
        NominatedCase{"the pod's own", 10, "uid-default-p", false}}) {
    FakeWorld here;
    here.cluster.add_node(here.node("n1"));
    FakeProfile of_case(here);
    // One pod per node.
    of_case.filter("OnePod", [](const Cycle& asked, NodeRow row) {
      return asked.nodes().pod_counts()[row] > 0 ? Outcome::unschedulable("taken") : Outcome();
    });
    PodBuilder other = here.pod("other");
    other.priority(c.priority);
    if (*c.uid) other.uid(c.uid);
    here.nominator.nominate(other, here.symbol("n1"));
    Cycle attempt(here.pod("p").priority(10), here.cluster);
    internal::CycleScratch verdicts;
    verdicts.reset(here.cluster.nodes().rows());
    attempt.lend(&verdicts);
    NodeSet feasible = here.cluster.nodes().nodes();
    EXPECT_TRUE(
        of_case.framework().run_filters_with_nominated(attempt, here.cluster, feasible).ok());
    EXPECT_EQ(feasible.empty(), c.counts) << c.behaviour;
    EXPECT_EQ(here.cluster.nodes().pod_counts()[here.row("n1")], 0) << "the trial is undone";
  }
}

TEST_F(FrameworkTest, ANodeMustAlsoBeGoodWithoutItsNominatedPods) {
  std::vector<std::int64_t> seen;
  profile.filter("NeedsCompany", [&](const Cycle& asked, NodeRow row) {
    seen.push_back(asked.nodes().pod_counts()[row]);
    return asked.nodes().pod_counts()[row] == 0 ? Outcome::unschedulable("lonely") : Outcome();
  });
  world.nominator.nominate(world.pod("other").priority(10), world.symbol("n1"));
  const Result<Status> verdict =
      profile.framework().filter_row_with_nominated(*cycle, world.cluster, world.row("n1"));
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->code, Code::kUnschedulable);
  EXPECT_THAT(seen, ElementsAre(1, 0));
}

TEST_F(FrameworkTest, AFailedPassWithNominatedPodsIsNotRepeatedWithoutThem) {
  int asked = 0;
  profile.filter("No", [&](const Cycle&, NodeRow) {
    ++asked;
    return Outcome::unschedulable("no");
  });
  world.nominator.nominate(world.pod("other").priority(10), world.symbol("n1"));
  static_cast<void>(
      profile.framework().filter_row_with_nominated(*cycle, world.cluster, world.row("n1")));
  EXPECT_EQ(asked, 1);
}

TEST_F(FrameworkTest, AFailingAddPodEndsTheAttempt) {
  auto& plugin = profile.pre_filter("A", [](Cycle&) { return Outcome(); });
  plugin.on_add = [](const Pod&, NodeRow) { return Outcome::failure("broken"); };
  world.nominator.nominate(world.pod("other").priority(10), world.symbol("n1"));
  NodeSet feasible = all();
  EXPECT_EQ(
      profile.framework().run_filters_with_nominated(*cycle, world.cluster, feasible).message(),
      "running AddPod on PreFilter plugin \"A\": broken");
}

TEST_F(FrameworkTest, APluginWithoutExtensionsIsNotToldOfPodsThatCome) {
  auto& plugin = profile.pre_filter("A", [](Cycle&) { return Outcome(); });
  plugin.on_add = [](const Pod&, NodeRow) { return Outcome::failure("broken"); };
  plugin.on_remove = plugin.on_add;
  plugin.extensions = false;
  const Ref<const Pod> other = world.pod("other");
  EXPECT_TRUE(profile.framework().run_add_pod(*cycle, *other, world.row("n1")).ok());
  EXPECT_TRUE(profile.framework().run_remove_pod(*cycle, *other, world.row("n1")).ok());
}

// ---- PostFilter

TEST_F(FrameworkTest, PostFilterCollectsReasonsUntilSomeoneSucceeds) {
  profile.post_filter("A", [](Cycle&, const Diagnosis&) {
    return PostFilterResult{Outcome::unschedulable("a"), Nominating::clear()};
  });
  profile.post_filter("B", [](Cycle&, const Diagnosis&) {
    return PostFilterResult{Outcome::unschedulable("b"), std::nullopt};
  });
  const PostFilterResult none =
      run_task(world.loop, profile.framework().run_post_filter(*cycle, {}));
  EXPECT_EQ(none.outcome.code, Code::kUnschedulable);
  EXPECT_EQ(none.outcome.message(), "a, b");
  EXPECT_EQ(none.outcome.plugin, "A");
  ASSERT_TRUE(none.nominating.has_value());
  EXPECT_EQ(none.nominating->node_name, "");

  FakeProfile helped(world);
  helped.post_filter("A", [](Cycle&, const Diagnosis&) {
    return PostFilterResult{Outcome::unschedulable("a"), std::nullopt};
  });
  helped.post_filter("B", [](Cycle&, const Diagnosis&) {
    return PostFilterResult{Outcome(), Nominating::to("n2")};
  });
  helped.post_filter("C", [](Cycle&, const Diagnosis&) -> PostFilterResult {
    ADD_FAILURE() << "must not be asked";
    return {};
  });
  const PostFilterResult found =
      run_task(world.loop, helped.framework().run_post_filter(*cycle, {}));
  EXPECT_TRUE(found.outcome.ok());
  EXPECT_EQ(found.outcome.message(), "") << "reasons of those who could not help are dropped";
  EXPECT_EQ(found.nominating->node_name, "n2");
}

TEST_F(FrameworkTest, PostFilterEndsAtAnErrorAndKeepsNoNomination) {
  profile.post_filter("A", [](Cycle&, const Diagnosis&) {
    return PostFilterResult{Outcome::failure("not found"), Nominating::clear()};
  });
  profile.post_filter("B", [](Cycle&, const Diagnosis&) -> PostFilterResult {
    ADD_FAILURE() << "must not be asked";
    return {};
  });
  const PostFilterResult result =
      run_task(world.loop, profile.framework().run_post_filter(*cycle, {}));
  EXPECT_EQ(result.outcome.code, Code::kError);
  EXPECT_EQ(result.outcome.message(), "not found");
  EXPECT_FALSE(result.nominating.has_value());
}

// ---- Score

TEST_F(FrameworkTest, TotalsAreWeightedSums) {
  profile.score(
      "A", [&](const Cycle&, NodeRow row) { return row == world.row("n2") ? 100 : 10; }, 3);
  profile.score("B", [](const Cycle&, NodeRow) { return Score{1}; });
  auto& skipped = profile.score("C", [](const Cycle&, NodeRow) -> Score {
    ADD_FAILURE() << "must not be asked";
    return 0;
  });
  skipped.pre = [](Cycle&) { return Outcome::skip(); };
  std::vector<Score> totals(world.cluster.nodes().rows());
  Framework& framework = profile.framework();
  ASSERT_TRUE(framework.run_pre_score(*cycle, all()).ok());
  ASSERT_TRUE(framework.run_scores(*cycle, all(), totals).ok());
  EXPECT_EQ(totals[world.row("n1")], 31);
  EXPECT_EQ(totals[world.row("n2")], 301);
}

TEST_F(FrameworkTest, AScoreOutOfRangeFailsTheAttempt) {
  for (const Score bad : {Score{-1}, Score{101}}) {
    FakeProfile of_case(world);
    of_case.score("A", [&](const Cycle&, NodeRow) { return bad; });
    std::vector<Score> totals(world.cluster.nodes().rows());
    const Outcome outcome = of_case.framework().run_scores(*cycle, all(), totals);
    EXPECT_EQ(outcome.code, Code::kError);
    EXPECT_EQ(
        outcome.message(),
        "applying score defaultWeights on Score plugins: plugin \"A\" returns an invalid score " +
            std::to_string(bad) + ", it should in the range of [0, 100] after normalizing");
  }
}

TEST_F(FrameworkTest, PreScoreAndScoreFailuresAreTold) {
  auto& plugin =
      profile.score("A", [](const Cycle&, NodeRow) -> Score { throw std::runtime_error("oops"); });
  plugin.pre = [](Cycle&) { return Outcome::unschedulable("no"); };
  Framework& framework = profile.framework();
  EXPECT_EQ(framework.run_pre_score(*cycle, all()).message(), "running PreScore plugin \"A\": no");
  std::vector<Score> totals(world.cluster.nodes().rows());
  EXPECT_EQ(framework.run_scores(*cycle, all(), totals).message(),
            "running Score plugins: plugin \"A\" failed with: A threw an exception: oops");
}

// ---- Reserve, Permit, Bind

TEST_F(FrameworkTest, UnreserveRunsForAllInReverseAlsoForThoseNeverReached) {
  std::vector<std::string> calls;
  for (const char* name : {"A", "B", "C"}) {
    auto& plugin = profile.reserve(name, [&calls, name](Cycle&) {
      calls.push_back(std::string("reserve ") + name);
      return std::string_view(name) == "B" ? Outcome::unschedulable("no") : Outcome();
    });
    plugin.undo = [&calls, name](Cycle&) { calls.push_back(std::string("unreserve ") + name); };
  }
  Framework& framework = profile.framework();
  const Outcome outcome = framework.run_reserve(*cycle, "n1");
  EXPECT_EQ(outcome.plugin, "B");
  EXPECT_EQ(outcome.code, Code::kUnschedulable);
  framework.run_unreserve(*cycle, "n1");
  EXPECT_THAT(calls,
              ElementsAre("reserve A", "reserve B", "unreserve C", "unreserve B", "unreserve A"));
}

TEST_F(FrameworkTest, ReserveErrorsAreWrapped) {
  profile.reserve("A", [](Cycle&) { return Outcome::failure("disk on fire"); });
  EXPECT_EQ(profile.framework().run_reserve(*cycle, "n1").message(),
            "running Reserve plugin \"A\": disk on fire");
}

TEST_F(FrameworkTest, PermitCollectsThoseWhoWait) {
  profile.permit("A", [](Cycle&) { return PermitResult::wait(std::chrono::seconds(5), "hm"); });
  profile.permit("B", [](Cycle&) { return PermitResult(); });
  profile.permit("C", [](Cycle&) { return PermitResult::wait(std::chrono::seconds(9), "well"); });
  const PermitRun run = profile.framework().run_permit(*cycle, "n1");
  EXPECT_EQ(run.outcome.code, Code::kWait);
  EXPECT_EQ(run.outcome.message(),
            "well, one or more plugins asked to wait and no plugin rejected pod");
  ASSERT_EQ(run.holds.size(), 2u);
  EXPECT_EQ(run.holds[0].plugin, "A");
  EXPECT_EQ(run.holds[1].timeout, std::chrono::seconds(9));
}

TEST_F(FrameworkTest, PermitRejectionEndsIt) {
  profile.permit("A", [](Cycle&) { return PermitResult::wait(std::chrono::seconds(5)); });
  profile.permit("B", [](Cycle&) { return PermitResult{Outcome::unschedulable("quota"), {}}; });
  profile.permit("C", [](Cycle&) -> PermitResult {
    ADD_FAILURE() << "must not be asked";
    return {};
  });
  const PermitRun run = profile.framework().run_permit(*cycle, "n1");
  EXPECT_EQ(run.outcome.code, Code::kUnschedulable);
  EXPECT_EQ(run.outcome.plugin, "B");
  EXPECT_TRUE(run.holds.empty());
}

TEST_F(FrameworkTest, TheFirstBinderThatDoesNotSkipBinds) {
  profile.bind("A", [](Cycle&, std::string_view) { return Outcome::skip(); });
  profile.bind("B", [](Cycle&, std::string_view) { return Outcome::failure("conflict"); });
  profile.bind("C", [](Cycle&, std::string_view) {
    ADD_FAILURE() << "must not be asked";
    return Outcome();
  });
  EXPECT_EQ(run_task(world.loop, profile.framework().run_bind(*cycle, "n1")).message(),
            "running Bind plugin \"B\": conflict");

  FakeProfile all_skip(world);
  all_skip.bind("A", [](Cycle&, std::string_view) { return Outcome::skip(); });
  EXPECT_EQ(run_task(world.loop, all_skip.framework().run_bind(*cycle, "n1")).code, Code::kSkip);
}

// ---- what the queue is told

TEST_F(FrameworkTest, APluginThatDoesNotSayIsRegisteredForEverything) {
  auto& silent = profile.filter("Silent", [](const Cycle&, NodeRow) { return Outcome(); });
  silent.events = std::nullopt;
  auto& none = profile.filter("None", [](const Cycle&, NodeRow) { return Outcome(); });
  none.events = std::vector<EventRegistration>();
  auto& nodes = profile.filter("Nodes", [](const Cycle&, NodeRow) { return Outcome(); });
  nodes.events = std::vector<EventRegistration>{{{EventResource::kNode, action::kAdd, {}}, {}}};
  profile.score("Scorer", [](const Cycle&, NodeRow) { return Score{0}; });

  const auto events = profile.framework().queueing_events();
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 3u) << "plugins that cannot reject are not asked";
  EXPECT_EQ((*events)[0].events.size(), 10u);
  EXPECT_TRUE((*events)[1].events.empty());
  ASSERT_EQ((*events)[2].events.size(), 1u) << "nothing is added to what a plugin says";
  EXPECT_EQ((*events)[2].events[0].event.actions, action::kAdd);
}

TEST_F(FrameworkTest, AProfileWithAPluginThatCannotSignHasNoSignatures) {
  profile.filter("A", [](const Cycle&, NodeRow) { return Outcome(); });
  EXPECT_EQ(profile.framework().sign(cycle->pod()), std::nullopt);
  FakeProfile empty(world);
  EXPECT_TRUE(empty.framework().sign(cycle->pod()).has_value());
}

}  // namespace
}  // namespace berth
