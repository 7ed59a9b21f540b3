#include "plugins/priority_sort/priority_sort.h"

#include <gtest/gtest.h>

#include <limits>

#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

QueuedPod queued(testing::World& world, std::int32_t priority, int at) {
  QueuedPod pod;
  pod.pod = world.pod("p").priority(priority);
  pod.timestamp = WallTime{std::chrono::seconds(at)};
  return pod;
}

TEST(PrioritySort, PutsHigherPriorityFirstAndThenTheEarlierEntry) {
  constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kHigh = std::numeric_limits<std::int32_t>::max();
  struct Row {
    std::int32_t priority_a;
    int time_a;
    std::int32_t priority_b;
    int time_b;
    bool a_first, b_first;
  };
  const Row table[] = {
      {100, 1, 50, 1, true, false},    // priority decides
      {50, 1, 100, 2, false, true},    // even against time
      {100, 1, 100, 2, true, false},   // among equals, time
      {100, 2, 100, 1, false, true},   //
      {100, 1, 100, 1, false, false},  // equal in both: neither
      {0, 1, -1, 0, true, false},      // without a priority it is 0
      {kHigh, 2, kLow, 1, true, false},
  };
  testing::World world;
  const PrioritySort sort;
  for (const Row& row : table) {
    const QueuedPod a = queued(world, row.priority_a, row.time_a);
    const QueuedPod b = queued(world, row.priority_b, row.time_b);
    EXPECT_EQ(sort.less(a, b), row.a_first) << row.priority_a << " " << row.priority_b;
    EXPECT_EQ(sort.less(b, a), row.b_first) << row.priority_a << " " << row.priority_b;
  }
}

}  // namespace
}  // namespace berth::plugins
