#include "framework/preemption.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/kinds.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using testing::FakeProfile;
using testing::FakeWorld;

WallTime minute(int minutes) {
  return WallTime{std::chrono::hours(24 * 365 * 50) + std::chrono::minutes(minutes)};
}

// Nodes of 4 cpu, a filter that counts cpu, and whatever is put there.
class PreemptionTest : public ::testing::Test {
 protected:
  PreemptionTest() {
    profile.filter("Fit", [this](const Cycle& cycle, NodeRow row) {
      ++asked[std::string(cycle.nodes().name_text(row))];
      if (unresolvable.contains(std::string(cycle.nodes().name_text(row))))
        return Outcome::of(Code::kUnschedulableAndUnresolvable, "never");
      const std::int64_t wanted = cycle.pod().usage().requests.milli_cpu;
      const std::int64_t used = cycle.nodes().requested_milli_cpu()[row];
      return used + wanted > cycle.nodes().allocatable_milli_cpu()[row]
                 ? Outcome::unschedulable("Insufficient cpu")
                 : Outcome();
    });
  }

  void node(const std::string& name) { world.cluster.add_node(world.node(name).cpu("4")); }
  void place(Ref<const Pod> pod) { ASSERT_TRUE(world.cluster.add_pod(std::move(pod)).has_value()); }
  void place(const std::string& name, const std::string& node, int priority, int started,
             const std::string& cpu = "1", const std::string& app = "") {
    auto pod = world.pod(name);
    pod.on(node).priority(priority).started(minute(started)).cpu(cpu);
    if (!app.empty()) pod.label("app", app);
    place(pod);
  }
  void budget(const std::string& name, const std::string& app, int allowed,
              std::vector<std::string> disrupted = {}, const std::string& where = "default") {
    auto object = make_ref<PodDisruptionBudget>(world.interner.hold());
    object->name = name;
    object->namespace_name = object->symbols.intern(where);
    object->selector.emplace();
    if (!app.empty())
      object->selector->match_labels.push_back(
          {object->symbols.intern("app"), object->symbols.intern(app)});
    object->disruptions_allowed = allowed;
    object->disrupted_pods = std::move(disrupted);
    world.cluster.put(Ref<const Object>(std::move(object)));
  }

  // As after a search that found nothing; nodes in `turned_away` were rejected by an extender.
  Preemption::Choice choose(Ref<const Pod> pod, PreemptionLimits limits = {}) {
    world.cluster.see_pod(pod);
    world.cluster.begin_cycle();
    const Framework& framework = profile.framework();
    CycleScratch scratch;
    scratch.reset(world.cluster.nodes().rows());
    Cycle cycle(pod, world.cluster);
    cycle.lend(&scratch);
    cycle.framework = &framework;
    EXPECT_TRUE(framework.run_pre_filter(cycle).outcome.ok());
    NodeSet feasible = world.cluster.nodes().nodes();
    Diagnosis diagnosis;
    diagnosis.explicit_nodes = feasible;
    EXPECT_TRUE(framework.run_filters_with_nominated(cycle, world.cluster, feasible).ok());
    for (const std::string& name : turned_away)
      scratch.verdicts[world.row(name)] = {Code::kUnschedulable, Status::kListed, Status::kNoPlugin,
                                           cycle.list_reasons({"no"})};
    asked.clear();
    const std::vector<Status> before = scratch.verdicts;
    Handle handle = world.handle();
    handle.extenders = extenders;
    const Preemption preemption(handle, limits);
    Preemption::Choice choice = testing::run_task(world.loop, preemption.choose(cycle, diagnosis));
    EXPECT_EQ(scratch.verdicts, before) << "verdicts are put back";
    EXPECT_FALSE(world.cluster.nodes().on_trial());
    return choice;
  }
  // "n1: a b", "n1: a (1)" with a broken budget, or the message.
  std::string chosen(Ref<const Pod> pod, PreemptionLimits limits = {}) {
    return text_of(choose(std::move(pod), limits));
  }
  static std::string text_of(const Preemption::Choice& choice) {
    if (!choice.candidate) return choice.outcome.message();
    std::string text = choice.candidate->node + ":";
    for (const auto& victim : choice.candidate->victims.pods)
      text += " " + std::string(victim->name());
    if (choice.candidate->victims.pdb_violations > 0)
      text += fmt::format(" ({})", choice.candidate->victims.pdb_violations);
    return text;
  }
  Ref<const Pod> important(const std::string& cpu) {
    return world.pod("high").priority(1000).cpu(cpu);
  }

