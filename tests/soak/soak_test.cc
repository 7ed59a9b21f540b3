// Memory follows what the cluster has, not what it once had.
#include "soak.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "base/testing/allocations.h"

namespace berth::soak {
namespace {

// Until there is as much history as is kept: that of 16,384 cycles.
constexpr int kWarmUp = 96;
int days = 2;
bool shown = false;

void show(std::string_view when, const Held& held) {
  if (!shown) return;
  fmt::print("{:<8} {:>10} bytes {:>7} symbols {:>5} rows {:>5} specs {:>5} pods\n", when,
             held.bytes, held.symbols, held.rows, held.specs, held.pods);
}

TEST(Soak, AfterWeeksOfChurnTheSchedulerHoldsWhatItHeldOnTheFirstDay) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  Soak soak(1, /*new_resources=*/true);
  soak.run(kWarmUp);
  const Held first = soak.run(24);
  show("day 1", first);
  Held last;
  for (int day = 2; day <= days; ++day) {
    last = soak.run(24);
    show(fmt::format("day {}", day), last);
  }
  // What is kept of the last cycles differs by a tenth from one day to another, in both directions.
  EXPECT_LE(last.bytes, first.bytes + first.bytes / 6);
  EXPECT_LE(last.symbols, first.symbols + first.symbols / 6);
  EXPECT_LE(last.rows, first.rows + 2);
  EXPECT_GT(soak.placed(), static_cast<std::size_t>(days) * 200) << "the run is about something";

  const Held over = soak.start_over();
  show("emptied", over);
  // What plugins remember about the last few pods is of a fixed size.
  EXPECT_LE(over.symbols, 1000U);
  EXPECT_LE(over.specs, 150U);
  EXPECT_LE(over.bytes, first.bytes * 2 / 3);
}

}  // namespace
}  // namespace berth::soak

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--days=")) continue;
    berth::soak::days = std::atoi(argv[i] + 7);
    berth::soak::shown = true;
  }
  return RUN_ALL_TESTS();
}
