#include "base/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

using ::testing::Each;

TEST(ParallelConcurrent, EveryJobIsDoneOnce) {
  for (const std::size_t threads : {1U, 2U, 7U}) {
    std::vector<int> done(100, 0);
    run_jobs(done.size(), threads, [&](std::size_t job) {
      ++done[job];
      return true;
    });
    EXPECT_THAT(done, Each(1)) << threads;
  }
}

TEST(ParallelConcurrent, NoJobIsBegunAfterOneThatSaysSo) {
  std::vector<std::size_t> begun;
  run_jobs(10, 1, [&](std::size_t job) {
    begun.push_back(job);
    return job < 3;
  });
  EXPECT_EQ(begun.size(), 4U);
}

TEST(Parallel, ThereIsAlwaysAThread) { EXPECT_GE(hardware_threads(), 1U); }

}  // namespace
}  // namespace berth
