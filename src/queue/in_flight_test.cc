#include "queue/in_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

constexpr auto kAll = [](const ClusterEvent&) { return true; };

Uid uid(std::uint64_t number) { return {1, number}; }

// Events are told apart by their action bits here.
struct Flight {
  InFlight in_flight;
  void event(std::uint32_t number) { in_flight.record({EventResource::kNode, number, {}}, {}, {}); }
  std::vector<std::uint32_t> missed(std::uint64_t pod) const {
    std::vector<std::uint32_t> numbers;
    in_flight.for_each_missed(uid(pod), kAll, [&](const MissedEvent& missed) {
      numbers.push_back(missed.event.actions);
      return true;
    });
    return numbers;
  }
};

TEST(InFlight, WithNobodyInFlightNothingIsKept) {
  Flight flight;
  flight.event(1);
  EXPECT_EQ(flight.in_flight.events(), 0U);
}

TEST(InFlight, APodMissesWhatCameAfterItWasPopped) {
  Flight flight;
  flight.in_flight.begin(uid(1));
  flight.event(1);
  flight.event(2);
  flight.in_flight.begin(uid(2));
  flight.event(3);
  flight.in_flight.begin(uid(3));
  EXPECT_THAT(flight.missed(1), ElementsAre(1, 2, 3));
  EXPECT_THAT(flight.missed(2), ElementsAre(3));
  EXPECT_THAT(flight.missed(3), IsEmpty());
  EXPECT_FALSE(
      flight.in_flight.for_each_missed(uid(9), kAll, [](const MissedEvent&) { return true; }));
}

TEST(InFlight, OfTooManyEventsTheFirstAreDroppedAndWhoMissedThemMayHaveMissedAnything) {
  Flight flight;
  const auto knows = [&](std::uint64_t pod) {
    return flight.in_flight.for_each_missed(uid(pod), kAll,
                                            [](const MissedEvent&) { return true; });
  };
  flight.in_flight.begin(uid(1));
  flight.event(1);
  flight.event(2);
  flight.in_flight.begin(uid(2));
  for (std::size_t i = 0; i < InFlight::kMostEvents - 2; ++i) flight.event(3);
  EXPECT_EQ(flight.in_flight.events(), InFlight::kMostEvents);
  EXPECT_TRUE(knows(1));
  flight.event(4);
  EXPECT_FALSE(knows(1));
  EXPECT_TRUE(knows(2));
  EXPECT_EQ(flight.missed(2).size(), InFlight::kMostEvents - 1);
  // Nobody is left for whom any of them is kept.
  flight.in_flight.end(uid(2));
  EXPECT_EQ(flight.in_flight.events(), 0U);
  EXPECT_TRUE(flight.in_flight.contains(uid(1)));
  flight.event(5);
  EXPECT_FALSE(knows(1));
  flight.in_flight.end(uid(1));
  EXPECT_EQ(flight.in_flight.events(), 0U);
  EXPECT_EQ(flight.in_flight.pods(), 0U);
}

TEST(InFlight, APodThatIsAloneWithTooManyEventsKeepsNone) {
  Flight flight;
  flight.in_flight.begin(uid(1));
  for (std::size_t i = 0; i < 3 * InFlight::kMostEvents; ++i) flight.event(1);
  EXPECT_LE(flight.in_flight.events(), InFlight::kMostEvents);
  flight.in_flight.begin(uid(2));
  flight.event(2);
  EXPECT_THAT(flight.missed(2), ElementsAre(2));
}

TEST(InFlight, APodThatMayHaveMissedAnythingIsTriedAgain) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd, always(QueueingHint::kSkip));
  const Ref<const Pod> pod = w.add("slow");
  QueuedPod popped = w.pop();
  for (std::size_t i = 0; i <= InFlight::kMostEvents; ++i) w.happens(events::kNodeAdd);
  ASSERT_TRUE(w.fails(std::move(popped), {"Fit"}));
  EXPECT_EQ(w.place(pod), QueuePlace::kBackoff);
}

