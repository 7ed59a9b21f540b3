#include "cycle/binding_cycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "cycle/testing/cycle_fixture.h"

namespace berth {
namespace {

Task<Outcome> answer(Outcome outcome) { co_return outcome; }

struct BindingCycleTest : ::testing::Test {
  CycleFixture fixture;
  FakeWorld& world = fixture.world;
  FakeProfile& profile = fixture.profile;
  int reserved = 0, unreserved = 0;

  BindingCycleTest() {
    world.cluster.add_node(world.node("n1"));
    FakeReserve& reserve = profile.reserve("Reserve", [this](Cycle&) {
      ++reserved;
      return Outcome();
    });
    reserve.undo = [this](Cycle&) { ++unreserved; };
  }
  void hold(std::string plugin, Duration timeout) {
    profile.permit(std::move(plugin), [timeout](Cycle&) { return PermitResult::wait(timeout); });
  }
  // Nothing of the attempt is left anywhere but in the queue.
  void expect_undone() {
    EXPECT_EQ(unreserved, reserved);
    EXPECT_EQ(world.cluster.assumed_count(), 0u);
    EXPECT_EQ(world.waiting_pods.size(), 0u);
    EXPECT_EQ(fixture.tasks.size(), 0u);
    EXPECT_EQ(fixture.queue->sizes().in_flight, 0u);
  }
};

TEST_F(BindingCycleTest, APodIsBoundAndItsEventIsWritten) {
  std::vector<std::string> steps;
  profile.pre_bind("PreBind", [&](Cycle&, CancelToken) {
    steps.push_back("PreBind");
    return answer({});
  });
  profile.bind("Bind", [&](Cycle&, std::string_view node) {
    steps.push_back("Bind " + std::string(node));
    return Outcome();
  });
  auto& post = profile.add(std::make_unique<FakePostBind>("Post"), profile.plugins.post_bind);
  post.script = [&](Cycle&) { steps.push_back("PostBind"); };
  fixture.start();
  fixture.add("p");
  fixture.settle();
  EXPECT_THAT(steps, ElementsAre("PreBind", "Bind n1", "PostBind"));
  EXPECT_THAT(fixture.observer.bound_pods, ElementsAre("p on n1"));
  ASSERT_EQ(world.api.events.size(), 1u);
  EXPECT_EQ(world.api.events[0].reason, "Scheduled");
  EXPECT_EQ(world.api.events[0].action, "Binding");
  EXPECT_EQ(world.api.events[0].note, "Successfully assigned default/p to n1");
  EXPECT_EQ(world.cluster.assumed_count(), 1u) << "until the watch confirms it";
  EXPECT_EQ(unreserved, 0);
}

// ---- extenders that bind

// Fails as it is told to.
class FailingBinder final : public Extender {
 public:
  Error error;
  bool may_be_ignored = false;

  std::string_view name() const override { return "binder"; }
  bool interested_in(const Pod&) const override { return true; }
  bool ignorable() const override { return may_be_ignored; }
  bool filters() const override { return false; }
  bool prioritizes() const override { return false; }
  bool binds() const override { return true; }
  std::int64_t weight() const override { return 1; }
  Task<Result<ExtenderVerdicts>> filter(Ref<const Pod>, std::vector<std::string> nodes) override {
    co_return ExtenderVerdicts{std::move(nodes), {}, {}};
  }
  Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod>,
                                                      std::vector<std::string>) override {
    co_return std::vector<ExtenderScore>();
  }
  Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return fail(error); }
};

TEST(BindingByExtenders, WhatTheyFailedToTellIsLookedUp) {
  struct Case {
    const char* name;
    ErrorKind error;
    bool ignorable;
    bool bound_by_others;
    std::string looked_up;
    int bound_here;
    bool bound;
  };
  const Case cases[] = {
      {"refused", ErrorKind::kUnavailable, false, false, "default/p on n1", 0, false},
      {"done all the same", ErrorKind::kUnavailable, false, true, "default/p on n1", 0, true},
      {"no answer", ErrorKind::kTimeout, false, false, "default/p on n1 later", 0, false},
      {"the answer was lost", ErrorKind::kTimeout, false, true, "default/p on n1 later", 0, true},
      {"ignored", ErrorKind::kUnavailable, true, false, "default/p on n1", 1, true},
      {"ignored, but done", ErrorKind::kUnavailable, true, true, "default/p on n1", 0, true},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    FailingBinder extender;
    extender.error = {test.error, "no binding"};
    extender.may_be_ignored = test.ignorable;
    CycleFixture fixture;
    fixture.world.cluster.add_node(fixture.world.node("n1"));
    fixture.world.api.bound_by_others = test.bound_by_others;
    fixture.extenders = {&extender};
    int bound_here = 0;
    fixture.profile.bind("Bind", [&](Cycle&, std::string_view) {
      ++bound_here;
      return Outcome();
    });
    fixture.start();
    fixture.add("p");
    fixture.settle();
    EXPECT_THAT(fixture.world.api.looked_up, ElementsAre(test.looked_up));
    EXPECT_EQ(bound_here, test.bound_here);
    EXPECT_EQ(fixture.observer.bound_pods.size(), test.bound ? 1u : 0u);
    EXPECT_EQ(fixture.world.cluster.assumed_count(), test.bound ? 1u : 0u);
  }
}

