// How pods leave the unschedulable when they are many: hints asked per class, moves in slices.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/names.h"
#include "queue/in_flight.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

// More than are moved at once.
constexpr int kMany = 10'000;
constexpr ClusterEvent kTaint{EventResource::kNode, action::kUpdateNodeTaint, {}};

struct Moves : ::testing::Test {
  QueueWorld w;

  // So many pods that "Fit" rejected, all alike, out of backoff.
  std::vector<Ref<const Pod>> reject(int count) {
    std::vector<Ref<const Pod>> pods;
    for (int i = 0; i < count; ++i) {
      pods.push_back(w.rejected("pod-" + std::to_string(i), {"Fit"}));
      if (!pods.back()) ADD_FAILURE() << "pod-" << i << " was not popped";
    }
    w.wait(11s);
    w.log.take();
    return pods;
  }
  std::size_t active() { return w.queue().sizes().active; }
};

// ---- hints and classes

struct Asked {
  std::vector<std::string> pods;
  QueueingHint answer = QueueingHint::kSkip;

  HintFunction hint() {
    return [this](const Pod& pod, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
      pods.emplace_back(pod.name());
      return answer;
    };
  }
};

TEST_F(Moves, AHintThatGoesByTheClassIsAskedOncePerClass) {
  Asked asked;
  w.registers("Fit", events::kNodeAdd, asked.hint(), HintScope::kClass);
  for (int i = 0; i < 6; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    w.add(w.pod(name).cpu(i % 2 == 0 ? "1" : "2"));
    ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  }
  w.wait(11s);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(asked.pods, (std::vector<std::string>{"pod-0", "pod-1"}));
  EXPECT_EQ(active(), 0u);
  asked.answer = QueueingHint::kQueue;
  w.happens(events::kNodeAdd);
  EXPECT_EQ(asked.pods.size(), 4u);
  EXPECT_EQ(active(), 6u);
}

TEST_F(Moves, AHintThatMayGoByAnythingIsAskedAboutEveryPod) {
  Asked asked;
  w.registers("Fit", events::kNodeAdd, asked.hint());
  reject(3);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(asked.pods.size(), 3u);
}

TEST_F(Moves, OneHintThatMayGoByAnythingMakesAllBeAskedAboutEveryPod) {
  Asked by_class, by_pod;
  w.registers("Ports", events::kNodeAdd, by_pod.hint());
  w.registers("Fit", events::kNodeAdd, by_class.hint(), HintScope::kClass);
  for (const char* name : {"a", "b"}) ASSERT_TRUE(w.rejected(name, {"Fit", "Ports"}));
  w.happens(events::kNodeAdd);
  EXPECT_EQ(by_class.pods.size(), 2u);
  EXPECT_EQ(by_pod.pods.size(), 2u);
}

TEST_F(Moves, ThePodThatTheEventIsAboutIsKnownApartFromOthersLikeIt) {
  w.registers(
      "Fit", events::kAssignedPodDelete,
      [](const Pod& pod, const AnyObject& before, const AnyObject&) -> Result<QueueingHint> {
        const auto* gone = std::get_if<Ref<const Pod>>(&before);
        return gone && (*gone)->uid() == pod.uid() ? QueueingHint::kQueue : QueueingHint::kSkip;
      },
      HintScope::kClass);
  const auto pods = reject(4);
  w.queue().move_all(events::kAssignedPodDelete, pods[2], {});
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(w.place(pods[static_cast<std::size_t>(i)]),
              i == 2 ? QueuePlace::kActive : QueuePlace::kUnschedulable);
}

TEST_F(Moves, APodThatChangesChangesItsClass) {
  Asked asked;
  w.registers("Fit", events::kNodeAdd, asked.hint(), HintScope::kClass);
  const auto pods = reject(2);
  const Ref<const Pod> changed = w.pod("pod-0").label("app", "other").build();
  w.queue().update(*pods[0], changed);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(asked.pods.size(), 2u);
  w.queue().update(*changed, pods[0]);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(asked.pods.size(), 3u);
}

TEST_F(Moves, AHintThatClaimsToGoByTheClassAndDoesNotIsFoundOut) {
  w.options.verify_hints = true;
  w.registers(
      "Fit", events::kNodeAdd,
      [](const Pod& pod, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
        return pod.name() == "pod-2" ? QueueingHint::kQueue : QueueingHint::kSkip;
      },
      HintScope::kClass);
  reject(2);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(w.queue().hint_difference(), std::nullopt);
  ASSERT_TRUE(w.rejected("pod-2", {"Fit"}));
  w.happens(events::kNodeAdd);
  EXPECT_EQ(w.queue().hint_difference(),
            "after NodeAdd pod default/pod-2 is to be treated otherwise than pod default/pod-0, "
            "which is of its class");
}

// ---- slices

