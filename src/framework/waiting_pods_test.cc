#include "berth/waiting_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/task.h"

namespace berth {
namespace {

using Holds = std::vector<PermitHold>;
using Names = std::vector<std::string>;

// A binding cycle that only waits.
Task<void> bind(WaitingPods& pods, Uid uid, std::vector<Outcome>& outcomes) {
  auto settled = pods.settled(uid);
  Outcome outcome = co_await settled;
  outcomes.push_back(std::move(outcome));
}

// A world with waiting pods; `outcomes` is what binding cycles got, in the order of getting it.
struct Waits {
  testing::World world;
  VirtualLoop loop;
  WaitingPods pods{loop};
  std::vector<Outcome> outcomes;
  TaskSet bindings;

  Uid hold(std::string name, const Holds& holds) {
    const Ref<const Pod> pod = world.pod(std::move(name));
    pods.hold(pod, "node-1", holds);
    return pod->uid();
  }
  void begin_binding(const Uid& uid) { bindings.spawn(bind(pods, uid, outcomes)); }
  Names pending(const Uid& uid) const {
    return pods.find(uid).value_or(WaitingPod{}).pending_plugins;
  }
  Names listed() const {
    Names names;
    for (const WaitingPod& pod : pods.list()) names.emplace_back(pod.pod->name());
    return names;
  }
};

// A world with one waiting pod.
struct Wait : Waits {
  Uid uid;
  explicit Wait(const Holds& holds) : uid(hold("pod", holds)) {}
  void begin_binding() { Waits::begin_binding(uid); }
};

void expect_outcome(const Outcome& outcome, Code code, std::string_view plugin,
                    std::string_view message) {
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.plugin, plugin);
  EXPECT_EQ(outcome.message(), message);
}

TEST(WaitingPods, SettlesWhenTheLastHolderAllows) {
  Wait wait({{"quota", 5min}, {"gang", 5min}});
  wait.begin_binding();
  EXPECT_TRUE(wait.pods.allow(wait.uid, "gang"));
  EXPECT_THAT(wait.pending(wait.uid), ElementsAre("quota"));
  wait.loop.run_until({1s});
  EXPECT_THAT(wait.outcomes, IsEmpty());
  EXPECT_TRUE(wait.pods.allow(wait.uid, "quota"));
  wait.loop.run();
  ASSERT_EQ(wait.outcomes.size(), 1U);
  expect_outcome(wait.outcomes[0], Code::kSuccess, "", "");
  EXPECT_FALSE(wait.pods.contains(wait.uid));
  EXPECT_EQ(wait.loop.now().since_start, 1s) << "deadlines must not outlive the wait";
}

TEST(WaitingPods, TheEarliestDeadlineRejectsInItsPluginsName) {
  Wait wait({{"slow", 10min}, {"quick", 5min}});
  wait.begin_binding();
  wait.loop.run();
  ASSERT_EQ(wait.outcomes.size(), 1U);
  expect_outcome(wait.outcomes[0], Code::kUnschedulable, "quick",
                 "rejected due to timeout after waiting 5m0s at plugin quick");
  EXPECT_EQ(wait.outcomes[0].reasons.size(), 1U);
  EXPECT_FALSE(wait.outcomes[0].error);
  EXPECT_EQ(wait.loop.now().since_start, 5min) << "the other deadline goes with the wait";
}

TEST(WaitingPods, ATimeoutIsAtMostFifteenMinutesAndReadsAsGoPrintsIt) {
  struct Row {
    Duration timeout;
    std::string text;
    Duration rings;
  };
  const std::vector<Row> rows = {
      {1500ms, "1.5s", 1500ms},
      {300ms, "300ms", 300ms},
      {90s, "1m30s", 90s},
      {15min, "15m0s", 15min},
      {16min, "15m0s", 15min},
      {Duration::max(), "15m0s", 15min},
      {0s, "0s", 0s},
      {-1s, "-1s", 0s},
      {Duration::min(), "-2562047h47m16.854775808s", 0s},
  };
  for (const Row& row : rows) {
    Wait wait({{"gang", row.timeout}});
    wait.begin_binding();
    EXPECT_THAT(wait.outcomes, IsEmpty()) << "not before hold has returned";
    wait.loop.run();
    ASSERT_EQ(wait.outcomes.size(), 1U);
    EXPECT_EQ(wait.outcomes[0].message(),
              "rejected due to timeout after waiting " + row.text + " at plugin gang");
    EXPECT_EQ(wait.loop.now().since_start, row.rings);
  }
}

TEST(WaitingPods, OfEqualDeadlinesTheFirstHolderSpeaks) {
  Wait wait({{"quota", 1min}, {"gang", 1min}});
  wait.begin_binding();
  wait.loop.run();
  ASSERT_EQ(wait.outcomes.size(), 1U);
  EXPECT_EQ(wait.outcomes[0].plugin, "quota");
}

TEST(WaitingPods, AnAllowedPluginsDeadlineNoLongerCounts) {
  Wait wait({{"quick", 1min}, {"slow", 10min}});
  wait.begin_binding();
  EXPECT_TRUE(wait.pods.allow(wait.uid, "quick"));
  wait.loop.run_until({0s});
  EXPECT_EQ(wait.loop.next_deadline(), TimePoint{10min}) << "its timer is gone";
  wait.loop.run();
  ASSERT_EQ(wait.outcomes.size(), 1U);
  expect_outcome(wait.outcomes[0], Code::kUnschedulable, "slow",
                 "rejected due to timeout after waiting 10m0s at plugin slow");
}

TEST(WaitingPods, ADeadlineThatRingsAfterTheAllowButBeforeTheWorldHeardOfItIsNothing) {
  // A real loop runs all timers that are due before it looks at what was posted.
  testing::World world;
  RealLoop loop;
  WaitingPods pods(loop);
  const Ref<const Pod> pod = world.pod("pod");
  std::optional<WaitingPod> after;
  bool still_waiting = false;
  loop.at({}, [&] {
    pods.allow(pod->uid(), "quick");
    loop.post([&] {
      after = pods.find(pod->uid());
      still_waiting = pods.allow(pod->uid(), "slow");
      loop.stop();
    });
  });
  pods.hold(pod, "node-1", Holds{{"quick", 0s}, {"slow", 15min}});
  loop.run();
  ASSERT_TRUE(after);
  EXPECT_THAT(after->pending_plugins, ElementsAre("slow"));
  EXPECT_TRUE(still_waiting);
}

TEST(WaitingPods, DeadlinesRunFromTheHoldNotFromTheAwait) {
  Wait wait({{"gang", 1min}});
  wait.loop.run_until({50s});
  wait.begin_binding();
  wait.loop.run();
  EXPECT_EQ(wait.loop.now().since_start, 1min);
  EXPECT_EQ(wait.outcomes.size(), 1U);
}

TEST(WaitingPods, ARejectionSettlesAtOnceInWhoeversName) {
  for (const std::string plugin : {"gang", "somebody else", ""}) {
    Wait wait({{"gang", 5min}, {"quota", 5min}});
    wait.begin_binding();
    EXPECT_TRUE(wait.pods.reject(wait.uid, plugin, "removed"));
    wait.loop.run();
    ASSERT_EQ(wait.outcomes.size(), 1U);
    expect_outcome(wait.outcomes[0], Code::kUnschedulable, plugin, "removed");
    EXPECT_EQ(wait.loop.now().since_start, 0s);
  }
}

TEST(WaitingPods, APreemptionIsAnErrorSoThatThePodIsRetried) {
  Wait wait({{"gang", 5min}});
  wait.begin_binding();
  EXPECT_TRUE(wait.pods.preempt(wait.uid, "DefaultPreemption", "preempted"));
  wait.loop.run();
  ASSERT_EQ(wait.outcomes.size(), 1U);
  expect_outcome(wait.outcomes[0], Code::kError, "DefaultPreemption", "preempted");
}

// The ways to settle a pod; each says whether it was the one that did, as far as it can know.
struct Action {
  std::string name;
  std::function<bool(Wait&)> act;
  std::string message;  // of the outcome
};
const std::vector<Action> kActions = {
    {"allow", [](Wait& wait) { return wait.pods.allow(wait.uid, "gang"); }, ""},
    {"reject", [](Wait& wait) { return wait.pods.reject(wait.uid, "gang", "no"); }, "no"},
    {"preempt", [](Wait& wait) { return wait.pods.preempt(wait.uid, "gang", "away"); }, "away"},
    {"timeout",
     [](Wait& wait) {
       const bool armed = wait.loop.next_deadline() == TimePoint{5min};
       wait.loop.run_until({5min});
       return armed;
     },
     "rejected due to timeout after waiting 5m0s at plugin gang"},
};

TEST(WaitingPods, TheFirstOutcomeCountsAndTheSecondIsToldSo) {
  for (const Action& first : kActions) {
    for (const Action& second : kActions) {
      SCOPED_TRACE(first.name + " then " + second.name);
      Wait wait({{"gang", 5min}});
      EXPECT_TRUE(first.act(wait));
      wait.loop.run_until({1s});
      EXPECT_FALSE(second.act(wait));
      wait.begin_binding();
      ASSERT_EQ(wait.outcomes.size(), 1U);
      EXPECT_EQ(wait.outcomes[0].message(), first.message);
    }
  }
}

TEST(WaitingPods, TheSecondOutcomeIsTooLateAlsoBeforeTheWorldHeardOfTheFirst) {
  for (const Action& first : kActions) {
    for (const Action& second : kActions) {
      if (second.name == "timeout") continue;  // it is the world itself
      SCOPED_TRACE(first.name + " then " + second.name);
      Wait wait({{"gang", 5min}});
      EXPECT_TRUE(first.act(wait));
      EXPECT_FALSE(second.act(wait));
      wait.begin_binding();
      wait.loop.run();
      ASSERT_EQ(wait.outcomes.size(), 1U);
      EXPECT_EQ(wait.outcomes[0].message(), first.message);
    }
  }
}

TEST(WaitingPods, AnOutcomeThatComesBeforeTheAwaitIsKept) {
  for (const Action& action : kActions) {
    SCOPED_TRACE(action.name);
    Wait wait({{"gang", 5min}});
    action.act(wait);
    EXPECT_TRUE(wait.pods.contains(wait.uid)) << "it leaves when the outcome is taken";
    wait.loop.run();
    EXPECT_TRUE(wait.pods.contains(wait.uid));
    wait.begin_binding();
    EXPECT_EQ(wait.outcomes.size(), 1U) << "without suspending";
    EXPECT_FALSE(wait.pods.contains(wait.uid));
  }
}

TEST(WaitingPods, NobodyIsResumedInsideTheCallThatSettles) {
  Wait wait({{"gang", 5min}});
  wait.begin_binding();
  wait.pods.allow(wait.uid, "gang");
  EXPECT_THAT(wait.outcomes, IsEmpty());
  EXPECT_TRUE(wait.loop.work_pending());
  wait.loop.run();
  EXPECT_EQ(wait.outcomes.size(), 1U);
}

TEST(WaitingPods, AllowingWhatOneDoesNotHoldChangesNothing) {
  Wait wait({{"quota", 5min}, {"gang", 5min}});
  EXPECT_FALSE(wait.pods.allow(wait.uid, "stranger"));
  EXPECT_TRUE(wait.pods.allow(wait.uid, "gang"));
  EXPECT_FALSE(wait.pods.allow(wait.uid, "gang"));
  EXPECT_THAT(wait.pending(wait.uid), ElementsAre("quota"));
}

TEST(WaitingPods, PendingPluginsStayListedAfterARejection) {
  Wait wait({{"quota", 5min}, {"gang", 5min}, {"volumes", 5min}});
  wait.pods.allow(wait.uid, "gang");
  wait.pods.reject(wait.uid, "quota", "no");
  EXPECT_FALSE(wait.pods.allow(wait.uid, "volumes"));
  wait.loop.run();
  EXPECT_THAT(wait.pending(wait.uid), ElementsAre("quota", "volumes"));
  wait.begin_binding();
  EXPECT_FALSE(wait.pods.find(wait.uid));
}

TEST(WaitingPods, APodThatIsNotHeldIsASuccessAtOnce) {
  Waits waits;
  const Uid uid = waits.hold("free", {});
  EXPECT_FALSE(waits.pods.contains(uid));
  EXPECT_FALSE(waits.pods.find(uid));
  EXPECT_FALSE(waits.pods.allow(uid, "gang"));
  EXPECT_FALSE(waits.pods.reject(uid, "gang", "no"));
  EXPECT_FALSE(waits.pods.preempt(uid, "gang", "no"));
  EXPECT_FALSE(waits.loop.work_pending());
  waits.begin_binding(uid);
  ASSERT_EQ(waits.outcomes.size(), 1U);
  EXPECT_TRUE(waits.outcomes[0].ok());
}

TEST(WaitingPods, AreFoundWithTheirNodeAndListedInTheOrderOfTheirHolds) {
  Waits waits;
  const Ref<const Pod> first = waits.world.pod("c").scheduler("one-profile");
  waits.pods.hold(first, "a-node-with-a-name-of-some-length", Holds{{"gang", 1min}});
  const Uid second = waits.hold("a", {{"gang", 1min}});
  waits.hold("b", {{"gang", 1min}});
  EXPECT_EQ(waits.pods.size(), 3U);
  EXPECT_THAT(waits.listed(), ElementsAre("c", "a", "b"));

  const std::optional<WaitingPod> found = waits.pods.find(first->uid());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pod, first);
  EXPECT_EQ(found->node_name, "a-node-with-a-name-of-some-length");
  EXPECT_THAT(found->pending_plugins, ElementsAre("gang"));

