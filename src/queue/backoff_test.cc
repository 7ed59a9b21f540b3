#include "queue/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

TEST(Backoff, DoublesUpToTheLimitWithoutOverflow) {
  struct Row {
    Duration initial, max;
    std::int32_t count;
    Duration expected;
  };
  constexpr Duration kLongest = Duration::max();
  const std::array rows{
      Row{1s, 10s, 0, 0s},
      Row{1s, 10s, 1, 1s},
      Row{1s, 10s, 2, 2s},
      Row{1s, 10s, 3, 4s},
      Row{1s, 10s, 4, 8s},
      Row{1s, 10s, 5, 10s},
      Row{1s, 10s, 6, 10s},
      Row{1s, 10s, 64, 10s},
      Row{1s, 10s, 65, 10s},
      Row{1s, 10s, std::numeric_limits<std::int32_t>::max(), 10s},
      Row{1s, 8s, 4, 8s},
      Row{5s, 3s, 1, 3s},
      Row{1s, 0s, 3, 0s},
      Row{0s, 10s, 3, 0s},
      Row{0s, 10s, 100, 0s},
      Row{1s, kLongest, 33, 1s * (std::int64_t{1} << 32)},
      Row{1s, kLongest, 40, kLongest},
  };
  for (const Row& row : rows)
    EXPECT_EQ(backoff_duration(row.initial, row.max, row.count), row.expected)
        << row.initial.count() << " " << row.max.count() << " " << row.count;
}

// When, in seconds after the failure, a pod that failed `failures` times in a row becomes active.
std::vector<double> waits(QueueWorld& w, const PluginNames& rejectors, int failures) {
  std::vector<double> result;
  const auto pod = w.add("a");
  for (int i = 0; i < failures; ++i) {
    QueuedPod popped = w.pop();
    if (!popped.pod || !w.fails(std::move(popped), rejectors)) return {};
    if (!rejectors.empty()) w.happens(events::kNodeAdd);
    const double failed_at = w.clock();
    while (w.place(pod) != QueuePlace::kActive && w.loop.step()) {
    }
    result.push_back(w.clock() - failed_at);
  }
  return result;
}

// A wait that ends at a whole second lasts through that second: one more than its length when the
// failure came at a whole second.
TEST(Backoff, RejectionsWaitOneTwoFourEightTenSeconds) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  EXPECT_THAT(waits(w, {"Fit"}, 6), ElementsAre(2, 3, 5, 9, 11, 11));
}

TEST(Backoff, ErrorsWaitJustAsLong) {
  QueueWorld w;
  EXPECT_THAT(waits(w, {}, 6), ElementsAre(2, 3, 5, 9, 11, 11));
}

TEST(Backoff, WithoutWholeSecondsAWaitIsExactAndSeenByTheNextFlush) {
  QueueWorld w;
  w.options.pop_from_backoff = false;
  w.queue();
  w.wait(300ms);
  EXPECT_THAT(waits(w, {}, 3),
              ElementsAre(::testing::DoubleNear(1.7, 1e-9),  // 0.3 s: over at 1.3, seen at 2
                          3,                                 // 2 s: over at 4, but only then
                          5));
}

TEST(Backoff, ErrorsAreCountedApartFromRejections) {
  QueueWorld w;
  const auto pod = w.add("a");
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
    w.queue().activate(std::array{pod});
  }
  ASSERT_TRUE(w.fails(w.pop(), {}));
  EXPECT_EQ(w.queue().find(*pod)->backoff_expiration, w.loop.wall_now() + 1s);
}

TEST(Backoff, EndsAreWholeSecondsAndEqualityStillWaits) {
  QueueWorld w;
  w.wait(10'200ms);
  const auto pod = w.rejected("a", {});
  EXPECT_EQ(w.queue().find(*pod)->backoff_expiration, VirtualLoop::kDefaultStart + 11s);
  w.wait(1'700ms);  // 11.9
  EXPECT_EQ(w.place(pod), QueuePlace::kErrorBackoff);
  w.loop.run_until({11'999'999'999ns});
  EXPECT_EQ(w.place(pod), QueuePlace::kErrorBackoff);
  w.loop.run_until({12s});
  EXPECT_EQ(w.place(pod), QueuePlace::kActive);
}

TEST(Backoff, WithinOneSecondQueueSortDecidesWhoIsPoppedEarly) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  for (const int priority : {1, 9, 5}) {
    w.add(w.pod("p" + std::to_string(priority)).priority(priority));
    ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
    w.wait(100ms);
  }
  w.wait(1s);  // the next second
  w.add(w.pod("late").priority(100));
  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  w.happens(events::kNodeAdd);
  ASSERT_EQ(w.queue().sizes().backoff, 4U);
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) order.push_back(w.pop_name());
  EXPECT_THAT(order, ElementsAre("p9", "p5", "p1", "late"));
}

TEST(Backoff, TheFlushTakesRejectedPodsBeforeErrorsAndSaysWhy) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  w.rejected("error", {});
  w.rejected("rejected", {"Fit"});
  w.happens(events::kNodeAdd);
  w.log.take();
  w.wait(2s);
  EXPECT_THAT(w.log.take(),
              ElementsAre("active rejected BackoffComplete", "active error BackoffComplete"));
}

TEST(Backoff, AMoveDoesNotRefreshTheTimestamp) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd);
  const auto pod = w.rejected("a", {"Fit"});
  const WallTime failed = w.queue().find(*pod)->timestamp;
  w.wait(1s);
  w.happens(events::kNodeAdd);
  EXPECT_EQ(w.queue().find(*pod)->timestamp, failed);
  w.wait(1s);
  ASSERT_EQ(w.place(pod), QueuePlace::kActive);
  EXPECT_EQ(w.queue().find(*pod)->timestamp, failed);
}

}  // namespace
}  // namespace berth