// ---- where failed pods land (core.md §8.5)

struct FailureCase {
  const char* behaviour;
  std::function<void(BindingCycleTest&)> arrange;
  QueuePlace place;
  const char* reason;  // of the condition; null: none is written
  const char* message;
};

TEST(BindingFailures, LandWhereTheyBelong) {
  const FailureCase cases[] = {
      {"Reserve rejects",
       [](auto& test) {
         test.profile.reserve("No", [](Cycle&) { return Outcome::unschedulable("reserved"); });
       },
       QueuePlace::kUnschedulable, "Unschedulable", "0/1 nodes are available: 1 reserved."},
      {"Reserve fails",
       [](auto& test) {
         test.profile.reserve("No", [](Cycle&) { return Outcome::failure("broken"); });
       },
       QueuePlace::kErrorBackoff, "SchedulerError", "running Reserve plugin \"No\": broken"},
      {"Permit rejects",
       [](auto& test) {
         test.profile.permit(
             "No", [](Cycle&) { return PermitResult{Outcome::unschedulable("quota"), {}}; });
       },
       QueuePlace::kUnschedulable, "Unschedulable", "0/1 nodes are available: 1 quota."},
      {"Permit fails",
       [](auto& test) {
         test.profile.permit("No",
                             [](Cycle&) { return PermitResult{Outcome::failure("broken"), {}}; });
       },
       QueuePlace::kErrorBackoff, "SchedulerError", "running Permit plugin \"No\": broken"},
      {"the wait times out", [](auto& test) { test.hold("Gang", 0s); }, QueuePlace::kUnschedulable,
       "Unschedulable",
       "0/1 nodes are available: 1 rejected due to timeout after waiting 0s at plugin Gang."},
      {"PreBind rejects: no rejector is remembered, so it counts as an error for the queue",
       [](auto& test) {
         test.profile.pre_bind(
             "No", [](Cycle&, CancelToken) { return answer(Outcome::unschedulable("late")); });
       },
       QueuePlace::kErrorBackoff, "Unschedulable", "late"},
      {"PreBind fails",
       [](auto& test) {
         test.profile.pre_bind(
             "No", [](Cycle&, CancelToken) { return answer(Outcome::failure("broken")); });
       },
       QueuePlace::kErrorBackoff, "SchedulerError", "running PreBind plugin \"No\": broken"},
      {"the preflight fails",
       [](auto& test) {
         auto& plugin = test.profile.pre_bind("No", [](Cycle&, CancelToken) { return answer({}); });
         plugin.flight = [] { return PreBindPreFlight{Outcome::failure("broken"), false}; };
       },
       QueuePlace::kErrorBackoff, "SchedulerError", "running PreBindPreFlight \"No\": broken"},
      {"the preflight fails while a plugin holds the pod: nobody waits any more",
       [](auto& test) {
         test.hold("Gang", 5min);
         auto& plugin = test.profile.pre_bind("No", [](Cycle&, CancelToken) { return answer({}); });
         plugin.flight = [] { return PreBindPreFlight{Outcome::failure("broken"), false}; };
       },
       QueuePlace::kErrorBackoff, "SchedulerError", "running PreBindPreFlight \"No\": broken"},
      {"Bind fails",
       [](auto& test) {
         test.profile.bind("No",
                           [](Cycle&, std::string_view) { return Outcome::failure("conflict"); });
       },
       QueuePlace::kErrorBackoff, "SchedulerError", "running Bind plugin \"No\": conflict"},
      {"Bind rejects",
       [](auto& test) {
         test.profile.bind(
             "No", [](Cycle&, std::string_view) { return Outcome::unschedulable("not mine"); });
       },
       QueuePlace::kErrorBackoff, "Unschedulable", "not mine"},
      {"every binder skips: no word of it is written",
       [](auto& test) {
         test.profile.bind("No", [](Cycle&, std::string_view) { return Outcome::skip(); });
       },
       QueuePlace::kErrorBackoff, nullptr, ""},
  };
  for (const FailureCase& c : cases) {
    SCOPED_TRACE(c.behaviour);
    struct OneCase : BindingCycleTest {
      void TestBody() override {}
    } test;
    c.arrange(test);
    test.fixture.start();
    const Ref<const Pod> pod = test.fixture.add("p");
    test.fixture.settle();
    EXPECT_EQ(test.fixture.queue->place(*pod), c.place);
    test.expect_undone();
    std::vector<PodCondition> conditions;
    for (const auto& [name, patch] : test.world.api.patches)
      if (patch.condition) conditions.push_back(*patch.condition);
    if (!c.reason) {
      EXPECT_THAT(conditions, IsEmpty());
      EXPECT_THAT(test.world.api.events, IsEmpty());
      continue;
    }
    ASSERT_EQ(conditions.size(), 1u);
    EXPECT_EQ(conditions[0].type, "PodScheduled");
    EXPECT_EQ(conditions[0].status, "False");
    EXPECT_EQ(conditions[0].reason, c.reason);
    EXPECT_EQ(conditions[0].message, c.message);
    ASSERT_EQ(test.world.api.events.size(), 1u);
    EXPECT_EQ(test.world.api.events[0].reason, "FailedScheduling");
    EXPECT_EQ(test.world.api.events[0].note, c.message);
  }
}

