#include "berth/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace berth {
namespace {

std::vector<std::uint64_t> draws(Random random, int count) {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(random.next());
  return values;
}

TEST(Random, ASeedGivesTheSameNumbersEverywhere) {
  // Written down once: a change here changes every recorded simulation.
  EXPECT_EQ(draws(Random(0), 3), (std::vector<std::uint64_t>{0x99ec5f36cb75f2b4, 0xbf6e1f784956452a,
                                                             0x1a5f849d4933e6e0}));
  EXPECT_EQ(draws(Random(42), 8), draws(Random(42), 8));
}

TEST(Random, CloseSeedsGiveUnrelatedStreams) {
  const auto a = draws(Random(1), 64);
  const auto b = draws(Random(2), 64);
  int equal_bits = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal_bits += 64 - __builtin_popcountll(a[i] ^ b[i]);
  EXPECT_NEAR(equal_bits, 64 * 32, 200);  // half of them, as by chance
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  Random random(7);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(random.below(7));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, BelowIsFairForBoundsThatDoNotDivideTheRange) {
  // Without rejection the lower half of this range would be drawn twice as often.
  Random random(7);
  const std::uint64_t bound = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  int low = 0;
  for (int i = 0; i < 3000; ++i) low += random.below(bound) < (std::uint64_t{1} << 62);
  EXPECT_NEAR(low, 1000, 150);
}

TEST(Random, ChanceFollowsTheProbability) {
  Random random(7);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) {
    hits += random.chance(0.25);
    ASSERT_FALSE(random.chance(0));
    ASSERT_TRUE(random.chance(1));
  }
  EXPECT_NEAR(hits, 2500, 250);
}

TEST(Random, AForkHasAStreamOfItsOwn) {
  Random parent(7);
  Random twin(7);
  Random child = parent.fork();
  twin.next();  // what forking took
  const auto from_child = draws(child, 100);
  EXPECT_NE(from_child, draws(parent, 100));
  EXPECT_EQ(draws(parent, 100), draws(twin, 100)) << "the child's draws must not move the parent";
}

}  // namespace
}  // namespace berth
