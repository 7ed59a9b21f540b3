#include "kube/rate_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/testing/names.h"

namespace berth::kube {
namespace {

TimePoint time_point(Duration since_start) { return TimePoint{since_start}; }

// How many of `waiting` may go time_point that time.
int admitted(RateLimiter& limiter, TimePoint now) {
  int count = 0;
  while (limiter.next(now)) ++count;
  return count;
}

void join(RateLimiter& limiter, int count) {
  for (int i = 0; i < count; ++i) limiter.join(Urgency::kNormal);
}

TEST(RateLimiter, TheBucketStartsFullAndRefillsAtTheRate) {
  RateLimiter limiter(50, 100);
  join(limiter, 1000);
  EXPECT_EQ(admitted(limiter, time_point(seconds(0))), 100);
  EXPECT_EQ(limiter.next_time(), time_point(milliseconds(20)));
  EXPECT_EQ(admitted(limiter, time_point(milliseconds(19))), 0);
  EXPECT_EQ(admitted(limiter, time_point(milliseconds(20))), 1);
  EXPECT_EQ(admitted(limiter, time_point(milliseconds(60))), 2);
  EXPECT_EQ(admitted(limiter, time_point(milliseconds(1060))), 50);
}

TEST(RateLimiter, TheBucketHoldsNoMoreThanTheBurst) {
  RateLimiter limiter(50, 3);
  join(limiter, 3);
  EXPECT_EQ(admitted(limiter, time_point(seconds(0))), 3);
  join(limiter, 10);
  EXPECT_EQ(admitted(limiter, time_point(seconds(3600))), 3);
}

TEST(RateLimiter, TheMostUrgentGoesFirstAndEqualsInOrder) {
  RateLimiter limiter(1, 1);
  const auto low = limiter.join(Urgency::kLow);
  const auto first = limiter.join(Urgency::kNormal);
  const auto second = limiter.join(Urgency::kNormal);
  const auto high = limiter.join(Urgency::kHigh);
  std::vector<RateLimiter::Place> order;
  for (int i = 0; i < 4; ++i) order.push_back(limiter.next(time_point(seconds(i))).value());
  EXPECT_EQ(order, (std::vector<RateLimiter::Place>{high, first, second, low}));
  EXPECT_EQ(limiter.next_time(), std::nullopt);
}

TEST(RateLimiter, WhoLeavesTakesNoToken) {
  RateLimiter limiter(1, 1);
  const auto gone = limiter.join(Urgency::kNormal);
  const auto there = limiter.join(Urgency::kNormal);
  limiter.leave(gone);
  EXPECT_EQ(limiter.next(time_point(seconds(0))), there);
  EXPECT_EQ(limiter.next(time_point(seconds(1))), std::nullopt);
}

TEST(RateLimiter, BelowZeroIsNoLimit) {
  for (RateLimiter limiter : {RateLimiter(-1, 100), RateLimiter(50, -1)}) {
    EXPECT_FALSE(limiter.limited());
    join(limiter, 5000);
    EXPECT_EQ(admitted(limiter, time_point(seconds(0))), 5000);
  }
}

TEST(RateLimiter, ZeroIsWhatAClientHasThatNobodyConfigured) {
  RateLimiter limiter(0, 0);
  EXPECT_TRUE(limiter.limited());
  join(limiter, 20);
  EXPECT_EQ(admitted(limiter, time_point(seconds(0))), 10);
  EXPECT_EQ(admitted(limiter, time_point(seconds(1))), 5);
}

TEST(RateLimiter, ExtremeRatesDoNoHarm) {
  RateLimiter slow(std::numeric_limits<float>::denorm_min(), std::numeric_limits<int>::max());
  join(slow, 3);
  EXPECT_EQ(admitted(slow, time_point(seconds(0))), 3);
  RateLimiter rare(1e-9F, 1);
  join(rare, 2);
  EXPECT_EQ(admitted(rare, time_point(seconds(0))), 1);
  EXPECT_EQ(admitted(rare, time_point(seconds(1'000'000))), 0);
  RateLimiter fast(std::numeric_limits<float>::max(), 1);
  join(fast, 100);
  EXPECT_EQ(admitted(fast, time_point(seconds(0))), 100);
}

}  // namespace
}  // namespace berth::kube