TEST_F(BindingCycleTest, WhoeverRejectedIsRememberedForTheQueue) {
  profile.permit("Quota", [](Cycle&) { return PermitResult{Outcome::unschedulable("no"), {}}; });
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  ASSERT_TRUE(fixture.queue->find(*pod));
  EXPECT_TRUE(fixture.queue->find(*pod)->unschedulable_plugins.contains("Quota"));
}

// ---- waiting

TEST_F(BindingCycleTest, APodWaitsUntilAllWhoHoldItAllow) {
  hold("A", 5min);
  hold("B", 5min);
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  EXPECT_THAT(fixture.observer.bound_pods, IsEmpty());
  EXPECT_EQ(world.cluster.assumed_count(), 1u);
  EXPECT_TRUE(world.waiting_pods.allow(pod->uid(), "A"));
  fixture.run_until(1min);
  EXPECT_THAT(fixture.observer.bound_pods, IsEmpty());
  EXPECT_TRUE(world.waiting_pods.allow(pod->uid(), "B"));
  fixture.settle();
  EXPECT_THAT(fixture.observer.bound_pods, ElementsAre("p on n1"));
}

TEST_F(BindingCycleTest, AWaitingPodsNodeIsNominatedForOthersToSee) {
  hold("A", 5min);
  fixture.start();
  fixture.add("p");
  fixture.settle();
  ASSERT_EQ(world.api.patches.size(), 1u);
  EXPECT_EQ(world.api.patches[0].second.nominated_node_name, "n1");
  EXPECT_FALSE(world.api.patches[0].second.condition);
}

// The gate SchedulerAsyncAPICalls.
TEST(BindingCycle, PreBindWaitsForTheNominationUnlessWritesAreAsynchronous) {
  for (const bool waits : {true, false}) {
    RecordingApi api;
    api.hold("patch");
    CycleFixture fixture;
    fixture.api = &api;
    fixture.binding_options.waits_for_nomination = waits;
    fixture.world.cluster.add_node(fixture.world.node("n1"));
    int prepared = 0;
    fixture.profile.pre_bind("PreBind", [&](Cycle&, CancelToken) {
      ++prepared;
      return answer({});
    });
    fixture.start();
    fixture.add("p");
    fixture.settle();
    EXPECT_EQ(prepared, waits ? 0 : 1);
  }
}

TEST_F(BindingCycleTest, APodThatBindsAtOnceIsNotNominatedFirst) {
  fixture.start();
  fixture.add("p");
  fixture.settle();
  EXPECT_THAT(world.api.patches, IsEmpty());
}

TEST_F(BindingCycleTest, APreemptedWaitIsAnErrorAndNotARejection) {
  hold("A", 5min);
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  EXPECT_TRUE(world.waiting_pods.preempt(pod->uid(), "DefaultPreemption", "preempted"));
  fixture.settle();
  EXPECT_EQ(fixture.last_failure()->message(), "waiting on permit for pod: preempted");
  EXPECT_EQ(fixture.queue->place(*pod), QueuePlace::kErrorBackoff);
  expect_undone();
}

// Events that came while the pod waited decide where it goes after a rejection.
TEST_F(BindingCycleTest, AnEventDuringTheWaitBringsARejectedPodBackSooner) {
  auto& gang = profile.permit("Gang", [](Cycle&) { return PermitResult::wait(1min); });
  gang.events = std::vector<EventRegistration>{{events::kNodeAdd, {}}};
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.run_until(10s);
  fixture.queue->move_all(events::kNodeAdd, {}, {});
  world.waiting_pods.reject(pod->uid(), "Gang", "no quorum");
  fixture.settle();
  EXPECT_THAT(fixture.observer.queued_pods, Contains("p backoff ScheduleAttemptFailure"));
  EXPECT_THAT(fixture.observer.queued_pods,
              Not(Contains("p unschedulable ScheduleAttemptFailure")));
}

