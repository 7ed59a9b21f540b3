#include "queue/gating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

// Two PreEnqueue plugins; "Gates" hears of nodes, "Quota" of pods that are gone.
struct Gated : QueueWorld {
  NamedGate gates{"Gates"};
  NamedGate quota{"Quota"};

  Gated() {
    profiles.front().pre_enqueue = {&gates, &quota};
    registers("Gates", events::kNodeAdd);
    registers("Quota", events::kAssignedPodDelete);
    registers("Fit", events::kNodeAdd);
  }
  bool is_gated(const Ref<const Pod>& pod) {
    const QueuedPod* queued = queue().find(*pod);
    return queued && queued->gated() && place(pod) == QueuePlace::kUnschedulable;
  }
};

TEST(Gating, ARefusedPodIsHeldBackInItsPluginsName) {
  Gated w;
  w.gates.closed_for = {"a"};
  const auto pod = w.add("a");
  EXPECT_TRUE(w.is_gated(pod));
  EXPECT_FALSE(w.queue().ready());
  const QueuedPod* queued = w.queue().find(*pod);
  EXPECT_EQ(queued->gating_plugin, "Gates");
  EXPECT_THAT(queued->unschedulable_plugins, ElementsAre("Gates"));
  EXPECT_FALSE(queued->initial_attempt);
  EXPECT_EQ(w.quota.asked, 0) << "one refusal is enough";
  EXPECT_THAT(w.log.take(), ElementsAre("gated a UnscheduledPodAdd"));
  EXPECT_EQ(w.queue().sizes(), QueueSizes{.gated = 1});
}

TEST(Gating, AnErrorOrAnExceptionGatesAndIsReported) {
  const std::array<std::function<Outcome(const Pod&)>, 3> answers{
      [](const Pod&) { return Outcome::failure("broken"); },
      [](const Pod&) -> Outcome { throw std::runtime_error("broken"); },
      [](const Pod&) -> Outcome { throw 1; },
  };
  for (const auto& answer : answers) {
    Gated w;
    w.gates.instead = answer;
    EXPECT_TRUE(w.is_gated(w.add("a")));
    ASSERT_EQ(w.log.internal_errors.size(), 1U);
    EXPECT_THAT(w.log.internal_errors.front(),
                HasSubstr("PreEnqueue plugin Gates for pod default/a"));
  }
}

TEST(Gating, OnlyAnEventOfTheGatingPluginOpensTheGate) {
  Gated w;
  w.quota.closed_for = {"a"};
  const auto pod = w.add("a");
  w.quota.closed_for.clear();
  w.happens(events::kNodeAdd);
  EXPECT_TRUE(w.is_gated(pod)) << "Quota does not wait for nodes";
  w.log.take();
  w.happens(events::kAssignedPodDelete);
  EXPECT_EQ(w.place(pod), QueuePlace::kActive);
  EXPECT_FALSE(w.queue().find(*pod)->gated());
  EXPECT_EQ(w.queue().find(*pod)->initial_attempt, w.loop.wall_now());
  EXPECT_THAT(w.queue().find(*pod)->unschedulable_plugins, ElementsAre("Quota"))
      << "who once refused stays a rejector";
  EXPECT_THAT(w.log.take(), ElementsAre("active a AssignedPodDelete"));
}

TEST(Gating, AHintOfTheGatingPluginThatSkipsKeepsTheGateClosed) {
  Gated w;
  w.profiles.front().events.clear();
  w.registers("Gates", events::kNodeAdd, always(QueueingHint::kSkip));
  w.gates.closed_for = {"a"};
  const auto pod = w.add("a");
  w.gates.closed_for.clear();
  const int asked = w.gates.asked;
  w.happens(events::kNodeAdd);
  EXPECT_TRUE(w.is_gated(pod));
  EXPECT_EQ(w.gates.asked, asked) << "PreEnqueue is not run for nothing";
}

TEST(Gating, APodThatStaysGatedCountsAsHavingEnteredAgain) {
  Gated w;
  w.gates.closed_for = {"a"};
  const auto pod = w.add("a");
  w.log.take();
  w.happens(events::kNodeAdd);
  EXPECT_TRUE(w.is_gated(pod));
  EXPECT_THAT(w.log.take(), ElementsAre("gated a NodeAdd"));
}

TEST(Gating, TheGatingPluginIsAskedFirstThenTheOthers) {
  Gated w;
  w.quota.closed_for = {"a"};
  const auto pod = w.add("a");
  const int gates_asked = w.gates.asked;
  w.happens(events::kAssignedPodDelete);
  EXPECT_EQ(w.gates.asked, gates_asked) << "Quota still refuses, so Gates need not be asked";
  w.quota.closed_for.clear();
  w.gates.closed_for = {"a"};
  w.happens(events::kAssignedPodDelete);
  EXPECT_TRUE(w.is_gated(pod));
  EXPECT_EQ(w.queue().find(*pod)->gating_plugin, "Gates");
  EXPECT_THAT(w.queue().find(*pod)->unschedulable_plugins, ElementsAre("Gates", "Quota"));
}

TEST(Gating, PodsAreJudgedWhenTheyEnterTheBackoffQueue) {
  for (const bool pop_from_backoff : {true, false}) {
    Gated w;
    w.options.pop_from_backoff = pop_from_backoff;
    const auto pod = w.rejected("a", {"Fit"});
    w.gates.closed_for = {"a"};
    w.log.take();
    w.happens(events::kNodeAdd);
    if (pop_from_backoff) {
      EXPECT_TRUE(w.is_gated(pod));
      EXPECT_THAT(w.log.take(), ElementsAre("gated a NodeAdd"));
      EXPECT_EQ(w.queue().sizes(), QueueSizes{.gated = 1});
    } else {
      EXPECT_EQ(w.place(pod), QueuePlace::kBackoff) << "judged when it leaves";
      w.wait(3s);
      EXPECT_TRUE(w.is_gated(pod));
      EXPECT_THAT(w.log.take(), ElementsAre("backoff a NodeAdd", "gated a BackoffComplete"));
    }
  }
}

