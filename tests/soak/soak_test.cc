// Memory follows what the cluster has, not what it once had.
#include "soak.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/testing/allocations.h"

namespace berth::soak {
namespace {

// Hours until there is as much history as is kept: that of 16,384 cycles.
constexpr int kWarmUp = 36;
// What is held on one day differs by a twentieth from the next: averages of three are compared.
constexpr int kDaysCompared = 3;
int days = 2 * kDaysCompared;
bool shown = false;

void show(std::string_view when, const Held& held) {
  if (!shown) return;
  fmt::print("{:<8} {:>10} bytes {:>7} symbols {:>5} rows {:>5} specs {:>5} pods\n", when,
             held.bytes, held.symbols, held.rows, held.specs, held.pods);
}

TEST(Soak, AfterWeeksOfChurnTheSchedulerHoldsWhatItHeldAtFirst) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  Soak soak(1, /*new_resources=*/true);
  soak.run(kWarmUp);
  const Held first = soak.run(24 * kDaysCompared);
  show(fmt::format("day {}", kDaysCompared), first);
  Held last;
  for (int day = 2 * kDaysCompared; day <= days; day += kDaysCompared) {
    last = soak.run(24 * kDaysCompared);
    show(fmt::format("day {}", day), last);
  }
  const auto expect_near = [](std::size_t value, std::size_t before) {
    EXPECT_GE(value * 100, before * 95);
    EXPECT_LE(value * 100, before * 105);
  };
  expect_near(last.bytes, first.bytes);
  expect_near(last.symbols, first.symbols);
  EXPECT_LE(last.rows, first.rows);
  EXPECT_GT(soak.placed(), static_cast<std::size_t>(days) * 200) << "the run is about something";

  const Held over = soak.start_over();
  show("emptied", over);
  EXPECT_EQ(over.rows, 2U);
  EXPECT_EQ(soak.rows(), 0U);
  // Names that the code knows, and those of two nodes and their pods.
  EXPECT_LE(over.symbols, 30U);
  EXPECT_LE(over.specs, 2U);
  EXPECT_LE(over.bytes, first.bytes * 2 / 5);
}

}  // namespace
}  // namespace berth::soak

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--days=")) continue;
    berth::soak::days = std::max(berth::soak::days, std::atoi(argv[i] + 7));
    berth::soak::shown = true;
  }
  return RUN_ALL_TESTS();
}
