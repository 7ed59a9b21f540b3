// Every row of the transition table (core.md §5.12), and what happens on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

// ---- a pod that nobody knew

TEST(Transitions, AnAddedPodIsActive) {
  QueueWorld w;
  const auto pod = w.add("a");
  EXPECT_EQ(w.place(pod), kActive);
  EXPECT_THAT(w.log.take(), ElementsAre("active a UnscheduledPodAdd"));
  EXPECT_EQ(w.queue().find(*pod)->initial_attempt, w.loop.wall_now());
}

TEST(Transitions, AnUpdateOfAnUnknownPodAddsIt) {
  QueueWorld w;
  const Ref<const Pod> before = w.pod("a");
  const Ref<const Pod> after = w.pod("a").version("2");
  w.queue().update(*before, after);
  EXPECT_EQ(w.place(after), kActive);
  EXPECT_THAT(w.log.take(), ElementsAre("active a UnscheduledPodAdd"));
}

TEST(Transitions, APodOfTheSameNameReplacesWhatIsQueued) {
  QueueWorld w;
  w.rejected("a", {"Fit"});
  const auto again = w.add(w.pod("a").uid("22222222-2222-2222-2222-222222222222"));
  EXPECT_EQ(w.place(again), kActive);
  EXPECT_EQ(w.queue().find(*again)->pod, again);
  EXPECT_EQ(w.queue().find(*again)->attempts, 0);
  EXPECT_EQ(w.queue().sizes().unschedulable, 0U);
}

TEST(Transitions, AnUpdateToAPodOfAnotherUidAddsThatPod) {
  const std::string first_uid = "11111111-1111-1111-1111-111111111111";
  const std::string second_uid = "22222222-2222-2222-2222-222222222222";
  for (const QueuePlace place : {kActive, kErrorBackoff, kUnschedulable}) {
    QueueWorld w;
    const auto first = w.add(w.pod("a").uid(first_uid));
    if (place != kActive) {
      ASSERT_TRUE(w.fails(w.pop(), place == kUnschedulable ? PluginNames{"Fit"} : PluginNames{}));
    }
    ASSERT_EQ(w.place(first), place);
    w.log.take();
    const Ref<const Pod> second = w.pod("a").uid(second_uid);
    w.queue().update(*first, second);
    EXPECT_EQ(w.place(second), kActive);
    EXPECT_EQ(w.queue().find(*second)->pod, second);
    EXPECT_EQ(w.queue().find(*second)->attempts, 0);
    EXPECT_EQ(w.queue().sizes(), QueueSizes{.active = 1});
    EXPECT_THAT(w.log.take(), ElementsAre("active a UnscheduledPodAdd"));
    std::vector<std::string> errors;
    if (place == kUnschedulable)
      errors = {"Failed to update pod in an entity default/a: pod UID mismatch, expected " +
                first_uid + ", got " + second_uid};
    EXPECT_EQ(w.log.internal_errors, errors);
  }
}

TEST(Transitions, EqualNamesInDifferentNamespacesAreDifferentPods) {
  QueueWorld w;
  const auto here = w.add(w.pod("a"));
  const auto there = w.add(w.pod("a").in("other"));
  EXPECT_EQ(w.queue().sizes().active, 2U);
  w.queue().remove(*here);
  EXPECT_EQ(w.place(here), kNowhere);
  EXPECT_EQ(w.place(there), kActive);
}

// ---- pop

TEST(Transitions, PoppingPutsAPodInFlight) {
  QueueWorld w;
  const auto pod = w.add("a");
  EXPECT_TRUE(w.queue().ready());
  const QueuedPod popped = w.pop();
  EXPECT_EQ(popped.pod, pod);
  EXPECT_EQ(popped.attempts, 1);
  EXPECT_EQ(w.place(pod), kNowhere);
  EXPECT_TRUE(w.queue().in_flight(pod->uid()));
  EXPECT_FALSE(w.queue().ready());
  EXPECT_FALSE(w.queue().pop());
}

TEST(Transitions, PodsComeByPriorityThenByTimeThenByArrival) {
  QueueWorld w;
  w.add(w.pod("low").priority(1));
  w.add(w.pod("first").priority(5));
  w.add(w.pod("second").priority(5));
  w.wait(1s);
  w.add(w.pod("third").priority(5));
  w.add(w.pod("high").priority(9));
  std::vector<std::string> order;
  for (int i = 0; i < 5; ++i) order.push_back(w.pop_name());
  EXPECT_THAT(order, ElementsAre("high", "first", "second", "third", "low"));
}

