// Random runs with volumes and devices in which everything goes wrong that can.
//
//   fault_simulation_test --gtest_filter='Reservations.*' --seeds=2000    more of them
//   fault_simulation_test --gtest_filter='Reservations.*' --seed=17       one, with its timeline
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "reservation_run.h"
#include "wanted_seeds.h"

namespace berth::simulation {
namespace {

std::string describe(const Seeds& wanted, std::uint64_t seed, const ReservationReport& report) {
  std::string text = fmt::format("seed {}:\n", seed);
  for (const std::string& violation : report.violations) text += "  " + violation + "\n";
  return text + fmt::format("play it again: {} --gtest_filter='Reservations.*' --seed={}\n",
                            wanted.program, seed);
}

TEST(Reservations, NoSeedBreaksAnInvariant) {
  const Seeds wanted = wanted_seeds(200);
  std::map<std::string, int> happened;
  int failures = 0;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    ReservationRun run(seed);
    if (wanted.one) run.print_timeline();
    const ReservationReport report = run.run();
    for (const auto& [what, times] : report.happened) happened[what] += times;
    if (report.violations.empty()) continue;
    ADD_FAILURE() << describe(wanted, seed, report);
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