TEST_F(BindingCycleTest, EventsAreNoLongerReplayedOncePreBindHasBegun) {
  auto& pre = profile.pre_bind("Slow", [](Cycle&, CancelToken) { return answer({}); });
  Eventual<int> go;
  pre.script = [&go](Cycle&, CancelToken) -> Task<Outcome> {
    return [](Eventual<int>& wait) -> Task<Outcome> {
      co_await wait;
      co_return Outcome::failure("broken");
    }(go);
  };
  fixture.start();
  fixture.add("p");
  fixture.settle();
  EXPECT_EQ(fixture.queue->sizes().in_flight, 0u);
  EXPECT_EQ(fixture.tasks.size(), 1u);
  go.set(1);
  fixture.settle();
  expect_undone();
}

TEST_F(BindingCycleTest, APodInPreBindCanBeCancelledWithACause) {
  profile.pre_bind("Slow", [this](Cycle&, CancelToken cancel) -> Task<Outcome> {
    return [](Loop& loop, CancelToken token) -> Task<Outcome> {
      SleepUntil later(loop, loop.now() + 1min);
      co_await later;
      co_return token.cancelled() ? Outcome::failure(std::string(kContextCanceled)) : Outcome();
    }(world.loop, cancel);
  });
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  EXPECT_TRUE(world.pods_in_pre_bind.cancel(pod->uid(), "preempted by DefaultPreemption"));
  fixture.run_until(1min);
  ASSERT_TRUE(fixture.last_failure());
  EXPECT_EQ(fixture.last_failure()->message(),
            "running PreBind plugin \"Slow\": preempted by DefaultPreemption");
  EXPECT_FALSE(world.pods_in_pre_bind.contains(pod->uid()));
}

TEST_F(BindingCycleTest, ACancelledPreBindThatSucceededAllTheSameIsStillAFailure) {
  profile.pre_bind("Stubborn", [this](Cycle&, CancelToken) -> Task<Outcome> {
    return [](Loop& loop) -> Task<Outcome> {
      SleepUntil later(loop, loop.now() + 1min);
      co_await later;
      co_return Outcome();
    }(world.loop);
  });
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  world.pods_in_pre_bind.cancel(pod->uid(), "preempted by DefaultPreemption");
  fixture.run_until(1min);
  EXPECT_EQ(fixture.last_failure()->message(), "preempted by DefaultPreemption");
}

// ---- others hear of the place that is free again

TEST_F(BindingCycleTest, AFreedPlaceWakesOthersButNotARejectedPodItself) {
  auto& filter = profile.filter("OnePod", [](const Cycle& c, NodeRow row) {
    return c.nodes().pod_counts()[row] > 0 ? Outcome::unschedulable("taken") : Outcome();
  });
  filter.events = std::vector<EventRegistration>{{events::kAssignedPodDelete, {}}};
  auto& gang = profile.permit("Gang", [](Cycle& c) {
    return c.pod().name() == "first" ? PermitResult::wait(1min) : PermitResult();
  });
  gang.events = std::vector<EventRegistration>{{events::kAssignedPodDelete, {}}};
  fixture.start();
  const Ref<const Pod> first = fixture.add(world.pod("first").priority(1));
  const Ref<const Pod> second = fixture.add("second");
  fixture.run_until(30s);
  EXPECT_EQ(fixture.queue->place(*second), QueuePlace::kUnschedulable);
  world.waiting_pods.reject(first->uid(), "Gang", "no quorum");
  fixture.run_until(31s);
  EXPECT_THAT(fixture.observer.bound_pods, ElementsAre("second on n1"));
  EXPECT_EQ(fixture.queue->place(*first), QueuePlace::kUnschedulable);
}

TEST_F(BindingCycleTest, AForgetThatComesTooLateIsNotedAndWakesNobody) {
  profile.bind("Lost", [this](Cycle& c, std::string_view) {
    // The binding took effect and the watch was faster than the answer.
    Ref<const Pod> bound = world.pod(std::string(c.pod().name())).on("n1").version("2");
    world.cluster.see_pod(bound);
    EXPECT_TRUE(world.cluster.add_pod(bound));
    return Outcome::failure("timeout");
  });
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  EXPECT_THAT(fixture.observer.internal_errors, Contains(HasSubstr("is not assumed")));
  EXPECT_EQ(fixture.queue->place(*pod), QueuePlace::kNowhere) << "it is bound after all";
  EXPECT_EQ(world.cluster.placed_count(), 1u);
}

}  // namespace
}  // namespace berth