TEST(Gating, APodAfterAnErrorIsJudgedTooWhenItReturns) {
  Gated w;
  w.add("a");
  QueuedPod popped = w.pop();
  w.gates.closed_for = {"a"};
  const auto pod = popped.pod;
  ASSERT_TRUE(w.fails(std::move(popped), {}));
  EXPECT_TRUE(w.is_gated(pod));
}

TEST(Gating, PodsThatLeaveTheBackoffQueueAreNotJudgedAgain) {
  Gated w;
  const auto flushed = w.rejected("a", {});
  const auto activated = w.rejected("b", {});
  const auto popped = w.rejected("c", {"Fit"});
  w.happens(events::kNodeAdd);
  w.gates.closed_for = {"a", "b", "c"};
  EXPECT_EQ(w.pop_name(), "c");
  w.queue().activate(std::array{activated});
  EXPECT_EQ(w.place(activated), QueuePlace::kActive);
  w.wait(3s);
  EXPECT_EQ(w.place(flushed), QueuePlace::kActive);
}

TEST(Gating, ActivationDoesNotGetPastAGate) {
  Gated w;
  w.gates.closed_for = {"a"};
  const auto pod = w.add("a");
  w.log.take();
  w.queue().activate(std::array{pod});
  EXPECT_TRUE(w.is_gated(pod));
  EXPECT_THAT(w.log.take(), IsEmpty()) << "it never left";
  w.gates.closed_for.clear();
  w.queue().activate(std::array{pod});
  EXPECT_EQ(w.place(pod), QueuePlace::kActive);
}

TEST(Gating, WithoutPoppingFromBackoffAnActivatedPodIsJudgedOnItsWayOut) {
  Gated w;
  w.options.pop_from_backoff = false;
  const auto pod = w.rejected("a", {});
  w.gates.closed_for = {"a"};
  w.queue().activate(std::array{pod});
  EXPECT_TRUE(w.is_gated(pod));
}

TEST(Gating, AnUpdateOpensTheGateOnlyWhenAHintSaysSo) {
  Gated w;
  w.registers("Gates",
              {EventResource::kTargetPod, action::kUpdatePodSchedulingGatesEliminated, {}});
  w.gates.instead = [](const Pod& pod) {
    return pod.spec().scheduling_gates.empty() ? Outcome::success()
                                               : Outcome::unschedulable("gates");
  };
  const auto before = w.add(w.pod("a").gate("one").gate("two"));
  ASSERT_TRUE(w.is_gated(before));
  w.log.take();
  const Ref<const Pod> fewer = w.pod("a").gate("two");
  const int asked = w.gates.asked;
  w.queue().update(*before, fewer);
  EXPECT_TRUE(w.is_gated(fewer));
  EXPECT_EQ(w.gates.asked, asked) << "no hint, no question";
  const Ref<const Pod> none = w.pod("a");
  w.queue().update(*fewer, none);
  EXPECT_EQ(w.place(none), QueuePlace::kActive);
  EXPECT_THAT(w.log.take(), ElementsAre("active a TargetPodUpdatePodSchedulingGatesEliminated"));
}

TEST(Gating, AGatedNewcomerReplacesAPodOfItsName) {
  Gated w;
  w.add("a");
  w.gates.closed_for = {"a"};
  const auto second = w.add(w.pod("a").uid("22222222-2222-2222-2222-222222222222"));
  EXPECT_TRUE(w.is_gated(second));
  EXPECT_EQ(w.queue().find(*second)->pod, second);
  EXPECT_EQ(w.queue().sizes(), QueueSizes{.gated = 1});
}

TEST(Gating, OnlyThePodsOwnProfileIsAsked) {
  Gated w;
  w.profiles.push_back({"second", {}, {}});
  w.gates.closed_for = {"a", "b"};
  EXPECT_TRUE(w.is_gated(w.add("a")));
  EXPECT_EQ(w.place(w.add(w.pod("b").scheduler("second"))), QueuePlace::kActive);
  EXPECT_EQ(w.place(w.add(w.pod("c").scheduler("unknown"))), QueuePlace::kActive);
}

TEST(Gating, GatedAndUnschedulablePodsAreCountedApart) {
  Gated w;
  w.rejected("u", {"Fit"});
  w.gates.closed_for = {"a", "u"};
  const auto gated = w.add("a");
  EXPECT_EQ(w.queue().sizes(), (QueueSizes{.unschedulable = 1, .gated = 1}));
  w.wait(10s);
  w.happens(events::kNodeAdd);  // "u" may go, and is stopped
  EXPECT_EQ(w.queue().sizes(), QueueSizes{.gated = 2});
  w.queue().remove(*gated);
  EXPECT_EQ(w.queue().sizes(), QueueSizes{.gated = 1});
}

TEST(Gating, APluginMayActivatePodsWhileItIsAsked) {
  Gated w;
  const auto other = w.rejected("other", {"Fit"});
  w.gates.instead = [&](const Pod& pod) {
    if (pod.name() == "a") w.queue().activate(std::array{other});
    return Outcome::success();
  };
  int told = 0;
  w.queue().on_ready([&] { ++told; });
  w.add("a");
  EXPECT_EQ(w.place(other), QueuePlace::kActive);
  EXPECT_EQ(w.queue().sizes(), QueueSizes{.active = 2});
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace berth
