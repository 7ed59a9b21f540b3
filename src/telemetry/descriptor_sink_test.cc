// Log records while the reader of stderr stalls, and when it goes on.
#include "telemetry/descriptor_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "telemetry/log.h"

namespace berth::telemetry {
namespace {

// A pipe that holds one page, and a log that is written to it.
class StalledPipe {
 public:
  explicit StalledPipe(std::size_t most_waiting = DescriptorSink::kMostWaiting) {
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    EXPECT_GT(::fcntl(ends_[1], F_SETPIPE_SZ, 4096), 0);
    output_ = std::make_shared<LogOutput>(
        LogOptions{.process_id = 1, .utc = true}, [] { return WallTime{}; },
        std::make_unique<DescriptorSink>(ends_[1], most_waiting));
  }
  ~StalledPipe() {
    output_.reset();
    close_writer();
    ::close(ends_[0]);
  }

  Log log() const { return Log(output_); }
  // All records are written or given up when this returns.
  void end_log() {
    output_.reset();
    close_writer();
  }
  // Reads lines, as many as there are or, if `until` is given, up to the first with this text.
  std::vector<std::string> read(std::string_view until = {}) {
    std::vector<std::string> lines;
    char bytes[512];
    for (;;) {
      for (std::size_t end; (end = rest_.find('\n')) != std::string::npos;) {
        lines.push_back(rest_.substr(0, end));
        rest_.erase(0, end + 1);
        if (!until.empty() && lines.back().contains(until)) return lines;
      }
      const ssize_t size = ::read(ends_[0], bytes, sizeof bytes);
      if (size <= 0) return lines;
      rest_.append(bytes, static_cast<std::size_t>(size));
    }
  }

 private:
  void close_writer() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

  int ends_[2] = {-1, -1};
  std::string rest_;
  std::shared_ptr<LogOutput> output_;
};

std::string numbered(int number) { return fmt::format("record {:06}", number); }

TEST(DescriptorSink, RecordsThatAreReadAtOnceAreWrittenByWhoeverLogsThem) {
  StalledPipe pipe;
  pipe.log().info(0, "hello");
  const std::vector<std::string> lines = pipe.read("hello");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("I0101 00:00:00.000000"));
}

TEST(DescriptorSink, AStalledReaderGetsEverythingInOrderWhenItGoesOn) {
  StalledPipe pipe;
  for (int i = 0; i < 1000; ++i) pipe.log().info(0, numbered(i));  // far more than the pipe holds
  const std::vector<std::string> lines = pipe.read(numbered(999));
  ASSERT_EQ(lines.size(), 1000U);
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(lines[static_cast<std::size_t>(i)].contains(numbered(i)));
}

TEST(DescriptorSink, WhatDoesNotFitIsDroppedAndTheReaderIsToldHowMuchItWas) {
  StalledPipe pipe(8 << 10);
  for (int i = 0; i < 1000; ++i) pipe.log().info(0, numbered(i));
  const std::vector<std::string> lines = pipe.read("dropped");
  ASSERT_GT(lines.size(), 100U);
  const std::size_t kept = lines.size() - 1;
  for (std::size_t i = 0; i < kept; ++i)
    EXPECT_TRUE(lines[i].contains(numbered(static_cast<int>(i))));
  EXPECT_TRUE(lines.back().starts_with("W0101 00:00:00.000000"));
  EXPECT_TRUE(lines.back().ends_with(
      fmt::format("\"Log records were dropped because nobody read them\" dropped={}", 1000 - kept)))
      << lines.back();
  pipe.log().info(0, "and on");
  EXPECT_EQ(pipe.read("and on").size(), 1U);
}

TEST(DescriptorSink, AReaderThatHasGoneIsNoTrouble) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  DescriptorSink(ends[1]).write("nobody reads this\n");
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
}

TEST(DescriptorSink, AtTheEndWhatWaitsIsWrittenWhileTheReaderReads) {
  StalledPipe pipe;
  for (int i = 0; i < 1000; ++i) pipe.log().info(0, numbered(i));
  std::vector<std::string> lines;
  Thread reader("reader", [&] { lines = pipe.read(); });
  pipe.end_log();
  reader.join();
  EXPECT_EQ(lines.size(), 1000U);
}

TEST(DescriptorSinkConcurrent, NoRecordIsLostWithoutBeingCounted) {
  constexpr int kThreads = 3, kRecords = 2000;
  StalledPipe pipe(16 << 10);
  std::vector<std::string> lines;
  Thread reader("reader", [&] { lines = pipe.read(); });
  {
    std::vector<Thread> writers;
    for (int i = 0; i < kThreads; ++i)
      writers.emplace_back("writer", [log = pipe.log()] {
        for (int j = 0; j < kRecords; ++j) log.info(0, numbered(j));
      });
  }
  pipe.end_log();
  reader.join();
  int read = 0, dropped = 0;
  for (const std::string& line : lines) {
    const std::size_t count = line.find("dropped=");
    if (count == std::string::npos)
      ++read;
    else
      dropped += std::stoi(line.substr(count + 8));
  }
  EXPECT_EQ(read + dropped, kThreads * kRecords);
}

}  // namespace
}  // namespace berth::telemetry
