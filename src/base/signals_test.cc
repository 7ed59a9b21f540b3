#include "base/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "base/process.h"
#include "base/thread.h"

namespace berth {
namespace {

// What a watch has told so far, for the thread that waits for it.
class Told {
 public:
  void add(int signal) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    signals_.push_back(signal);
    arrived_.notify_one();
  }
  std::vector<int> wait_for(std::size_t count) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (signals_.size() < count) arrived_.wait(mutex_);
    return signals_;
  }

 private:
  Mutex mutex_;
  Condition arrived_;
  std::vector<int> signals_ GUARDED_BY(mutex_);
};

TEST(SignalWatch, TellsEachSignalThatComesAndTheProcessGoesOn) {
  Told told;
  const SignalWatch watch({SIGUSR1, SIGUSR2}, [&](int signal) { told.add(signal); });
  ::kill(::getpid(), SIGUSR1);
  EXPECT_EQ(told.wait_for(1), (std::vector<int>{SIGUSR1}));
  ::kill(::getpid(), SIGUSR2);
  EXPECT_EQ(told.wait_for(2), (std::vector<int>{SIGUSR1, SIGUSR2}));
  ::kill(::getpid(), SIGUSR1);
  EXPECT_EQ(told.wait_for(3), (std::vector<int>{SIGUSR1, SIGUSR2, SIGUSR1}));
}

TEST(SignalWatch, OneAfterTheOtherMayWatchTheSameSignal) {
  for (int round = 0; round < 3; ++round) {
    Told told;
    const SignalWatch watch({SIGUSR1}, [&](int signal) { told.add(signal); });
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(told.wait_for(1).size(), 1U);
  }
}

TEST(SignalWatch, ProgramsThatAreStartedMeanwhileHearSignalsAsEver) {
  const SignalWatch watch({SIGTERM}, [](int) {});
  const auto ended = run_process("sh", {"-c", "kill -TERM $$; echo not reached"}, {});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 128 + SIGTERM);
  EXPECT_EQ(ended->out, "");
}

}  // namespace
}  // namespace berth
