#include "search/seen_once.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(SeenOnce, KnowsAHashFromTheSecondTimeOn) {
  SeenOnce seen;
  EXPECT_FALSE(seen.again(7));
  EXPECT_TRUE(seen.again(7));
  EXPECT_TRUE(seen.again(7));
  EXPECT_FALSE(seen.again(8));
}

TEST(SeenOnce, SomeThatMeetInOnePlaceAreAllKnownTheNextTime) {
  SeenOnce seen;
  for (std::size_t i = 1; i <= 8; ++i) EXPECT_FALSE(seen.again(i << 20)) << i;
  for (std::size_t i = 1; i <= 8; ++i) EXPECT_TRUE(seen.again(i << 20)) << i;
}

TEST(SeenOnce, ForgetsTheOneNotSeenForLongest) {
  SeenOnce seen;
  for (std::size_t i = 1; i <= 8; ++i) seen.again(i << 20);
  seen.again(std::size_t{1} << 20);
  seen.again(std::size_t{9} << 20);
  EXPECT_TRUE(seen.again(std::size_t{1} << 20));
  EXPECT_FALSE(seen.again(std::size_t{2} << 20));
}

}  // namespace
}  // namespace berth