  waits.pods.allow(second, "gang");
  waits.begin_binding(second);
  EXPECT_THAT(waits.listed(), ElementsAre("c", "b"));
  waits.hold("a", {{"gang", 1min}});
  EXPECT_THAT(waits.listed(), ElementsAre("c", "b", "a"));
}

TEST(WaitingPods, AVisitorMaySettleWhatItSees) {
  Waits waits;
  for (const std::string name : {"a", "b", "c"})
    waits.begin_binding(waits.hold(name, {{"gang", 1min}}));
  Names seen;
  waits.pods.for_each([&](const WaitingPod& pod) {
    seen.emplace_back(pod.pod->name());
    EXPECT_TRUE(waits.pods.allow(pod.pod->uid(), "gang"));
  });
  EXPECT_THAT(seen, ElementsAre("a", "b", "c"));
  waits.loop.run();
  EXPECT_EQ(waits.outcomes.size(), 3U);
  EXPECT_EQ(waits.pods.size(), 0U);
  EXPECT_EQ(waits.loop.now().since_start, 0s);
}

TEST(WaitingPods, PodsAreWokenInTheOrderOfSettling) {
  Waits waits;
  const Uid a = waits.hold("a", {{"gang", 1min}});
  const Uid b = waits.hold("b", {{"gang", 1min}});
  waits.begin_binding(a);
  waits.begin_binding(b);
  waits.pods.reject(b, "gang", "b");
  waits.pods.reject(a, "gang", "a");
  waits.loop.run();
  ASSERT_EQ(waits.outcomes.size(), 2U);
  EXPECT_EQ(waits.outcomes[0].message(), "b");
  EXPECT_EQ(waits.outcomes[1].message(), "a");
}

