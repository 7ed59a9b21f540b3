// Pods that are removed, changed or activated while they are queued or in flight (core.md §5.10),
// and who is told of what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

// ---- delete

TEST(Operations, ARemovedPodIsGoneFromWhereverItIs) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto unschedulable = w.rejected("u", {"Fit"});
  const auto backoff = w.rejected("b", {});
  const auto active = w.add("a");
  EXPECT_EQ(w.queue().sizes(), (QueueSizes{.active = 1, .backoff = 1, .unschedulable = 1}));
  for (const auto& pod : {unschedulable, backoff, active}) {
    w.queue().remove(*pod);
    EXPECT_EQ(w.place(pod), kNowhere);
    w.queue().remove(*pod);
  }
  EXPECT_EQ(w.queue().sizes(), QueueSizes{});
}

TEST(Operations, ARemovedPodCountsNoLongerUnderItsRejectors) {
  for (const QueuePlace place : {kActive, kBackoff, kUnschedulable}) {
    QueueWorld w;
    w.log.measures = true;
    w.registers("Fit", events::kNodeAdd);
    const auto pod = w.rejected("a", {"Fit"});
    if (place == kActive) w.wait(10s);
    if (place != kUnschedulable) w.happens(events::kNodeAdd);
    ASSERT_EQ(w.place(pod), place);
    EXPECT_EQ(w.log.rejectors["Fit"], 1);
    w.queue().remove(*pod);
    EXPECT_EQ(w.log.rejectors["Fit"], 0);
  }
}

TEST(Operations, RemovingAPodInFlightLeavesItInFlight) {
  QueueWorld w;
  const auto pod = w.add("a");
  w.pop();
  w.queue().remove(*pod);
  EXPECT_TRUE(w.queue().in_flight(pod->uid()));
}

// ---- update

TEST(Operations, AnUpdateOfAQueuedPodChangesItInPlace) {
  QueueWorld w;
  w.add(w.pod("a").priority(1));
  const auto before = w.add(w.pod("b").priority(1));
  const Ref<const Pod> after = w.pod("b").priority(7).version("2");
  w.log.take();
  w.queue().update(*before, after);
  EXPECT_EQ(w.queue().find(*after)->pod, after);
  EXPECT_THAT(w.log.take(), IsEmpty());
  EXPECT_EQ(w.pop_name(), "b") << "its place in the order follows";
}

TEST(Operations, AnUpdateInBackoffStaysInBackoff) {
  QueueWorld w;
  w.registers("Fit", {EventResource::kTargetPod, action::kUpdate, {}});
  for (const PluginNames& rejectors : {PluginNames{}, PluginNames{"Fit"}}) {
    QueuedPod queued;
    queued.pod = w.pod("a").build();
    ASSERT_TRUE(w.fails(queued, rejectors));
    const QueuePlace place = w.place(queued.pod);
    const Ref<const Pod> after = w.pod("a").version("2");
    w.queue().update(*queued.pod, after);
    EXPECT_EQ(w.place(after), place);
    EXPECT_EQ(w.queue().find(*after)->pod, after);
    w.queue().remove(*after);
  }
}

TEST(Operations, AnUpdateOfAnUnschedulablePodMovesItWhenAHintSaysSo) {
  const ClusterEvent tolerations{EventResource::kTargetPod, action::kUpdatePodToleration, {}};
  struct Row {
    const char* what;
    QueueingHint hint;
    bool tolerates_more;
    Duration waited;
    QueuePlace expected;
  };
  const std::array rows{
      Row{"helps, backoff over", QueueingHint::kQueue, true, 10s, kActive},
      Row{"helps, backing off", QueueingHint::kQueue, true, 0s, kBackoff},
      Row{"does not help", QueueingHint::kSkip, true, 10s, kUnschedulable},
      Row{"something else changed", QueueingHint::kQueue, false, 10s, kUnschedulable},
  };
  for (const Row& row : rows) {
    QueueWorld w;
    w.registers("Taint", tolerations, always(row.hint));
    const auto before = w.rejected("a", {"Taint"});
    w.wait(row.waited);
    w.log.take();
    auto builder = w.pod("a");
    builder.version("2");
    if (row.tolerates_more) builder.tolerates("gpu");
    const Ref<const Pod> after = builder;
    w.queue().update(*before, after);
    EXPECT_EQ(w.place(after), row.expected) << row.what;
    EXPECT_EQ(w.queue().find(*after)->pod, after) << row.what;
    if (row.expected == kUnschedulable)
      EXPECT_THAT(w.log.take(), IsEmpty()) << row.what;
    else
      EXPECT_TRUE(w.log.take().front().ends_with(" a TargetPodUpdatePodToleration")) << row.what;
  }
}

