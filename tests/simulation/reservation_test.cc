// Random runs with volumes and devices in which everything goes wrong that can.
//
//   BERTH_SEEDS=2000 fault_simulation_test --gtest_filter='Reservations.*'   more of them
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "reservation_run.h"

namespace berth::simulation {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string describe(std::uint64_t seed, const ReservationReport& report) {
  std::string text = fmt::format("seed {} (BERTH_SEED={} shows it alone):\n", seed, seed);
  for (const std::string& violation : report.violations) text += "  " + violation + "\n";
  return text;
}

TEST(Reservations, NoSeedBreaksAnInvariant) {
  const std::uint64_t only = number_from("BERTH_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t seeds = only != 0 ? 1 : number_from("BERTH_SEEDS", 200);
  std::map<std::string, int> happened;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    ReservationRun run(seed);
    if (only != 0) run.print_timeline();
    const ReservationReport report = run.run();
    for (const auto& [what, times] : report.happened) happened[what] += times;
    if (report.violations.empty()) continue;
    ADD_FAILURE() << describe(seed, report);
    if (++failures == 5) break;
  }
  for (const auto& [what, times] : happened) std::printf("%8d  %s\n", times, what.c_str());
}

// A simulation in which nothing happens proves nothing.
TEST(Reservations, EverythingThatCanHappenDoes) {
  std::map<std::string, int> happened;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    ReservationRun run(seed);
    for (const auto& [what, times] : run.run().happened) happened[what] += times;
  }
  for (const char* what :
       {"create pod", "delete binding pod", "delete bound pod", "delete pending pod", "finish pod",
        "delete claim", "delete volume claim", "remove slice", "replace slice", "remove node",
        "bring node back", "write behind the back", "preempt in PreBind", "watch lags",
        "scheduler dies", "scheduler dies while it binds", "write failed",
        "write reported as failed"})
    EXPECT_GT(happened[what], 0) << what;
}

TEST(Reservations, ALostUnreserveIsFound) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 120 && found == 0; ++seed)
    found += ReservationRun(seed, {.loses_unreserve = true}).run().violations.size();
  EXPECT_GT(found, 0U);
}

TEST(Reservations, ADeviceGivenTwiceIsFound) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 10 && found == 0; ++seed)
    found += ReservationRun(seed, {.gives_devices_twice = true}).run().violations.size();
  EXPECT_GT(found, 0U);
}

}  // namespace
}  // namespace berth::simulation
