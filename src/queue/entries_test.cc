#include "queue/entries.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/testing/names.h"
#include "berth/random.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

TEST(Entries, AreFoundByNamespaceAndNameThroughAnyNumberOfChanges) {
  QueueWorld w;
  Random random(1);
  Entries entries;
  std::map<std::string, Ref<const Pod>> expected;
  std::vector<Ref<const Pod>> pods;
  for (int i = 0; i < 600; ++i)
    pods.push_back(w.pod("pod-" + std::to_string(i / 3)).in("ns-" + std::to_string(i % 3)));
  for (int step = 0; step < 20'000; ++step) {
    // Grows to hundreds, shrinks to a few, and again.
    const bool growing = step / 2'000 % 2 == 0;
    const Ref<const Pod>& pod = pods[random.below(pods.size())];
    const Slot slot = entries.find(*pod);
    ASSERT_EQ(slot != kNoSlot, expected.contains(pod->full_name()));
    if (slot == kNoSlot && random.chance(growing ? 0.9 : 0.1)) {
      QueuedPod queued;
      queued.pod = pod;
      entries.insert(std::move(queued));
      expected.emplace(pod->full_name(), pod);
    } else if (slot != kNoSlot && random.chance(growing ? 0.1 : 0.9)) {
      EXPECT_EQ(entries.take(slot).pod, pod);
      expected.erase(pod->full_name());
    }
    ASSERT_EQ(entries.size(), expected.size());
  }
  std::size_t visited = 0;
  entries.for_each([&](Slot slot) {
    ++visited;
    EXPECT_EQ(expected.at(entries[slot].pod().full_name()), entries[slot].queued.pod);
  });
  EXPECT_EQ(visited, expected.size());
}

TEST(Entries, StayWhereTheyAreWhileOthersCome) {
  QueueWorld w;
  Entries entries;
  QueuedPod first;
  first.pod = w.pod("first");
  const QueueEntry* entry = &entries[entries.insert(first)];
  for (int i = 0; i < 5'000; ++i) {
    QueuedPod queued;
    queued.pod = w.pod("pod-" + std::to_string(i));
    entries.insert(std::move(queued));
  }
  EXPECT_EQ(&entries[entries.find(*first.pod)], entry);
}

TEST(Entries, GiveBackTheMemoryOfAQueueThatWasLong) {
  QueueWorld w;
  Entries entries;
  std::vector<Slot> slots;
  const auto insert = [&](int number) {
    QueuedPod queued;
    queued.pod = w.pod("pod-" + std::to_string(number));
    return entries.insert(std::move(queued));
  };
  for (int i = 0; i < 20'000; ++i) slots.push_back(insert(i));
  EXPECT_GE(entries.capacity(), 20'000U);
  for (int i = 0; i < 19'900; ++i) entries.take(slots[static_cast<std::size_t>(i)]);
  EXPECT_LE(entries.capacity(), 3 * 1024U) << "the last hundred, and one spare chunk";
  for (int i = 0; i < 19'900; ++i) EXPECT_FALSE(entries.used(slots[static_cast<std::size_t>(i)]));
  EXPECT_EQ(insert(30'000), 0U) << "the lowest slot is used again";
  std::size_t visited = 0;
  entries.for_each([&](Slot) { ++visited; });
  EXPECT_EQ(visited, 101U);
}

}  // namespace
}  // namespace berth
