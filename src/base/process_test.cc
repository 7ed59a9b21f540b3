#include "base/process.h"

#include <gtest/gtest.h>

#include "base/thread.h"

namespace berth {
namespace {

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
  EXPECT_EQ(run_process_until(stop, "sh", {"-c", "echo hello"}, {})->out, "hello\n");
  const Thread stopper("stopper", [&stop] { stop.stop(); });
  const Result<ProcessResult> ran = run_process_until(stop, "sleep", {"1000"}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kCancelled);
  // Nor is another one waited for.
  EXPECT_FALSE(run_process_until(stop, "sleep", {"1000"}, {}));
}

TEST(Process, AMissingProgramIsNotFound) {
  const Result<ProcessResult> ran = run_process("no-such-program-here", {}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace berth
