#include "app/run_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "app/cli.h"

namespace berth::app {
namespace {

// What `berth` answers to the words, and its exit code.
struct Call {
  explicit Call(const std::vector<std::string>& words) { code = run(words, out, err); }
  std::ostringstream out;
  std::ostringstream err;
  int code = 0;
};

TEST(RunCommand, AClusterWithNothingToDoEndsWhenAskedTo) {
  const Call call({"run", "--listen", "127.0.0.1:0", "--exit-when-idle"});
  EXPECT_EQ(call.code, 0) << call.err.str();
  EXPECT_TRUE(call.out.str().contains("API server: http://127.0.0.1:")) << call.out.str();
  EXPECT_TRUE(call.out.str().contains("Page:       http://127.0.0.1:")) << call.out.str();
  EXPECT_TRUE(call.out.str().contains("0 nodes, 0 pods")) << call.out.str();
}

TEST(RunCommand, WhatCannotBeIsOneLine) {
  const struct {
    std::vector<std::string> words;
    std::string line;
  } rows[] = {
      {{"run", "--listen", "x"}, "berth: \"x\" is not an address to listen on (ADDR:PORT)\n"},
      {{"apiserver", "--listen", "x"}, "berth: \"x\" is not an address to listen on (ADDR:PORT)\n"},
      {{"apiserver", "--listen", "127.0.0.1:0", "--controllers=nobody"},
       "berth: \"nobody\" is not in the list of known controllers\n"},
      {{"run", "--listen", "127.0.0.1:0", "--config", "/nowhere"},
       "berth: open /nowhere: no such file or directory\n"},
  };
  for (const auto& row : rows) {
    const Call call(row.words);
    EXPECT_EQ(call.code, 1);
    EXPECT_EQ(call.err.str(), row.line);
  }
}

TEST(RunCommand, UnknownGatesAreWrongUsage) {
  const Call call({"run", "--feature-gates", "Nothing=true"});
  EXPECT_EQ(call.code, 2);
  const std::string err = call.err.str();
  EXPECT_EQ(std::ranges::count(err, '\n'), 1) << err;
}

}  // namespace
}  // namespace berth::app
