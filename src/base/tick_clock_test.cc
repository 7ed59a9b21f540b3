#include "base/tick_clock.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

TEST(TickClock, RunsAsFastAsTheSystemsClock) {
  const TickClock clock;
  // The ticks lie within the outer readings and around the inner ones, however slow the machine is.
  const Clock::time_point outer_begin = Clock::now();
  const auto begin = clock.since_start();
  const Clock::time_point inner_begin = Clock::now();
  while (Clock::now() - inner_begin < std::chrono::milliseconds(5)) {
  }
  const Clock::time_point inner_end = Clock::now();
  const auto end = clock.since_start();
  const Clock::time_point outer_end = Clock::now();
  EXPECT_GE((end - begin) * 101 / 100, inner_end - inner_begin);
  EXPECT_LE((end - begin) * 99 / 100, outer_end - outer_begin);
}

TEST(TickClock, StartsAtNothingAndGoesForward) {
  const Clock::time_point before = Clock::now();
  const TickClock clock;
  auto last = clock.since_start();
  EXPECT_GE(last.count(), 0);
  for (int i = 0; i < 1000; ++i) {
    const auto next = clock.since_start();
    EXPECT_GE(next, last);
    last = next;
  }
  EXPECT_LE(last * 99 / 100, Clock::now() - before);
}

}  // namespace
}  // namespace berth
