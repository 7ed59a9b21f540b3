#include "search/seen_before.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(SeenBefore, KnowsAHashFromTheSecondTimeOn) {
  SeenBefore seen;
  EXPECT_TRUE(seen.insert(7));
  EXPECT_FALSE(seen.insert(7));
  EXPECT_FALSE(seen.insert(7));
  EXPECT_TRUE(seen.insert(8));
}

TEST(SeenBefore, SomeThatMeetInOnePlaceAreAllKnownTheNextTime) {
  SeenBefore seen;
  for (std::size_t i = 1; i <= 8; ++i) EXPECT_TRUE(seen.insert(i << 20)) << i;
  for (std::size_t i = 1; i <= 8; ++i) EXPECT_FALSE(seen.insert(i << 20)) << i;
}

TEST(SeenBefore, ForgetsTheOneNotSeenForLongest) {
  SeenBefore seen;
  for (std::size_t i = 1; i <= 8; ++i) seen.insert(i << 20);
  seen.insert(std::size_t{1} << 20);
  seen.insert(std::size_t{9} << 20);
  EXPECT_FALSE(seen.insert(std::size_t{1} << 20));
  EXPECT_TRUE(seen.insert(std::size_t{2} << 20));
}

}  // namespace
}  // namespace berth