TEST(InFlight, LookingStopsWhenToldTo) {
  Flight flight;
  flight.in_flight.begin(uid(1));
  for (std::uint32_t i = 1; i <= 5; ++i) flight.event(i);
  int seen = 0;
  flight.in_flight.for_each_missed(uid(1), kAll, [&](const MissedEvent&) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
}

TEST(InFlight, APodCannotBeInFlightTwice) {
  Flight flight;
  EXPECT_TRUE(flight.in_flight.begin(uid(1)));
  EXPECT_FALSE(flight.in_flight.begin(uid(1)));
  flight.event(1);
  flight.in_flight.end(uid(1));
  flight.in_flight.end(uid(1));
  EXPECT_EQ(flight.in_flight.pods(), 0U);
  EXPECT_EQ(flight.in_flight.events(), 0U);
}

// Popped and happened: 1, e1, 2, 3, e2, 4, e3. Whoever ends in whatever order: an event stays as
// long as somebody who was popped before it is in flight and no longer, and nobody's events change.
TEST(InFlight, EventsAreDroppedWithTheLastWhoMissedThemInEveryOrderOfEnding) {
  std::array<std::uint64_t, 4> order{1, 2, 3, 4};
  const auto expected = [](std::uint64_t pod) -> std::vector<std::uint32_t> {
    if (pod == 1) return {1, 2, 3};
    if (pod == 4) return {3};
    return {2, 3};
  };
  int orders = 0;
  do {
    Flight flight;
    flight.in_flight.begin(uid(1));
    flight.event(1);
    flight.in_flight.begin(uid(2));
    flight.in_flight.begin(uid(3));
    flight.event(2);
    flight.in_flight.begin(uid(4));
    flight.event(3);
    std::vector<std::uint64_t> left(order.begin(), order.end());
    for (const std::uint64_t ending : order) {
      flight.in_flight.end(uid(ending));
      std::erase(left, ending);
      std::size_t needed = 0;
      for (const std::uint64_t pod : left) {
        EXPECT_EQ(flight.missed(pod), expected(pod));
        needed = std::max(needed, expected(pod).size());
      }
      EXPECT_EQ(flight.in_flight.events(), needed);
      EXPECT_EQ(flight.in_flight.pods(), left.size());
    }
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(orders, 24);
}

TEST(InFlight, ObjectsOfKeptEventsLiveAsLongAsTheEvents) {
  QueueWorld w;
  Flight flight;
  flight.in_flight.begin(uid(1));
  Ref<const Pod> pod = w.pod("a");
  const Pod* object = pod.get();
  flight.in_flight.record(events::kAssignedPodDelete, pod, {});
  EXPECT_EQ(pod->use_count(), 2U);
  pod = nullptr;
  flight.in_flight.for_each_missed(uid(1), kAll, [&](const MissedEvent& missed) {
    EXPECT_EQ(std::get<Ref<const Pod>>(missed.before).get(), object);
    return true;
  });
}

// ---- through the queue

TEST(InFlight, AnEventBeforeThePopIsNotReplayed) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto pod = w.add("a");
  w.happens(events::kNodeAdd);
  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  EXPECT_EQ(w.place(pod), QueuePlace::kUnschedulable);
}

TEST(InFlight, AnEventIsReplayedForWhoWasPoppedBeforeItInWhateverOrderTheyReturn) {
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    QueueWorld w;
    w.registers("Fit", events::kNodeAdd);
    w.add("a");
    w.add("b");
    w.add("c");
    std::array<QueuedPod, 3> popped;
    popped[0] = w.pop();
    w.happens(events::kAssignedPodAdd);  // nobody's business
    popped[1] = w.pop();
    w.happens(events::kNodeAdd);
    popped[2] = w.pop();
    EXPECT_EQ(w.queue().sizes().in_flight_events, 1U);
    for (const std::size_t i : order) {
      const Ref<const Pod> pod = popped[i].pod;
      ASSERT_TRUE(w.fails(popped[i], {"Fit"}));
      EXPECT_EQ(w.place(pod), i < 2 ? QueuePlace::kBackoff : QueuePlace::kUnschedulable);
    }
    EXPECT_EQ(w.queue().sizes().in_flight_events, 0U);
  } while (std::ranges::next_permutation(order).found);
}