TEST(WaitingPods, NewsOfAnOldWaitDoesNotTouchALaterOne) {
  Wait wait({{"gang", 5min}});
  wait.pods.reject(wait.uid, "gang", "first try");
  wait.begin_binding();  // takes the outcome before the world hears of it
  wait.hold("pod", {{"gang", 5min}});
  wait.begin_binding();
  wait.loop.run_until({1min});
  EXPECT_EQ(wait.outcomes.size(), 1U);
  EXPECT_EQ(wait.loop.next_deadline(), TimePoint{5min}) << "only the second wait's timer is left";
  EXPECT_TRUE(wait.pods.allow(wait.uid, "gang"));
  wait.loop.run();
  ASSERT_EQ(wait.outcomes.size(), 2U);
  EXPECT_TRUE(wait.outcomes[1].ok());
}

TEST(WaitingPods, HoldingAPodThatWaitsAlreadyIsABug) {
  Wait wait({{"gang", 5min}});
  EXPECT_DEATH(wait.hold("pod", {{"gang", 5min}}), "must hold");
}

TEST(WaitingPods, ATaskDestroyedWhileItWaitsIsNotWoken) {
  for (const bool settled_before : {false, true}) {
    Wait wait({{"gang", 5min}});
    wait.begin_binding();
    if (settled_before) wait.pods.allow(wait.uid, "gang");
    wait.bindings.clear();
    if (!settled_before) wait.pods.allow(wait.uid, "gang");
    wait.loop.run();
    EXPECT_THAT(wait.outcomes, IsEmpty());
  }
}