TEST(Transitions, WithNothingActiveTheHeadOfTheBackoffIsPoppedEarly) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto pod = w.rejected("a", {"Fit"});
  w.happens(events::kNodeAdd);
  ASSERT_EQ(w.place(pod), kBackoff);
  EXPECT_TRUE(w.queue().ready());
  w.log.take();
  EXPECT_EQ(w.pop_name(), "a");
  EXPECT_THAT(w.log.take(), ElementsAre("active a PopFromBackoffQ"));
  EXPECT_EQ(w.clock(), 0);
}

TEST(Transitions, AnActivePodGoesBeforeOneInBackoff) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  w.rejected("waits", {"Fit"});
  w.happens(events::kNodeAdd);
  w.add(w.pod("active").priority(-10));
  EXPECT_EQ(w.pop_name(), "active");
  EXPECT_EQ(w.pop_name(), "waits");
}

TEST(Transitions, WithoutTheGateNothingIsPoppedFromBackoff) {
  QueueWorld w;
  w.options.pop_from_backoff = false;
  w.registers("Fit", events::kNodeAdd);
  w.rejected("a", {"Fit"});
  w.happens(events::kNodeAdd);
  EXPECT_FALSE(w.queue().ready());
  EXPECT_FALSE(w.queue().pop());
}

TEST(Transitions, APodAfterAnErrorIsNeverPoppedEarly) {
  QueueWorld w;
  const auto pod = w.rejected("a", {});
  EXPECT_EQ(w.place(pod), kErrorBackoff);
  EXPECT_FALSE(w.queue().ready());
  EXPECT_FALSE(w.queue().pop());
}

TEST(Transitions, ADuplicateOfAPodInFlightIsDiscarded) {
  QueueWorld w;
  const auto pod = w.add("a");
  QueuedPod popped = w.pop();
  w.queue().add(pod);
  EXPECT_FALSE(w.queue().pop());
  EXPECT_THAT(w.log.internal_errors,
              ElementsAre("Discarding the popped entity: the same pod is tracked in multiple "
                          "places in the scheduler: default/a"));
  EXPECT_EQ(w.place(pod), kNowhere);
  EXPECT_TRUE(w.fails(std::move(popped), {"Fit"})) << "the one in flight can still come back";
  EXPECT_EQ(w.place(pod), kUnschedulable);
}

// ---- out of flight

TEST(Transitions, DoneEndsTheFlightAndMayBeRepeated) {
  QueueWorld w;
  const auto pod = w.add("a");
  w.pop();
  w.queue().done(pod->uid());
  w.queue().done(pod->uid());
  EXPECT_FALSE(w.queue().in_flight(pod->uid()));
  EXPECT_EQ(w.queue().sizes(), QueueSizes{});
}

TEST(Transitions, AFailureGoesWhereItsRejectorsAndTheEventsMeanwhileSay) {
  struct Row {
    const char* what;
    PluginNames unschedulable, pending;
    std::vector<ClusterEvent> meanwhile;
    QueuePlace expected;
  };
  const ClusterEvent pod_gone = events::kAssignedPodDelete;
  const std::array rows{
      Row{"an error", {}, {}, {}, kErrorBackoff},
      Row{"an error, whatever happened", {}, {}, {events::kNodeAdd}, kErrorBackoff},
      Row{"rejected, nothing happened", {"Fit"}, {}, {}, kUnschedulable},
      Row{"rejected, an event that its plugin waits for", {"Fit"}, {}, {pod_gone}, kBackoff},
      Row{"rejected, an event whose hint says skip",
          {"Fit"},
          {},
          {events::kNodeAdd},
          kUnschedulable},
      Row{"rejected, an event for somebody else", {"Taint"}, {}, {pod_gone}, kUnschedulable},
      Row{"rejected by two, one is helped", {"Fit", "Taint"}, {}, {pod_gone}, kBackoff},
      Row{"pending, an event that its plugin waits for",
          {"Gang"},
          {"Gang"},
          {events::kNodeAdd},
          kActive},
      Row{"pending, nothing happened", {"Gang"}, {"Gang"}, {}, kUnschedulable},
      Row{"pending, only another rejector is helped",
          {"Fit", "Gang"},
          {"Gang"},
          {pod_gone},
          kBackoff},
      Row{"pending, first another, then it is helped",
          {"Fit", "Gang"},
          {"Gang"},
          {pod_gone, events::kNodeAdd},
          kActive},
      Row{"pending, first it, then another is helped",
          {"Fit", "Gang"},
          {"Gang"},
          {events::kNodeAdd, pod_gone},
          kActive},
      Row{"rejected by nobody in particular",
          {""},
          {},
          {pod_gone, events::kNodeAdd},
          kUnschedulable},
      Row{"rejected, a wildcard", {""}, {}, {events::kUnschedulableTimeout}, kBackoff},
  };
  for (const Row& row : rows) {
    QueueWorld w;
    w.registers("Fit", events::kAssignedPodDelete);
    w.registers("Fit", events::kNodeAdd, always(QueueingHint::kSkip));
    w.registers("Gang", events::kNodeAdd, always(QueueingHint::kQueue));
    const auto pod = w.add("a");
    QueuedPod popped = w.pop();
    for (const ClusterEvent& event : row.meanwhile) w.happens(event);
    w.log.take();
    ASSERT_TRUE(w.fails(std::move(popped), row.unschedulable, row.pending));
    EXPECT_EQ(w.place(pod), row.expected) << row.what;
    EXPECT_FALSE(w.queue().in_flight(pod->uid())) << row.what;
    EXPECT_EQ(w.queue().sizes().in_flight_events, 0U) << row.what;
    ASSERT_EQ(w.log.entered.size(), 1U) << row.what;
    EXPECT_TRUE(w.log.entered.front().ends_with(" a ScheduleAttemptFailure")) << row.what;
  }
}

