// Who may preempt, which nodes are looked at, and which one is chosen.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "framework/testing/preemption_fixture.h"

namespace berth {
namespace {

// ---- which node

TEST_F(PreemptionTest, TheNodeWhereItHurtsLeast) {
  struct Victim {
    int priority;
    int started;
  };
  struct Row {
    const char* what;
    std::int64_t violations[2];
    std::vector<Victim> nodes[2];  // the first is the right one
  };
  const Row rows[] = {
      {"fewest broken budgets", {0, 1}, {{{9, 1}, {9, 1}}, {{0, 1}}}},
      {"lowest highest priority", {1, 1}, {{{5, 1}, {5, 1}}, {{6, 1}}}},
      {"lowest sum of priorities", {0, 0}, {{{5, 1}, {1, 1}}, {{5, 1}, {2, 1}}}},
      {"more pods are worse however low they are", {0, 0}, {{{5, 1}}, {{5, 1}, {-9, 1}}}},
      {"the most important ones started latest", {0, 0}, {{{5, 7}, {1, 1}}, {{5, 6}, {1, 9}}}},
      {"by the earliest of them", {0, 0}, {{{5, 7}, {5, 7}}, {{5, 9}, {5, 6}}}},
      {"one that has not started is the latest", {0, 0}, {{{5, -1}}, {{5, 9}}}},
      {"among equals the first", {0, 0}, {{{5, 7}}, {{5, 7}}}},
  };
  for (const Row& row : rows) {
    std::vector<PreemptionCandidate> candidates;
    for (const int i : {0, 1}) {
      PreemptionCandidate candidate{fmt::format("n{}", i), {}};
      candidate.victims.pdb_violations = row.violations[i];
      for (const Victim& victim : row.nodes[i]) {
        auto pod = world.pod("v");
        pod.priority(victim.priority);
        if (victim.started >= 0) pod.started(minute(victim.started));
        candidate.victims.pods.push_back(pod);
      }
      candidates.push_back(std::move(candidate));
    }
    EXPECT_EQ(pick_one_node_for_preemption(candidates), 0u) << row.what;
    if (std::string_view(row.what) == "among equals the first") continue;
    std::swap(candidates[0], candidates[1]);
    EXPECT_EQ(pick_one_node_for_preemption(candidates), 1u) << row.what;
  }
}

TEST_F(PreemptionTest, HowManyCandidatesAreEnough) {
  struct Row {
    std::size_t nodes;
    PreemptionLimits limits;
    std::size_t expected;
  };
  const Row rows[] = {{0, {10, 100}, 0},     {50, {10, 100}, 50},    {100, {10, 100}, 100},
                      {500, {10, 100}, 100}, {5000, {10, 100}, 500}, {5000, {0, 7}, 7},
                      {200, {100, 0}, 200},  {15, {10, 0}, 1}};
  for (const Row& row : rows)
    EXPECT_EQ(candidates_to_find(row.nodes, row.limits), row.expected) << row.nodes;
}

TEST_F(PreemptionTest, TheSearchEndsWithEnoughCandidates) {
  for (int i = 0; i < 10; ++i) {
    node(fmt::format("n{}", i));
    place(fmt::format("p{}", i), fmt::format("n{}", i), 0, 1, "4");
  }
  choose(important("4"), {0, 3});
  EXPECT_EQ(asked.size(), 3u);
  choose(important("4"), {100, 0});
  EXPECT_EQ(asked.size(), 10u);
}

TEST_F(PreemptionTest, ItGoesOnUntilOneBreaksNoBudget) {
  for (int i = 0; i < 10; ++i) {
    node(fmt::format("n{}", i));
    place(fmt::format("p{}", i), fmt::format("n{}", i), 0, 1, "4", i == 4 ? "" : "web");
  }
  budget("pdb", "web", 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(chosen(important("4"), {0, 1}), "n4: p4") << i;
}

TEST_F(PreemptionTest, TheSearchBeginsAtADrawnNode) {
  for (int i = 0; i < 4; ++i) {
    node(fmt::format("n{}", i));
    place(fmt::format("p{}", i), fmt::format("n{}", i), 0, 1, "4");
  }
  std::set<std::string> drawn;
  for (int i = 0; i < 100; ++i) drawn.insert(chosen(important("4"), {0, 1}));
  EXPECT_THAT(drawn, ElementsAre("n0: p0", "n1: p1", "n2: p2", "n3: p3"));
}

// ---- who may

TEST_F(PreemptionTest, WhoMayPreempt) {
  node("n1");
  place("low", "n1", 0, 1, "3");
  PodCondition ours;
  ours.type = "DisruptionTarget";
  ours.status = "True";
  ours.reason = "PreemptionByScheduler";
  PodCondition drained = ours;
  drained.reason = "EvictionByEvictionAPI";
  struct Row {
    const char* what;
    bool never;
    std::string nominated;
    std::optional<PodCondition> condition;  // of a pod that is going
    int going_priority;
    bool unresolvable;
    std::string expected;
  };
  const std::string waits = "not eligible due to a terminating pod on the nominated node.";
  const Row rows[] = {
      {"anybody", false, "", {}, 0, false, "n1: low going"},
      {"policy Never", true, "", {}, 0, false, "not eligible due to preemptionPolicy=Never."},
      {"a victim of ours is going", false, "n1", ours, 0, false, waits},
      {"somebody else's victim is going", false, "n1", drained, 0, false, "n1: low going"},
      {"it just goes", false, "n1", {}, 0, false, "n1: low going"},
      {"it is not less important", false, "n1", ours, 1000, false, "n1: low"},
      {"nominated elsewhere", false, "n9", ours, 0, false, "n1: low going"},
      {"the node is of no use any more", false, "n1", ours, 0, true,
       "0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
  };
  for (const Row& row : rows) {
    auto going = world.pod("going");
    going.on("n1").priority(row.going_priority).cpu("1").started(minute(2)).deleted(minute(9));
    if (row.condition) going.condition(*row.condition);
    const Ref<const Pod> placed = going;
    place(placed);
    auto pod = world.pod("high");
    pod.priority(1000).cpu(row.going_priority == 1000 ? "3" : "4");
    if (row.never) pod.never_preempts();
    if (!row.nominated.empty()) pod.nominated(row.nominated);
    if (row.unresolvable) unresolvable.insert("n1");
    const Preemption::Choice choice = choose(pod);
    EXPECT_EQ(text_of(choice), row.expected) << row.what;
    if (row.expected.starts_with("not eligible")) {
      EXPECT_EQ(choice.outcome.code, Code::kUnschedulable);
      EXPECT_FALSE(choice.nominating) << "the nomination stays";
    }
    unresolvable.clear();
    ASSERT_TRUE(world.cluster.remove_pod(*placed).has_value());
  }
}

TEST_F(PreemptionTest, APodThatIsGoneIsAnError) {
  node("n1");
  place("low", "n1", 0, 1, "4");
  const Ref<const Pod> pod = important("4");
  internal::CycleScratch scratch;
  scratch.reset(world.cluster.nodes().rows());
  Cycle cycle(pod, world.cluster);
  cycle.lend(&scratch);
  cycle.framework = &profile.framework();
  const Preemption preemption(world.handle(), {});
  const Diagnosis diagnosis;
  const Preemption::Choice choice =
      testing::run_task(world.loop, preemption.choose(cycle, diagnosis));
  EXPECT_EQ(choice.outcome.code, Code::kError);
  EXPECT_EQ(choice.outcome.message(), "pod \"high\" not found");
}

// ---- what may go wrong

TEST_F(PreemptionTest, ANodeThatFitsWithEverybodyOnItIsAnError) {
  node("n1");
  node("n2");
  place("low", "n1", 0, 1, "1");
  place("low-2", "n2", 0, 1, "1");
  turned_away = {"n1", "n2"};
  const Preemption::Choice choice = choose(important("1"));
  EXPECT_EQ(choice.outcome.code, Code::kError);
  EXPECT_THAT(choice.outcome.message(),
              ::testing::AnyOf("[expected at least one victim pod on node \"n1\", expected at "
                               "least one victim pod on node \"n2\"]",
                               "[expected at least one victim pod on node \"n2\", expected at "
                               "least one victim pod on node \"n1\"]"));
  EXPECT_FALSE(choice.nominating);
  // With a candidate elsewhere it does not matter.
  node("n3");
  place("low-3", "n3", 0, 1, "4");
  EXPECT_EQ(chosen(important("1")), "n3: low-3");
}

TEST_F(PreemptionTest, APluginThatCannotFollowATrialIsAnError) {
  auto& state = profile.pre_filter("State", [](Cycle&) { return PreFilterResult(Outcome()); });
  node("n1");
  place("low", "n1", 0, 1, "4");
  state.on_remove = [](const Pod&, NodeRow) { return Outcome::failure("lost count"); };
  EXPECT_EQ(chosen(important("1")), "running RemovePod on PreFilter plugin \"State\": lost count");
  state.on_remove = {};
  state.on_add = [](const Pod&, NodeRow) { return Outcome::failure("lost count"); };
  EXPECT_EQ(chosen(important("1")), "running AddPod on PreFilter plugin \"State\": lost count");
}

// ---- extenders

class PreemptingExtender final : public Extender {
 public:
  std::string_view name() const override { return "http://extender"; }
  bool interested_in(const Pod&) const override { return interested; }
  bool ignorable() const override { return is_ignorable; }
  bool filters() const override { return false; }
  bool prioritizes() const override { return false; }
  bool binds() const override { return false; }
  bool preempts() const override { return true; }
  std::int64_t weight() const override { return 1; }
  Task<Result<ExtenderVerdicts>> filter(Ref<const Pod>, std::vector<std::string>) override {
    co_return ExtenderVerdicts{};
  }
  Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod>,
                                                      std::vector<std::string>) override {
    co_return std::vector<ExtenderScore>{};
  }
  Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return Result<void>(); }
  Task<Result<MetaVictimsByNode>> preempt(Ref<const Pod> pod, VictimsByNode victims) override {
    Result<VictimsByNode> chosen = script(std::move(victims));
    if (!chosen) co_return fail(chosen.error());
    Task<Result<MetaVictimsByNode>> by_uid = Extender::preempt(std::move(pod), *chosen);
    Result<MetaVictimsByNode> answer = co_await by_uid;
    if (lie) lie(*answer);
    co_return answer;
  }

  bool interested = true;
  bool is_ignorable = false;
  std::function<Result<VictimsByNode>(VictimsByNode)> script;
  std::function<void(MetaVictimsByNode&)> lie;
};

class ExtendersInPreemption : public PreemptionTest {
 protected:
  ExtendersInPreemption() {
    node("n1");
    node("n2");
    place("low", "n1", 0, 1, "4");
    place("lower", "n2", -1, 1, "4");
    extenders = {&first, &second};
    second.script = [this](VictimsByNode victims) -> Result<VictimsByNode> {
      second_saw.clear();
      for (const auto& [name, of_node] : victims) second_saw.push_back(name);
      return victims;
    };
  }
  PreemptingExtender first, second;
  std::vector<std::string> second_saw;
};

TEST_F(ExtendersInPreemption, EachSeesWhatTheOneBeforeLeft) {
  first.script = [](VictimsByNode victims) -> Result<VictimsByNode> {
    victims.erase("n2");
    return victims;
  };
  EXPECT_EQ(chosen(important("4")), "n1: low");
  EXPECT_THAT(second_saw, ElementsAre("n1"));
  first.interested = false;
  EXPECT_EQ(chosen(important("4")), "n2: lower");
  EXPECT_THAT(second_saw, ElementsAre("n1", "n2"));
}

TEST_F(ExtendersInPreemption, NothingLeftEndsItAndTheNominationStays) {
  first.script = [](VictimsByNode) -> Result<VictimsByNode> { return VictimsByNode{}; };
  second_saw = {"not asked"};
  const Preemption::Choice choice = choose(important("4"));
  EXPECT_EQ(choice.outcome.code, Code::kUnschedulable);
  EXPECT_EQ(choice.outcome.message(), "no candidate node for preemption");
  EXPECT_FALSE(choice.nominating);
  EXPECT_THAT(second_saw, ElementsAre("not asked"));
}

TEST_F(ExtendersInPreemption, ErrorsAndNodesWithoutVictimsOnlyMatterIfTheyMayNotBeIgnored) {
  first.script = [](VictimsByNode) -> Result<VictimsByNode> {
    return fail(ErrorKind::kUnavailable, "nobody home");
  };
  EXPECT_EQ(choose(important("4")).outcome.code, Code::kError);
  EXPECT_EQ(chosen(important("4")), "nobody home");
  first.is_ignorable = true;
  EXPECT_EQ(chosen(important("4")), "n2: lower");

  first.script = [](VictimsByNode victims) -> Result<VictimsByNode> {
    victims["n2"].pods.clear();
    return victims;
  };
  EXPECT_EQ(chosen(important("4")), "n1: low");
  first.is_ignorable = false;
  EXPECT_EQ(chosen(important("4")), "expected at least one victim pod on node \"n2\"");
}

TEST_F(ExtendersInPreemption, WhatTheSchedulerDoesNotKnowIsAnError) {
  first.script = [](VictimsByNode victims) -> Result<VictimsByNode> { return victims; };
  first.lie = [](MetaVictimsByNode& answer) { answer["n2"].pod_uids.push_back("nobody"); };
  EXPECT_EQ(chosen(important("4")),
            "extender: http://extender claims to preempt pod (UID: &{nobody}) on node: n2, but the "
            "pod is not found on that node");
  first.lie = [](MetaVictimsByNode& answer) { answer["n9"].pod_uids.push_back("nobody"); };
  EXPECT_EQ(chosen(important("4")), "nodeinfo not found for node name \"n9\"");
  first.is_ignorable = true;
  EXPECT_EQ(chosen(important("4")), "n2: lower");
}

TEST_F(ExtendersInPreemption, MayNameAnyPodOfTheNode) {
  const Ref<const Pod> bystander = world.pod("bystander").on("n1").cpu("0");
  place(bystander);
  first.script = [](VictimsByNode victims) -> Result<VictimsByNode> {
    victims.erase("n2");
    return victims;
  };
  first.lie = [&](MetaVictimsByNode& answer) {
    answer["n1"].pod_uids.push_back(bystander->uid_text());
  };
  EXPECT_EQ(chosen(important("4")), "n1: low bystander");
}

TEST_F(PreemptionTest, AFilterThatPutsNodesOffIsWaitedForOutsideOfTheTrial) {
  node("n1");
  node("n2");
  place("a", "n1", 1, 1, "2");
  place("b", "n1", 2, 1, "2");
  place("c", "n2", 9, 1, "4");
  int turns = 0;
  FakeSlowFilter& slow = profile.slow_filter("Slow", [&](const Cycle&, NodeRow) {
    world.loop.post([&] {
      ++turns;
      EXPECT_FALSE(world.cluster.nodes().on_trial());
    });
    return Outcome();
  });
  EXPECT_EQ(chosen(important("2")), "n1: a");
  EXPECT_EQ(slow.decided.size(), 2U);
  EXPECT_GT(turns, 0);
}

}  // namespace
}  // namespace berth
