#include "base/hash_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "berth/random.h"

namespace berth {
namespace {

TEST(HashIndex, KnowsWhatAMapKnows) {
  Random random(1);
  HashIndex index;
  std::map<std::uint32_t, std::uint32_t> hashes;  // by slot
  for (int step = 0; step < 20'000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random.below(500));
    const auto is_it = [&](HashIndex::Slot found) { return found == slot; };
    // Few different hashes, so that many slots share one.
    const std::uint32_t hash = slot % 40 * 0x01000193;
    ASSERT_EQ(index.find(hash, is_it), hashes.contains(slot) ? slot : HashIndex::kNone);
    const bool growing = step / 2'000 % 2 == 0;
    if (!hashes.contains(slot) && random.chance(growing ? 0.9 : 0.1)) {
      index.insert(hash, slot);
      hashes.emplace(slot, hash);
    } else if (hashes.contains(slot) && random.chance(growing ? 0.1 : 0.9)) {
      index.erase(hash, slot);
      hashes.erase(slot);
    }
    ASSERT_EQ(index.size(), hashes.size());
  }
  for (const auto& [slot, hash] : hashes) {
    const std::uint32_t wanted = slot;
    EXPECT_EQ(index.find(hash, [&](HashIndex::Slot found) { return found == wanted; }), wanted);
  }
}

TEST(HashIndex, ShrinksAgain) {
  HashIndex index;
  constexpr std::uint32_t kMany = 100'000;
  const auto hash = [](std::uint32_t slot) { return slot * 0x9e3779b9U; };
  for (std::uint32_t slot = 0; slot < kMany; ++slot) index.insert(hash(slot), slot);
  EXPECT_GE(index.capacity(), std::size_t{kMany});
  for (std::uint32_t slot = 10; slot < kMany; ++slot) index.erase(hash(slot), slot);
  EXPECT_LE(index.capacity(), 1024U);
  for (std::uint32_t slot = 0; slot < 10; ++slot)
    EXPECT_EQ(index.find(hash(slot), [&](HashIndex::Slot found) { return found == slot; }), slot);
}

}  // namespace
}  // namespace berth