// Ends other binding cycles when it is woken, as a shutdown in the middle of things would.
Task<void> end_others(WaitingPods& pods, Uid uid, TaskSet& others) {
  auto settled = pods.settled(uid);
  Outcome outcome = co_await settled;
  if (outcome.ok()) others.clear();
}

TEST(WaitingPods, WhoIsWokenMayEndOthersThatAreNext) {
  Waits waits;
  TaskSet first;
  const Uid a = waits.hold("a", {{"gang", 1min}});
  first.spawn(end_others(waits.pods, a, waits.bindings));
  const Uid b = waits.hold("b", {{"gang", 1min}});
  waits.begin_binding(b);
  waits.pods.allow(a, "gang");
  waits.pods.allow(b, "gang");
  waits.loop.run();
  EXPECT_EQ(first.size(), 0U);
  EXPECT_THAT(waits.outcomes, IsEmpty());
  EXPECT_THAT(waits.listed(), ElementsAre("b"));
}

Task<void> hold_again(Waits& waits, Uid uid) {
  auto settled = waits.pods.settled(uid);
  Outcome outcome = co_await settled;
  if (!outcome.ok()) waits.begin_binding(waits.hold("pod", {{"second", 2min}}));
}

TEST(WaitingPods, WhoIsWokenMayHoldThePodAgain) {
  Wait wait({{"first", 1min}});
  wait.bindings.spawn(hold_again(wait, wait.uid));
  wait.loop.run();
  ASSERT_EQ(wait.outcomes.size(), 1U);
  EXPECT_EQ(wait.outcomes[0].message(),
            "rejected due to timeout after waiting 2m0s at plugin second");
  EXPECT_EQ(wait.loop.now().since_start, 3min);
}

