// Complete schedulers, an API server and a network between them, and everything that can go wrong.
//
//   chaos_test [--seeds=N] [--first=N]    N runs (300, under sanitizers 30), from seed --first on
//   chaos_test --seed=N                   that one only, with its timeline
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/sanitizers.h"
#include "chaos_run.h"
#include "tests/seeds.h"
#include "token_folder.h"

namespace berth::chaos {
namespace {

// Under sanitizers a run takes ten times as long.
constexpr std::uint64_t kSeeds = testing::kSanitized ? 30 : 300;

Seeds wanted{.count = kSeeds};  // set by main, before any test

constexpr int kMostFailures = 5;  // then it is clear enough

std::string describe(std::uint64_t seed, const ChaosReport& report) {
  std::string text = fmt::format("seed {}:\n", seed);
  for (const std::string& violation : report.violations) text += "  " + violation + "\n";
  return text;
}

// The seeds in some parts, so that those of a suite run beside each other.
constexpr std::uint64_t kParts = 4;

class Chaos : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Chaos, NoSeedBreaksAnInvariant) {
  const TokenFolder folder;
  int failures = 0;
  for (std::uint64_t i = GetParam(); i < wanted.count; i += kParts) {
    const std::uint64_t seed = wanted.first + i;
    const ChaosReport report = ChaosRun(seed, folder.path(), {}, wanted.one).run();
    if (wanted.one)
      for (const auto& [what, times] : report.happened) fmt::print("{:8}  {}\n", times, what);
    if (report.violations.empty()) continue;
    // The same once more, to be read.
    if (failures == 0 && !wanted.one) ChaosRun(seed, folder.path(), {}, true).run();
    ADD_FAILURE() << describe(seed, report)
                  << fmt::format("play it again: {} --seed={}\n", wanted.program, seed);
    if (++failures == kMostFailures) break;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Chaos, ::testing::Range(std::uint64_t{0}, kParts));

TEST(ChaosRun, IsTheSameEachTime) {
  const TokenFolder folder;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ChaosReport first = ChaosRun(seed, folder.path()).run();
    const ChaosReport second = ChaosRun(seed, folder.path()).run();
    EXPECT_EQ(first.happened, second.happened) << "seed " << seed;
    EXPECT_EQ(first.end, second.end) << "seed " << seed;
  }
}

// A simulation in which nothing happens proves nothing.
TEST(ChaosRun, EverythingThatCanHappenDoes) {
  const TokenFolder folder;
  std::map<std::string, int> happened;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const auto& [what, times] : ChaosRun(seed, folder.path()).run().happened)
      happened[what] += times;
  for (const char* what : {"create pod",
                           "delete pending pod",
                           "delete bound pod",
                           "remove node",
                           "bring node back",
                           "cordon",
                           "uncordon",
                           "touch claim",
                           "bind behind the back",
                           "allow",
                           "reject",
                           "kill",
                           "stop",
                           "start",
                           "halt process",
                           "halt world",
                           "halt election",
                           "part",
                           "clock jumps forward",
                           "clock jumps back",
                           "rotate tokens",
                           "server goes down",
                           "back up",
                           "restore",
                           "restore versions too",
                           "extender bound",
                           "extender asked",
                           "watches end",
                           "request lost",
                           "answer lost",
                           "answer cut",
                           "answer hidden",
                           "never answered",
                           "request twice",
                           "event twice",
                           "refused with 401",
                           "refused with 409",
                           "refused with 410",
                           "refused with 429",
                           "refused with 500",
                           "refused with 503",
                           "bound",
                           "held by 1",
                           "held by 2",
                           "wait ended: Success",
                           "wait ended: Unschedulable",
                           "failed: Unschedulable",
                           "failed: Error"})
    EXPECT_GT(happened[what], 0) << what;
}

}  // namespace

int run_tests(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  read_seed_flags(argc, argv, wanted);
  return RUN_ALL_TESTS();
}

}  // namespace berth::chaos

int main(int argc, char** argv) { return berth::chaos::run_tests(argc, argv); }
