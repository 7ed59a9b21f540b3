#include "base/process.h"

#include <gtest/gtest.h>

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

TEST(Process, AMissingProgramIsNotFound) {
  const Result<ProcessResult> ran = run_process("no-such-program-here", {}, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace berth
