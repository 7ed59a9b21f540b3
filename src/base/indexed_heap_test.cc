#include "base/indexed_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "berth/random.h"

namespace berth {
namespace {

// Slots ordered by a number that the test may change, then by slot.
struct Ranked {
  std::vector<int> rank;
  struct Less {
    const std::vector<int>* rank;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return std::pair((*rank)[a], a) < std::pair((*rank)[b], b);
    }
  };
  IndexedHeap<Less> heap{Less{&rank}};

  explicit Ranked(std::vector<int> ranks) : rank(std::move(ranks)) {
    for (std::uint32_t slot = 0; slot < rank.size(); ++slot) heap.push(slot);
  }
  std::vector<std::uint32_t> drain() {
    std::vector<std::uint32_t> slots;
    while (!heap.empty()) slots.push_back(heap.pop());
    return slots;
  }
};

using Slots = std::vector<std::uint32_t>;

TEST(IndexedHeap, GivesOutTheSmallestFirst) {
  Ranked ranked({5, 1, 4, 1, 3});
  EXPECT_EQ(ranked.heap.size(), 5U);
  EXPECT_EQ(ranked.heap.top(), 1U);
  EXPECT_EQ(ranked.drain(), (Slots{1, 3, 4, 2, 0}));
  EXPECT_TRUE(ranked.heap.empty());
}

TEST(IndexedHeap, KnowsWhatItContains) {
  Ranked ranked({2, 1});
  EXPECT_TRUE(ranked.heap.contains(0));
  EXPECT_FALSE(ranked.heap.contains(7));
  ranked.heap.remove(0);
  EXPECT_FALSE(ranked.heap.contains(0));
  EXPECT_EQ(ranked.heap.slots(), (Slots{1}));
  ranked.heap.push(0);
  EXPECT_EQ(ranked.drain(), (Slots{1, 0}));
}

TEST(IndexedHeap, FixMovesASlotEitherWay) {
  Ranked ranked({10, 20, 30, 40, 50});
  ranked.rank[4] = 5;
  ranked.heap.fix(4);
  EXPECT_EQ(ranked.heap.top(), 4U);
  ranked.rank[4] = 25;
  ranked.heap.fix(4);
  EXPECT_EQ(ranked.drain(), (Slots{0, 1, 4, 2, 3}));
}

TEST(IndexedHeap, ASlotTwiceIsABug) {
  Ranked ranked({1});
  EXPECT_DEATH(ranked.heap.push(0), "must hold");
}

TEST(IndexedHeap, AgreesWithASortedSetWhateverIsDone) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    Ranked ranked({});
    ranked.rank.resize(40);
    std::set<std::pair<int, std::uint32_t>> model;
    for (int step = 0; step < 400; ++step) {
      const auto slot = static_cast<std::uint32_t>(random.below(40));
      const auto rank = static_cast<int>(random.below(20));
      if (!ranked.heap.contains(slot)) {
        ranked.rank[slot] = rank;
        ranked.heap.push(slot);
        model.emplace(rank, slot);
      } else if (random.chance(0.5)) {
        model.erase({ranked.rank[slot], slot});
        ranked.rank[slot] = rank;
        ranked.heap.fix(slot);
        model.emplace(rank, slot);
      } else if (random.chance(0.5)) {
        model.erase({ranked.rank[slot], slot});
        ranked.heap.remove(slot);
      } else {
        ASSERT_EQ(ranked.heap.pop(), model.begin()->second);
        model.erase(model.begin());
      }
      ASSERT_EQ(ranked.heap.size(), model.size());
      if (model.empty()) continue;
      ASSERT_EQ(ranked.heap.top(), model.begin()->second);
    }
  }
}

}  // namespace
}  // namespace berth
