#include "base/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
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

TEST(Signals, ABrokenPipeIsAnErrorAndNotTheEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EXIT(
      {
        ignore_broken_pipes();
        const bool failed = ::write(ends[1], "x", 1) < 0 && errno == EPIPE;
        std::_Exit(failed ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  ::close(ends[1]);
}

TEST(Signals, ProgramsThatAreStartedAreStillEndedByABrokenPipe) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const auto ended = run_process("sh", {"-c", "kill -PIPE $$; echo not reached"}, {});
  std::signal(SIGPIPE, before);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 128 + SIGPIPE);
}

TEST(Signals, AThreadThatTakesNoneLeavesThemToTheOthers) {
  Told told;
  Mutex mutex;
  Condition changed;
  bool over = false;
  Thread other;
  {
    const SignalsBlocked blocked;
    other = Thread("other", [&] {
      const MutexLock lock(mutex);
      while (!over) changed.wait(mutex);
    });
  }
  {
    // Blocked for this thread by the watch, and for the other from its beginning.
    const SignalWatch watch({SIGUSR1}, [&](int signal) { told.add(signal); });
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(told.wait_for(1), (std::vector<int>{SIGUSR1}));
  }
  {
    const MutexLock lock(mutex);
    over = true;
  }
  changed.notify_one();
}

}  // namespace
}  // namespace berth