TEST_F(Moves, ManyPodsMoveInSlicesBetweenWhichOthersArePopped) {
  w.registers("Fit", events::kNodeAdd);
  reject(kMany);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(active(), 0u);
  ASSERT_TRUE(w.loop.step());
  const std::size_t slice = active();
  EXPECT_GT(slice, 0u);
  EXPECT_LT(slice, 5'000u);
  EXPECT_FALSE(w.pop_name().empty());
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_EQ(active(), std::size_t{kMany} - 1);
  EXPECT_EQ(w.queue().sizes().unschedulable, 0u);
  EXPECT_EQ(w.log.take().size(), std::size_t{kMany});
}

TEST_F(Moves, SomePodsMoveWithinTheEvent) {
  w.registers("Fit", events::kNodeAdd);
  reject(5'000);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(active(), 5'000u);
}

TEST_F(Moves, ManyPodsForWhichHintsSayNoStay) {
  w.registers("Fit", events::kNodeAdd, always(QueueingHint::kSkip));
  reject(kMany);
  w.happens(events::kNodeAdd);
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_EQ(w.queue().sizes().unschedulable, std::size_t{kMany});
}

TEST_F(Moves, WhoLeavesMeanwhileIsNotMovedAndWhoComesIsNotMeant) {
  w.registers("Fit", events::kNodeAdd);
  const auto pods = reject(kMany);
  w.happens(events::kNodeAdd);
  w.queue().remove(*pods[kMany - 1]);
  // Takes the slot of the one that was removed.
  const Ref<const Pod> late = w.rejected("late", {"Fit"});
  ASSERT_TRUE(late);
  // Tried and rejected since.
  w.queue().activate(std::vector{pods[kMany - 2]});
  ASSERT_EQ(w.place(pods[kMany - 2]), QueuePlace::kActive);
  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_EQ(w.place(late), QueuePlace::kUnschedulable);
  EXPECT_EQ(w.place(pods[kMany - 2]), QueuePlace::kUnschedulable);
  EXPECT_EQ(active(), std::size_t{kMany} - 2);
}

TEST_F(Moves, AChangeOfClassMeanwhileLosesNobody) {
  w.registers("Fit", events::kNodeAdd);
  const auto pods = reject(kMany);
  w.happens(events::kNodeAdd);
  const Ref<const Pod> changed =
      w.pod(std::string(pods[kMany - 1]->name())).label("app", "other").build();
  w.queue().update(*pods[kMany - 1], changed);
  ASSERT_EQ(w.place(changed), QueuePlace::kUnschedulable);
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_EQ(w.place(changed), QueuePlace::kActive);
}

TEST_F(Moves, AnotherEventMeanwhileFindsWhoIsLeft) {
  w.registers("Fit", events::kNodeAdd, always(QueueingHint::kSkip));
  w.registers("Fit", kTaint);
  reject(kMany);
  w.happens(events::kNodeAdd);
  w.happens(kTaint);
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_EQ(active(), std::size_t{kMany});
}

TEST_F(Moves, WhenEventsComeFasterThanPodsCanBeJudgedEverybodyGetsAnotherTry) {
  Asked asked;
  w.registers("Fit", events::kNodeAdd, asked.hint());
  reject(kMany);
  for (int i = 0; i < 100; ++i) w.happens(events::kNodeAdd);
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_LT(asked.pods.size(), std::size_t{20} * kMany);
  EXPECT_EQ(active(), std::size_t{kMany});
}

TEST_F(Moves, ManyPodsWhoseTimeIsOverMoveInSlices) {
  reject(kMany);
  w.loop.run_until(w.loop.now() + 5min);
  while (w.queue().sizes().active == 0 && w.loop.step()) {
  }
  EXPECT_LT(active(), 5'000u);
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_EQ(active(), std::size_t{kMany});
}

TEST_F(Moves, ManyBackoffsThatEndTogetherEndInSlices) {
  w.options.pop_from_backoff = false;
  for (int i = 0; i < 2 * kMany; ++i) w.add("pod-" + std::to_string(i));
  std::vector<QueuedPod> popped;
  for (int i = 0; i < 2 * kMany; ++i) popped.push_back(w.pop());
  for (QueuedPod& queued : popped) ASSERT_TRUE(w.fails(std::move(queued)));
  ASSERT_EQ(w.queue().sizes().backoff, std::size_t{2} * kMany);
  while (active() == 0 && w.loop.step()) {
  }
  EXPECT_LT(active(), std::size_t{2} * kMany);
  while (w.loop.has_posted()) w.loop.step();
  EXPECT_EQ(active(), std::size_t{2} * kMany);
  EXPECT_EQ(w.queue().sizes().backoff, 0u);
}

TEST_F(Moves, AQueueThatGoesAwayLeavesNothingBehind) {
  w.registers("Fit", events::kNodeAdd);
  reject(kMany);
  w.happens(events::kNodeAdd);
  w.drop_queue();
  while (w.loop.step()) {
  }
}

}  // namespace
}  // namespace berth