TEST(WaitingPods, TheTableMayEndBeforeTheLoopsWorkForIt) {
  testing::World world;
  VirtualLoop loop;
  {
    WaitingPods pods(loop);
    const Ref<const Pod> pod = world.pod("pod");
    pods.hold(pod, "node-1", Holds{{"quota", 1min}, {"gang", 1min}});
    pods.allow(pod->uid(), "gang");
  }
  loop.run();
  EXPECT_EQ(loop.now().since_start, 0s) << "its timers went with it";
}

// ---- several at once

TEST(WaitingPods, GoTogether) {
  Waits waits;
  const Uid a = waits.hold("a", {{"Gang", 60s}}), b = waits.hold("b", {{"Gang", 60s}, {"X", 60s}});
  const Uid nobody = Ref<const Pod>(waits.world.pod("nobody"))->uid();
  for (const Uid& uid : {a, b}) waits.begin_binding(uid);
  const Uid all[] = {a, nobody, b};
  EXPECT_TRUE(waits.pods.allow_together(all, "Gang"));
  waits.loop.run_until(waits.loop.now());
  ASSERT_THAT(waits.outcomes, SizeIs(1)) << "X still holds the other one";
  EXPECT_TRUE(waits.outcomes.front().ok());
  EXPECT_THAT(waits.pending(b), ElementsAre("X"));
}

TEST(WaitingPods, StayTogetherWhenOneHasJustBeenRejected) {
  Waits waits;
  const Uid a = waits.hold("a", {{"Gang", 60s}}), b = waits.hold("b", {{"Gang", 60s}});
  waits.begin_binding(b);
  waits.pods.reject(b, "", "no");
  const Uid all[] = {a, b};
  EXPECT_FALSE(waits.pods.allow_together(all, "Gang"));
  EXPECT_THAT(waits.pending(a), ElementsAre("Gang"));
  waits.loop.run_until(waits.loop.now());
  EXPECT_TRUE(waits.pods.allow_together(all, "Gang")) << "its binding cycle has taken it";
}

}  // namespace
}  // namespace berth
