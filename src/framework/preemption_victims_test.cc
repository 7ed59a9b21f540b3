// Who has to go from a node, and who may stay.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "framework/testing/preemption_fixture.h"

namespace berth {
namespace {

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

TEST_F(PreemptionTest, PodsThatHaveNotStartedGoFirstTheLastPlacedOfThemBeforeTheOthers) {
  node("n1");
  place(world.pod("new-1").on("n1").cpu("1"));
  place(world.pod("new-2").on("n1").cpu("1"));
  place("running", "n1", 0, 1, "2");
  EXPECT_EQ(chosen(important("1")), "n1: new-2");
  EXPECT_EQ(chosen(important("2")), "n1: new-1 new-2");
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

TEST_F(PreemptionTest, BudgetsAfterTheFirstThatIsViolatedLoseNothing) {
  node("n1");
  place("one", "n1", 9, 1, "2", "web");
  place("two", "n1", 8, 1, "2", "web");
  budget("b-open", "web", 1);
  // Of "two" only the open budget counts.
  budget("a-closed", "web", 0, {"two"});
  EXPECT_EQ(chosen(important("4")), "n1: one two (1)");
  world.cluster.remove(ObjectKind::kPodDisruptionBudget, "default", "a-closed");
  budget("c-closed", "web", 0, {"two"});
  EXPECT_EQ(chosen(important("4")), "n1: one two (2)") << "budgets before it stay decremented";
}

}  // namespace
}  // namespace berth
