#include "berth/ref.h"

#include <gtest/gtest.h>

#include <unordered_set>
#include <utility>
#include <vector>

#include "base/thread.h"

namespace berth {
namespace {

struct Thing : RefCounted<Thing> {
  explicit Thing(int& ended) : ended_(&ended) {}
  Thing(const Thing&) = default;
  ~Thing() { ++*ended_; }
  int* ended_;
};

TEST(Ref, TheObjectGoesWithItsLastRef) {
  int ended = 0;
  {
    Ref<Thing> first = make_ref<Thing>(ended);
    EXPECT_EQ(first->use_count(), 1U);
    Ref<const Thing> second = first;
    EXPECT_EQ(second->use_count(), 2U);
    first = nullptr;
    EXPECT_FALSE(first);
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(second->use_count(), 1U);
  }
  EXPECT_EQ(ended, 1);
}

TEST(Ref, MovingDoesNotCount) {
  int ended = 0;
  Ref<Thing> from = make_ref<Thing>(ended);
  Ref<const Thing> to = std::move(from);
  EXPECT_EQ(to->use_count(), 1U);
  EXPECT_EQ(from, nullptr);  // NOLINT(bugprone-use-after-move): that is the point
  Ref<const Thing> further = std::move(to);
  EXPECT_EQ(further->use_count(), 1U);
}

TEST(Ref, AssigningToItselfKeepsTheObject) {
  int ended = 0;
  Ref<Thing> thing = make_ref<Thing>(ended);
  Ref<Thing>& alias = thing;
  thing = alias;
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(thing->use_count(), 1U);
}

TEST(Ref, EqualMeansTheSameObject) {
  int ended = 0;
  const Ref<Thing> a = make_ref<Thing>(ended);
  const Ref<Thing> b = make_ref<Thing>(ended);
  EXPECT_EQ(a, Ref<Thing>(a));
  EXPECT_NE(a, b);
  EXPECT_EQ((std::unordered_set<Ref<Thing>>{a, b, a}.size()), 2U);
}

TEST(Ref, ACopyOfTheObjectCountsForItself) {
  int ended = 0;
  const Ref<Thing> original = make_ref<Thing>(ended);
  const Ref<Thing> also_original = original;
  const Ref<Thing> copy = make_ref<Thing>(*original);
  EXPECT_EQ(copy->use_count(), 1U);
  EXPECT_EQ(original->use_count(), 2U);
}

TEST(ConcurrentRef, ThreadsShareAnObjectThatGoesOnce) {
  for (int round = 0; round < 200; ++round) {
    int ended = 0;
    {
      std::vector<Thread> threads;
      Ref<const Thing> thing = make_ref<Thing>(ended);
      for (int i = 0; i < 3; ++i)
        threads.emplace_back("sharer", [mine = thing] {
          for (int copies = 0; copies < 20; ++copies) Ref<const Thing> another = mine;
        });
      thing = nullptr;
    }
    ASSERT_EQ(ended, 1);
  }
}

}  // namespace
}  // namespace berth
