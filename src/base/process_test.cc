#include "base/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <string>

#include "base/thread.h"

namespace berth {
namespace {

constexpr std::chrono::milliseconds kLong{60'000};

TEST(Process, GivesWhatItPrintedAndHowItEnded) {
  const Result<ProcessResult> ran =
      run_process("sh", {"-c", "echo $1-$GREETING; exit 3", "sh", "a b"}, {{"GREETING", "hello"}});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->out, "a b-hello\n");
  EXPECT_EQ(ran->exit_code, 3);
}

TEST(Process, HasNoInputAndReplacesVariables) {
  const Result<ProcessResult> ran = run_process("sh", {"-c", "cat; echo $HOME"}, {{"HOME", "/x"}});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->out, "/x\n");
}

TEST(Process, SaysHowItWasKilled) {
  EXPECT_EQ(run_process("sh", {"-c", "kill -9 $$"}, {})->exit_code, 128 + 9);
}

TEST(Process, CanBeStoppedFromAnotherThread) {
  ProcessStop stop;
  EXPECT_EQ(run_process_until(stop, kLong, "sh", {"-c", "echo hello"}, {})->out, "hello\n");
  const Thread stopper("stopper", [&stop] { stop.stop(); });
  const Result<ProcessResult> ran = run_process_until(stop, kLong, "sleep", {"1000"}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kCancelled);
  // Nor is another one waited for.
  EXPECT_FALSE(run_process_until(stop, kLong, "sleep", {"1000"}, {}));
}

TEST(Process, IsKilledWhenItsTimeIsOver) {
  const ProcessStop stop;
  const Result<ProcessResult> ran =
      run_process_until(stop, std::chrono::milliseconds(1), "sleep", {"1000"}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error(), (Error{ErrorKind::kTimeout, "the program took too long and was killed"}));
}

TEST(Process, WhatItStartedIsKilledWithIt) {
  // All that was started holds the pipe's other end: when nobody is left, it is at its end.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ProcessStop stop;
  Thread stopper("stopper", [&] {
    char started = 0;
    EXPECT_EQ(::read(ends[0], &started, 1), 1);
    stop.stop();
  });
  const std::string program =
      "(echo >/dev/fd/" + std::to_string(ends[1]) + "; exec sleep 1000) & wait";
  EXPECT_FALSE(run_process_until(stop, kLong, "sh", {"-c", program}, {}));
  stopper.join();
  ::close(ends[1]);
  pollfd ended{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, static_cast<int>(kLong.count())), 1) << "something is left";
  ::close(ends[0]);
}

TEST(Process, AMissingProgramIsNotFound) {
  const Result<ProcessResult> ran = run_process("no-such-program-here", {}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace berth
