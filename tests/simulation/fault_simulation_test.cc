// A few hundred random runs in which everything goes wrong that can; after each of them, and many
// times on the way, the invariants must hold.
//
//   fault_simulation_test [--seeds=N] [--first=N]    N runs of each kind, from seed --first on
//                                                    (default 300, and 200 of reservation_test.cc)
//   fault_simulation_test --seed=N                   that one only, with its timeline
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "random_run.h"
#include "wanted_seeds.h"

namespace berth::simulation {
namespace {

Seeds command_line;  // set by main, before any test; count 0: not said

constexpr int kMostFailures = 5;  // then it is clear enough

std::string describe(std::uint64_t seed, const RunReport& report) {
  std::string text = fmt::format("seed {}:\n", seed);
  for (const Violation& violation : report.violations)
    text += fmt::format("  {}: {}\n", to_string(violation.invariant), violation.text);
  return text + fmt::format("play it again: {} --gtest_filter='FaultSimulation.*' --seed={}\n",
                            command_line.program, seed);
}

TEST(FaultSimulation, NoSeedBreaksAnInvariant) {
  const Seeds wanted = wanted_seeds(300);
  int failures = 0;
  std::map<std::string, int> happened;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    RandomRun run(seed);
    if (wanted.one) run.print_timeline();
    const RunReport report = run.run();
    for (const auto& [what, times] : report.happened) happened[what] += times;
    if (report.violations.empty()) continue;
    ADD_FAILURE() << describe(seed, report);
    if (++failures == kMostFailures) break;
  }
  for (const auto& [what, times] : happened) std::printf("%8d  %s\n", times, what.c_str());
}

// A simulation in which nothing happens proves nothing.
TEST(FaultSimulation, EverythingThatCanHappenDoes) {
  std::map<std::string, int> happened;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomRun run(seed);
    for (const auto& [what, times] : run.run().happened) happened[what] += times;
  }
  for (const char* what : {"create pod",
                           "delete pending pod",
                           "delete bound pod",
                           "delete waiting pod",
                           "delete binding pod",
                           "recreate pod",
                           "finish pending pod",
                           "finish bound pod",
                           "touch pod",
                           "remove gate",
                           "bind behind the back",
                           "remove node",
                           "remove node with assumed pods",
                           "bring node back",
                           "cordon",
                           "uncordon",
                           "taint",
                           "untaint",
                           "clock jumps forward",
                           "clock jumps back",
                           "watch lags",
                           "allow",
                           "reject",
                           "preempt",
                           "activate",
                           "bound",
                           "held by 1",
                           "held by 2",
                           "wait ended: Success",
                           "wait ended: Unschedulable",
                           "wait ended: Error",
                           "failed: Unschedulable",
                           "failed: Error",
                           "nominated",
                           "nomination cleared",
                           "queued active",
                           "queued backoff",
                           "queued unschedulable",
                           "queued gated"})
    EXPECT_GT(happened[what], 0) << what;
}

}  // namespace

Seeds wanted_seeds(std::uint64_t otherwise) {
  Seeds wanted = command_line;
  if (wanted.count == 0) wanted.count = otherwise;
  return wanted;
}

int run_tests(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  read_seed_flags(argc, argv, command_line);
  return RUN_ALL_TESTS();
}

}  // namespace berth::simulation

int main(int argc, char** argv) { return berth::simulation::run_tests(argc, argv); }
