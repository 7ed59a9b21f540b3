#include "net/connection_slots.h"

#include <gtest/gtest.h>

namespace berth::net {
namespace {

constexpr bool kStranger = false;
constexpr bool kNode = true;

TEST(ConnectionSlots, TheOneThatWaitedLongestGoes) {
  ConnectionSlots slots(3, 0);
  const auto first = slots.enter(kStranger, 0);
  const auto second = slots.enter(kStranger, 1);
  const auto third = slots.enter(kStranger, 0);
  ASSERT_TRUE(first && second && third);
  EXPECT_FALSE(third->evicted);
  // The first has had a request answered since, so the second has waited longer.
  slots.set_busy(first->id, false);
  const auto fourth = slots.enter(kStranger, 0);
  ASSERT_TRUE(fourth && fourth->evicted);
  EXPECT_EQ(fourth->evicted->id, second->id);
  EXPECT_EQ(fourth->evicted->worker, 1u);
  slots.leave(second->id);  // closed at last; it had no slot any more
  EXPECT_EQ(slots.enter(kStranger, 0)->evicted->id, third->id);
  EXPECT_EQ(slots.enter(kStranger, 0)->evicted->id, first->id);
}

TEST(ConnectionSlots, OneThatIsBeingAnsweredStays) {
  ConnectionSlots slots(2, 0);
  const auto busy = slots.enter(kStranger, 0);
  const auto idle = slots.enter(kStranger, 0);
  slots.set_busy(busy->id, true);
  const auto third = slots.enter(kStranger, 0);
  EXPECT_EQ(third->evicted->id, idle->id);
  slots.set_busy(third->id, true);
  EXPECT_FALSE(slots.enter(kStranger, 0));
  slots.leave(busy->id);
  EXPECT_TRUE(slots.enter(kStranger, 0));
}

TEST(ConnectionSlots, TheNodeGetsInWhenStrangersAreBusyWithAllOthers) {
  ConnectionSlots slots(2, 1);
  for (int i = 0; i < 2; ++i) slots.set_busy(slots.enter(kStranger, 0)->id, true);
  EXPECT_FALSE(slots.enter(kStranger, 0));
  const auto probe = slots.enter(kNode, 0);
  ASSERT_TRUE(probe);
  EXPECT_FALSE(probe->evicted);
  // Strangers do not push it out; only another from this machine does.
  EXPECT_FALSE(slots.enter(kStranger, 0));
  EXPECT_EQ(slots.enter(kNode, 0)->evicted->id, probe->id);
}

TEST(ConnectionSlots, ClientsOnThisMachineMayHaveTheCommonSlotsToo) {
  ConnectionSlots slots(2, 1);
  for (int i = 0; i < 3; ++i) {
    const auto entry = slots.enter(kNode, 0);
    ASSERT_TRUE(entry);
    EXPECT_FALSE(entry->evicted);
    slots.set_busy(entry->id, true);
  }
  EXPECT_FALSE(slots.enter(kNode, 0));
}

}  // namespace
}  // namespace berth::net
