#include "base/worker.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

TEST(WorkerConcurrent, WorkIsDoneInOrderAndItsResultsAreSeen) {
  Worker worker("test");
  std::string done;
  const auto first = worker.start([&](const std::atomic<bool>&) { done += "a"; });
  const auto second = worker.start([&](const std::atomic<bool>&) { done += "b"; });
  ASSERT_TRUE(second->wait(hours(1)));
  ASSERT_TRUE(first->wait(nanoseconds(0)));
  EXPECT_EQ(done, "ab");
}

TEST(WorkerConcurrent, WorkThatIsCancelledEndsAndWhatWaitsBehindItIsNotBegun) {
  Worker worker("test");
  bool begun = false;
  const auto endless = worker.start([](const std::atomic<bool>& cancelled) {
    while (!cancelled) {
    }
  });
  const auto waiting = worker.start([&](const std::atomic<bool>&) { begun = true; });
  EXPECT_FALSE(endless->wait(nanoseconds(1)));
  EXPECT_FALSE(waiting->wait(nanoseconds(1)));
  waiting->cancel();
  endless->cancel();
  ASSERT_TRUE(waiting->wait(hours(1)));
  EXPECT_TRUE(endless->wait(nanoseconds(0)));
  EXPECT_FALSE(begun);
}

TEST(WorkerConcurrent, WhatIsLeftAtTheEndIsCancelled) {
  std::shared_ptr<Worker::Job> endless;
  {
    Worker worker("test");
    endless = worker.start([](const std::atomic<bool>& cancelled) {
      while (!cancelled) {
      }
    });
  }
  EXPECT_TRUE(endless->wait(nanoseconds(0)));
}

}  // namespace
}  // namespace berth