TEST(InFlight, AnEventThatMovesNobodyAndOneRestrictedToOthersAreKept) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd, always(QueueingHint::kSkip));
  w.add("a");
  w.pop();
  w.happens(events::kNodeAdd);
  w.queue().move_all(events::kNodeAdd, {}, {}, [](const Pod&) { return false; });
  EXPECT_EQ(w.queue().sizes().in_flight_events, 2U);
}

TEST(InFlight, AnEventThatNobodyRegisteredIsNotKeptButAWildcardIs) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto pod = w.add("a");
  QueuedPod popped = w.pop();
  w.happens(events::kNodeDelete);
  EXPECT_EQ(w.queue().sizes().in_flight_events, 0U);
  w.happens({EventResource::kWildcard, action::kAll, {}});
  EXPECT_EQ(w.queue().sizes().in_flight_events, 1U);
  ASSERT_TRUE(w.fails(std::move(popped), {"Nobody"}));
  EXPECT_EQ(w.place(pod), QueuePlace::kBackoff);
}

TEST(InFlight, AHintSeesTheObjectsOfAReplayedEvent) {
  QueueWorld w;
  const Ref<const Node> node = w.world.node("n1");
  std::vector<std::string> seen;
  w.registers(
      "Fit", events::kNodeAdd,
      [&](const Pod& pod, const AnyObject& before, const AnyObject& after) -> Result<QueueingHint> {
        EXPECT_TRUE(std::holds_alternative<std::monostate>(before));
        seen.push_back(std::string(pod.name()) + " " + std::get<Ref<const Object>>(after)->name);
        return QueueingHint::kSkip;
      });
  w.add("a");
  QueuedPod popped = w.pop();
  w.queue().move_all(events::kNodeAdd, {}, Ref<const Object>(node));
  ASSERT_TRUE(w.fails(std::move(popped), {"Fit"}));
  EXPECT_THAT(seen, ElementsAre("a n1"));
}

TEST(InFlight, EventsThatNobodyWantsAreNotVisited) {
  InFlight in_flight;
  in_flight.record(events::kNodeDelete, {}, {});  // before anybody is in flight
  in_flight.begin(uid(1));
  in_flight.record(events::kNodeAdd, {}, {});
  in_flight.record(events::kAssignedPodDelete, {}, {});
  in_flight.record(events::kNodeAdd, {}, {});
  in_flight.begin(uid(2));
  in_flight.record(events::kAssignedPodAdd, {}, {});
  const auto missed = [&](std::uint64_t pod, const ClusterEvent& wanted) {
    int count = 0;
    EXPECT_TRUE(in_flight.for_each_missed(
        uid(pod),
        [&](const ClusterEvent& event) {
          return event.resource == wanted.resource && event.actions == wanted.actions;
        },
        [&](const MissedEvent& event) {
          EXPECT_EQ(event.event.label(), wanted.label());
          ++count;
          return true;
        }));
    return count;
  };
  EXPECT_EQ(missed(1, events::kNodeAdd), 2);
  EXPECT_EQ(missed(1, events::kAssignedPodDelete), 1);
  EXPECT_EQ(missed(1, events::kNodeDelete), 0);
  EXPECT_EQ(missed(2, events::kNodeAdd), 0);
  EXPECT_EQ(missed(2, events::kAssignedPodAdd), 1);
}

}  // namespace
}  // namespace berth