  FakeWorld world;
  FakeProfile profile{world};
  std::map<std::string, int> asked;
  std::set<std::string> unresolvable, turned_away;
  std::vector<Extender*> extenders;
};

TEST_F(PreemptionTest, OnlyAsManyGoAsAreNeededTheLeastImportantOnes) {
  node("n1");
  place("p-100", "n1", 100, 1);
  place("p-10", "n1", 10, 1);
  place("p-50", "n1", 50, 1);
  place("p-0", "n1", 0, 1);
  EXPECT_EQ(chosen(important("1")), "n1: p-0");
  EXPECT_EQ(chosen(important("2")), "n1: p-10 p-0");
  EXPECT_EQ(chosen(important("4")), "n1: p-100 p-50 p-10 p-0");
}

TEST_F(PreemptionTest, ABigPodThatCannotStayDoesNotKeepSmallerOnesFromStaying) {
  node("n1");
  place("big", "n1", 100, 1, "3");
  place("small", "n1", 0, 1, "1");
  EXPECT_EQ(chosen(important("3")), "n1: big");
}

TEST_F(PreemptionTest, OfEqualPriorityThoseThatRanLongerStay) {
  node("n1");
  place("young", "n1", 0, 9, "2");
  place("old", "n1", 0, 1, "2");
  EXPECT_EQ(chosen(important("2")), "n1: young");
}

TEST_F(PreemptionTest, PodsThatHaveNotStartedGoFirstTheFirstPlacedOfThemBeforeTheOthers) {
  node("n1");
  place(world.pod("new-1").on("n1").cpu("1"));
  place(world.pod("new-2").on("n1").cpu("1"));
  place("running", "n1", 0, 1, "2");
  EXPECT_EQ(chosen(important("1")), "n1: new-1");
  EXPECT_EQ(chosen(important("2")), "n1: new-2 new-1");
}

TEST_F(PreemptionTest, PodsOfEqualOrHigherPriorityAreNeverVictims) {
  node("n1");
  node("n2");
  place("equal", "n1", 1000, 1, "4");
  place("higher", "n2", 2000, 1, "4");
  const Preemption::Choice choice = choose(important("1"));
  EXPECT_EQ(text_of(choice),
            "0/2 nodes are available: 2 No preemption victims found for incoming pod.");
  EXPECT_EQ(choice.outcome.code, Code::kUnschedulable);
  ASSERT_TRUE(choice.nominating);
  EXPECT_EQ(choice.nominating->mode, Nominating::Mode::kOverride);
  EXPECT_EQ(choice.nominating->node_name, "");
}

TEST_F(PreemptionTest, NegativePrioritiesAreVictimsOfPodsWithoutPriority) {
  node("n1");
  place("worst", "n1", -5, 1, "4");
  EXPECT_EQ(chosen(world.pod("p").cpu("1")), "n1: worst");
}

