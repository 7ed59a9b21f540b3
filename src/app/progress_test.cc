#include "app/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/testing/names.h"

namespace berth::app {
namespace {

struct ProgressTest : public ::testing::Test {
  // What a terminal would be sent when the work has come so far.
  std::string after(Duration passed, Progress& progress, const std::string& line) {
    clock.run_until(TimePoint{passed});
    out.str("");
    progress.update([&](Duration) { return line; });
    return out.str();
  }

  VirtualLoop clock;
  std::ostringstream out;
};

TEST_F(ProgressTest, ShortWorkIsSilent) {
  {
    Progress progress(&clock, out);
    EXPECT_EQ(after(999ms, progress, "half"), "");
  }
  EXPECT_EQ(out.str(), "") << "there is nothing to erase";
}

TEST_F(ProgressTest, LongWorkHasOneLineThatIsWrittenOverAndErased) {
  {
    Progress progress(&clock, out);
    EXPECT_EQ(after(1s, progress, "10 pods"), "\r\x1b[K10 pods");
    EXPECT_EQ(after(1100ms, progress, "11 pods"), "") << "nobody reads ten lines a second";
    EXPECT_EQ(after(1200ms, progress, "12 pods"), "\r\x1b[K12 pods");
    out.str("");
  }
  EXPECT_EQ(out.str(), "\r\x1b[K");
}

TEST_F(ProgressTest, WhereNobodyWatchesNothingIsWritten) {
  Progress progress(nullptr, out);
  EXPECT_EQ(after(1min, progress, "10 pods"), "");
  progress.erase();
  EXPECT_EQ(out.str(), "");
  EXPECT_FALSE(is_terminal(out));
}

TEST_F(ProgressTest, TheLineIsToldHowLongTheWorkTook) {
  clock.run_until(TimePoint{5s});
  Progress progress(&clock, out);
  clock.run_until(TimePoint{8s});
  Duration told{0};
  progress.update([&](Duration taken) {
    told = taken;
    return std::string();
  });
  EXPECT_EQ(told, 3s);
}

}  // namespace
}  // namespace berth::app