TEST(Operations, TheFirstOfSeveralUpdateEventsThatHelpsMovesThePodOnce) {
  QueueWorld w;
  w.registers("Taint", {EventResource::kTargetPod, action::kUpdatePodLabel, {}});
  w.registers("Taint", {EventResource::kTargetPod, action::kUpdatePodToleration, {}});
  const auto before = w.rejected("a", {"Taint"});
  w.wait(10s);
  w.log.take();
  w.queue().update(*before, w.pod("a").label("x", "y").tolerates("gpu"));
  EXPECT_THAT(w.log.take(), ElementsAre("active a TargetPodUpdatePodLabel"));
}

TEST(Operations, AnUpdateOfAPodInFlightIsRememberedForItsReturn) {
  QueueWorld w;
  w.registers("Taint", {EventResource::kTargetPod, action::kUpdatePodToleration, {}});
  const auto before = w.add("a");
  QueuedPod popped = w.pop();
  const Ref<const Pod> after = w.pod("a").tolerates("gpu");
  w.queue().update(*before, after);
  EXPECT_EQ(w.place(after), kNowhere);
  EXPECT_EQ(w.queue().sizes().in_flight_events, 1U);
  popped.pod = after;
  ASSERT_TRUE(w.fails(std::move(popped), {"Taint"}));
  EXPECT_EQ(w.place(after), kBackoff);
}

// Upstream keeps one list of events for all pods in flight, and hints about a pod's own update take
// it for granted whose it is.
TEST(Operations, AnUpdateOfAPodInFlightCountsForTheOthersInFlight) {
  QueueWorld w;
  w.registers("Taint", {EventResource::kTargetPod, action::kUpdatePodToleration, {}});
  const auto first = w.add("first"), second = w.add("second"), late = w.add("late");
  w.pop();
  QueuedPod other = w.pop();
  w.queue().update(*first, w.pod("first").tolerates("gpu"));
  QueuedPod popped_later = w.pop();
  ASSERT_TRUE(w.fails(std::move(other), {"Taint"}));
  EXPECT_EQ(w.place(second), kBackoff);
  ASSERT_TRUE(w.fails(std::move(popped_later), {"Taint"}));
  EXPECT_EQ(w.place(late), kUnschedulable) << "its flight began after the update";
}

// Only the pod's own hints are asked.
TEST(Operations, AnUpdateOfAnUnschedulablePodMovesNoOther) {
  QueueWorld w;
  w.registers("Taint", {EventResource::kTargetPod, action::kUpdatePodToleration, {}});
  const auto before = w.rejected("a", {"Taint"}), other = w.rejected("b", {"Taint"});
  w.queue().update(*before, w.pod("a").tolerates("gpu"));
  EXPECT_EQ(w.place(before), kBackoff);
  EXPECT_EQ(w.place(other), kUnschedulable);
}

// ---- activate

TEST(Operations, ActivationIgnoresBackoffAndRejectors) {
  QueueWorld w;
  const auto unschedulable = w.rejected("u", {"Fit"});
  const auto error = w.rejected("e", {});
  w.registers("Fit", events::kNodeAdd);
  w.log.take();
  w.queue().activate(std::array{unschedulable, error});
  EXPECT_EQ(w.place(unschedulable), kActive);
  EXPECT_EQ(w.place(error), kActive);
  EXPECT_THAT(w.log.take(), ElementsAre("active u ForceActivate", "active e ForceActivate"));
}