TEST_F(PreemptionTest, NodesWhereItCannotHelpAreCounted) {
  for (const char* name : {"n1", "n2", "n3"}) node(name);
  place("low", "n1", 0, 1, "1");
  place("rock", "n1", 2000, 1, "3");
  place("rock-2", "n2", 2000, 1, "4");
  unresolvable = {"n3"};
  EXPECT_EQ(chosen(important("2")),
            "0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for "
            "incoming pod, 1 Preemption is not helpful for scheduling.");
  EXPECT_EQ(asked.count("n3"), 0u);
  unresolvable = {"n1", "n2", "n3"};
  EXPECT_EQ(chosen(important("2")),
            "0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
}

TEST_F(PreemptionTest, NominatedPodsNoLessImportantCountAsThere) {
  node("n1");
  place("a", "n1", 0, 1, "2");
  place("b", "n1", 1, 1, "2");
  EXPECT_EQ(chosen(important("2")), "n1: a");
  world.nominator.nominate(world.pod("other").priority(1000).cpu("2"), world.symbol("n1"));
  EXPECT_EQ(chosen(important("2")), "n1: b a");
  world.nominator.nominate(world.pod("lesser").priority(999).cpu("2"), world.symbol("n1"));
  EXPECT_EQ(chosen(important("2")), "n1: b a");
}

// ---- disruption budgets

TEST_F(PreemptionTest, PodsUnderABudgetComeBackBeforeMoreImportantOnes) {
  node("n1");
  place("guarded", "n1", 0, 1, "2", "web");
  place("plain", "n1", 10, 1, "2");
  budget("pdb", "web", 0);
  EXPECT_EQ(chosen(important("2")), "n1: plain");
  EXPECT_EQ(chosen(important("4")), "n1: plain guarded (1)") << "sorted again by importance";
}

TEST_F(PreemptionTest, ABudgetAllowsSoManyOfItsMostImportantPods) {
  node("n1");
  for (const int i : {1, 2, 3, 4}) place(fmt::format("web-{}", i), "n1", 10 - i, 1, "1", "web");
  budget("pdb", "web", 2);
  // web-1 and web-2 are within it, so web-3 and web-4 are asked to stay first.
  EXPECT_EQ(chosen(important("2")), "n1: web-1 web-2");
  EXPECT_EQ(chosen(important("3")), "n1: web-1 web-2 web-4 (1)");
}

TEST_F(PreemptionTest, BudgetsThatDoNotCount) {
  node("n1");
  place("a", "n1", 0, 1, "2", "web");
  place("b", "n1", 10, 1, "2");
  struct Row {
    const char* what;
    std::string app;
    std::vector<std::string> disrupted;
    std::string where;
    std::string expected;
  };
  const Row rows[] = {
      {"matching", "web", {}, "default", "n1: b"},
      {"of another app", "db", {}, "default", "n1: a"},
      {"of another namespace", "web", {}, "prod", "n1: a"},
      {"that has counted the pod", "web", {"a"}, "default", "n1: a"},
      {"with an empty selector", "", {}, "default", "n1: a"},
  };
  for (const Row& row : rows) {
    budget("pdb", row.app, 0, row.disrupted, row.where);
    EXPECT_EQ(chosen(important("2")), row.expected) << row.what;
    world.cluster.remove(ObjectKind::kPodDisruptionBudget, row.where, "pdb");
  }
}

TEST_F(PreemptionTest, EveryBudgetOverAPodLosesOne) {
  node("n1");
  place("one", "n1", 9, 1, "2", "web");
  place("two", "n1", 8, 1, "2", "web");
  budget("wide", "web", 2);
  EXPECT_EQ(chosen(important("4")), "n1: one two");
  budget("narrow", "web", 1);
  EXPECT_EQ(chosen(important("4")), "n1: one two (1)");
}

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
    EXPECT_EQ(least_missed(candidates), 0u) << row.what;
    if (std::string_view(row.what) == "among equals the first") continue;
    std::swap(candidates[0], candidates[1]);
    EXPECT_EQ(least_missed(candidates), 1u) << row.what;
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
  CycleScratch scratch;
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
  Task<Result<VictimsByNode>> preempt(Ref<const Pod>, VictimsByNode victims) override {
    Result<VictimsByNode> answer = script(std::move(victims));
    co_return answer;
  }

  bool interested = true;
  bool is_ignorable = false;
  std::function<Result<VictimsByNode>(VictimsByNode)> script;
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

}  // namespace
}  // namespace berth