TEST(Transitions, AFailureWithBackoffSwitchedOffIsActiveAtOnce) {
  QueueWorld w;
  w.options.max_backoff = 0s;
  EXPECT_EQ(w.place(w.rejected("error", {})), kActive);
}

TEST(Transitions, APodThatWasNotInFlightIsRetriedAfterItsBackoff) {
  QueueWorld w;
  QueuedPod stray;
  stray.pod = w.pod("a").build();
  ASSERT_TRUE(w.fails(stray, {"Fit"}));
  EXPECT_EQ(w.place(stray.pod), kBackoff);
}

TEST(Transitions, AFailureCountsErrorsAndRejectionsApart) {
  QueueWorld w;
  const auto pod = w.add("a");
  const auto counts = [&] {
    const QueuedPod* queued = w.queue().find(*pod);
    return std::pair(queued->unschedulable_count, queued->consecutive_errors);
  };
  ASSERT_TRUE(w.fails(w.pop(), {}));
  EXPECT_EQ(counts(), std::pair(0, 1));
  w.wait(3s);
  ASSERT_TRUE(w.fails(w.pop(), {}));
  EXPECT_EQ(counts(), std::pair(0, 2));
  w.wait(5s);
  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  EXPECT_EQ(counts(), std::pair(1, 0));
  w.queue().activate(std::array{pod});
  ASSERT_TRUE(w.fails(w.pop(), {}));
  EXPECT_EQ(counts(), std::pair(1, 1));
  EXPECT_EQ(w.queue().find(*pod)->attempts, 4);
}

TEST(Transitions, AReturningPodIsToldThatItIsThereAlready) {
  struct Row {
    const char* expected;
    std::function<void(QueueWorld&, const Ref<const Pod>&)> bring;
  };
  const std::array rows{
      Row{"Pod default/a is already present in the active queue",
          [](QueueWorld& w, const Ref<const Pod>& pod) { w.queue().add(pod); }},
      Row{"Pod default/a is already present in the backoff queue",
          [](QueueWorld& w, const Ref<const Pod>& pod) {
            QueuedPod other;
            other.pod = w.pod("a").uid("33333333-3333-3333-3333-333333333333").build();
            ASSERT_TRUE(w.fails(other, {}));
            EXPECT_EQ(w.place(pod), kErrorBackoff);
          }},
      Row{"Pod default/a is already present in unschedulable queue",
          [](QueueWorld& w, const Ref<const Pod>& pod) {
            QueuedPod other;
            other.pod = w.pod("a").uid("33333333-3333-3333-3333-333333333333").build();
            w.queue().add(other.pod);
            other = w.pop();
            ASSERT_TRUE(w.fails(other, {"Fit"}));
            EXPECT_EQ(w.place(pod), kUnschedulable);
          }},
  };
  for (const Row& row : rows) {
    QueueWorld w;
    const auto pod = w.add("a");
    QueuedPod popped = w.pop();
    row.bring(w, pod);
    const QueuePlace before = w.place(pod);
    const Result<void> returned = w.fails(std::move(popped), {"Fit"});
    ASSERT_FALSE(returned);
    EXPECT_EQ(returned.error().message, row.expected);
    EXPECT_EQ(w.place(pod), before);
    EXPECT_FALSE(w.queue().in_flight(pod->uid())) << "its flight is over all the same";
  }
}

TEST(Transitions, AFailureGoesBehindPodsOfEqualPriorityThatCameMeanwhile) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto old = w.add("old");
  QueuedPod popped = w.pop();
  w.wait(500ms);
  w.add("new");
  w.wait(500ms);
  ASSERT_TRUE(w.fails(std::move(popped), {"Fit"}));
  w.queue().activate(std::array{old});
  EXPECT_EQ(w.pop_name(), "new");
  EXPECT_EQ(w.pop_name(), "old");
}

// ---- what counts as entering a queue