TEST(Operations, ActivatingAPodInBackoffMakesItActive) {
  for (const bool pop_from_backoff : {true, false}) {
    QueueWorld w;
    w.options.pop_from_backoff = pop_from_backoff;
    w.registers("Fit", events::kNodeAdd);
    const auto pod = w.rejected("a", {"Fit"});
    w.happens(events::kNodeAdd);
    ASSERT_EQ(w.place(pod), kBackoff);
    w.queue().activate(std::array{pod});
    EXPECT_EQ(w.place(pod), kActive);
  }
}

TEST(Operations, ActivatingActiveOrUnknownPodsChangesNothing) {
  QueueWorld w;
  const auto active = w.add("a");
  w.log.take();
  w.queue().activate(std::array{active, w.pod("unknown").build()});
  EXPECT_THAT(w.log.take(), IsEmpty());
  EXPECT_EQ(w.queue().sizes(), QueueSizes{.active = 1});
}

TEST(Operations, AnActivatedPodInFlightIsRetriedWhenItComesBack) {
  QueueWorld w;
  const auto pod = w.add("a");
  w.add("b");
  QueuedPod a = w.pop(), b = w.pop();
  w.queue().activate(std::array{pod});
  EXPECT_EQ(w.queue().sizes().in_flight_events, 1U);
  const auto other = b.pod;
  ASSERT_TRUE(w.fails(std::move(a), {"Fit"}));
  ASSERT_TRUE(w.fails(std::move(b), {"Fit"}));
  EXPECT_EQ(w.place(pod), kBackoff);
  EXPECT_EQ(w.place(other), kUnschedulable) << "it was not meant";
}

// ---- who is told

TEST(Operations, WhoWaitsIsToldOncePerOperationAndMayPopAtOnce) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  int told = 0;
  std::vector<std::string> popped;
  w.queue().on_ready([&] {
    ++told;
    while (auto next = w.queue().pop()) {
      popped.emplace_back(next->pod->name());
      w.queue().done(next->pod->uid());
    }
  });
  w.add("a");
  EXPECT_EQ(told, 1);
  EXPECT_THAT(popped, ElementsAre("a"));
  w.queue().on_ready({});
  w.rejected("b", {"Fit"});
  w.rejected("c", {"Fit"});
  w.wait(10s);
  w.queue().on_ready([&] {
    ++told;
    EXPECT_EQ(w.queue().sizes().active, 2U) << "told before the operation was over";
  });
  w.happens(events::kNodeAdd);
  EXPECT_EQ(told, 2);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(told, 2) << "nothing new";
}

TEST(Operations, NobodyIsToldOfPodsThatCannotBePopped) {
  QueueWorld w;
  w.options.pop_from_backoff = false;
  w.registers("Fit", events::kNodeAdd);
  w.rejected("a", {"Fit"});
  QueuedPod error;
  error.pod = w.pod("e").build();
  int told = 0;
  w.queue().on_ready([&] { ++told; });
  w.happens(events::kNodeAdd);
  ASSERT_TRUE(w.fails(error, {}));
  EXPECT_EQ(told, 0);
  w.wait(3s);
  EXPECT_GE(told, 1);
}

TEST(Operations, AnyQueueSortDecidesTheOrder) {
  struct ByName final : QueueSortPlugin {
    std::string_view name() const override { return "ByName"; }
    bool less(const QueuedPod& a, const QueuedPod& b) const override {
      return a.pod->name() < b.pod->name();
    }
  } by_name;
  QueueWorld w;
  w.sort = &by_name;
  for (const char* name : {"c", "a", "d", "b"}) w.add(name);
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) order.push_back(w.pop_name());
  EXPECT_THAT(order, ElementsAre("a", "b", "c", "d"));
}

TEST(Operations, AQueueSortThatThrowsLeavesTheOrderOfArrival) {
  struct Broken final : QueueSortPlugin {
    std::string_view name() const override { return "Broken"; }
    bool less(const QueuedPod&, const QueuedPod&) const override { throw 42; }
  } broken;
  QueueWorld w;
  w.sort = &broken;
  for (const char* name : {"c", "a", "b"}) w.add(name);
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) order.push_back(w.pop_name());
  EXPECT_THAT(order, ElementsAre("c", "a", "b"));
  EXPECT_FALSE(w.log.internal_errors.empty());
}

}  // namespace
}  // namespace berth