TEST(Transitions, EntriesIntoTheQueueThatTheStrategyNamesAreNotCounted) {
  const std::string added = "active " + events::kUnscheduledPodAdd.label();
  QueueWorld w;
  w.log.measures = true;
  w.registers("Fit", events::kNodeAdd);
  w.registers("Gang", events::kAssignedPodAdd);
  const auto counted = [&] { return std::exchange(w.log.counted, {}); };

  const auto pod = w.rejected("a", {"Fit"});
  EXPECT_THAT(counted(), ElementsAre(added)) << "not the failure";
  w.happens(events::kNodeAdd);
  ASSERT_EQ(w.place(pod), kBackoff);
  EXPECT_THAT(counted(), IsEmpty()) << "after backoff, to backoff";
  w.wait(10s);
  ASSERT_EQ(w.place(pod), kActive);
  EXPECT_THAT(counted(), ElementsAre("active BackoffComplete"));

  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  w.wait(20s);
  w.happens(events::kNodeAdd);
  ASSERT_EQ(w.place(pod), kActive);
  EXPECT_THAT(counted(), ElementsAre("active NodeAdd")) << "after backoff, which is over";

  ASSERT_TRUE(w.fails(w.pop(), {}));
  EXPECT_THAT(counted(), IsEmpty()) << "an error, to backoff";
  w.queue().activate(std::array{pod});
  EXPECT_THAT(counted(), ElementsAre("active ForceActivate"));

  ASSERT_TRUE(w.fails(w.pop(), {"Gang"}, {"Gang"}));
  w.happens(events::kAssignedPodAdd);
  ASSERT_EQ(w.place(pod), kActive);
  EXPECT_THAT(counted(), IsEmpty()) << "at once, to active";

  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  w.happens(events::kNodeAdd);
  ASSERT_EQ(w.place(pod), kBackoff);
  EXPECT_EQ(w.pop_name(), "a");
  EXPECT_THAT(counted(), ElementsAre("active PopFromBackoffQ"));
}

TEST(Transitions, AGatedPodCountsWhenItComesAndWhenItIsLetGo) {
  const std::string added = "gated " + events::kUnscheduledPodAdd.label();
  testing::NamedGate gate("Gate");
  QueueWorld w;
  w.log.measures = true;
  gate.closed_for = {"a"};
  w.profiles.front().pre_enqueue = {&gate};
  w.registers("Gate", events::kNodeAdd);
  const auto pod = w.add("a");
  EXPECT_THAT(w.log.counted, ElementsAre(added));
  gate.closed_for.clear();
  w.happens(events::kNodeAdd);
  ASSERT_EQ(w.place(pod), kActive);
  EXPECT_THAT(w.log.counted, ElementsAre(added, "active NodeAdd"));
}

// ---- out of the unschedulable

TEST(Transitions, AnEventMovesAnUnschedulablePodToActiveOnceItsBackoffIsOver) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto pod = w.rejected("a", {"Fit"});
  w.wait(10s);
  w.log.take();
  w.happens(events::kNodeAdd);
  EXPECT_EQ(w.place(pod), kActive);
  EXPECT_THAT(w.log.take(), ElementsAre("active a NodeAdd"));
}

TEST(Transitions, AnEventMovesAPodThatIsBackingOffToBackoff) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto pod = w.rejected("a", {"Fit"});
  w.log.take();
  w.happens(events::kNodeAdd);
  EXPECT_EQ(w.place(pod), kBackoff);
  EXPECT_THAT(w.log.take(), ElementsAre("backoff a NodeAdd"));
  w.happens(events::kNodeAdd);
  EXPECT_EQ(w.place(pod), kBackoff) << "events do not shorten a backoff";
  EXPECT_THAT(w.log.take(), IsEmpty());
}

TEST(Transitions, AnEventOfAPendingPluginSkipsTheBackoff) {
  QueueWorld w;
  w.registers("Gang", events::kAssignedPodAdd);
  const auto pod = w.rejected("a", {"Gang"}, {"Gang"});
  w.happens(events::kAssignedPodAdd);
  EXPECT_EQ(w.place(pod), kActive);
}

TEST(Transitions, OnlyTheChosenPodsAreLookedAt) {
  QueueWorld w;
  int asked = 0;
  w.registers("Fit", events::kAssignedPodDelete,
              [&](const Pod&, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
                ++asked;
                return QueueingHint::kQueue;
              });
  const auto low = w.add(w.pod("low").priority(1));
  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  const auto high = w.add(w.pod("high").priority(9));
  QueuedPod popped = w.pop();
  ASSERT_EQ(popped.pod, high);
  ASSERT_TRUE(w.fails(std::move(popped), {"Fit"}));
  w.queue().move_all(events::kAssignedPodDelete, {}, {},
                     [](const Pod& pod) { return pod.priority() <= 5; });
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(w.place(low), kBackoff);
  EXPECT_EQ(w.place(high), kUnschedulable);
}

}  // namespace
}  // namespace berth
