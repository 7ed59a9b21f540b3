#include "telemetry/log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "base/thread.h"

namespace berth::telemetry {
namespace {

// 2026-11-15 14:00:00.000123456 UTC
constexpr WallTime kNow{std::chrono::nanoseconds(1794751200000123456)};

struct Written {
  explicit Written(LogOptions options = {}) {
    options.utc = true;
    options.process_id = 12345;
    output = std::make_shared<LogOutput>(
        std::move(options), [] { return kNow; }, std::make_unique<StringSink>(errors),
        std::make_unique<StringSink>(info));
  }
  Log log() const { return Log(output); }

  // The record with the number of the line in this file taken out.
  std::string text() const {
    std::string shown = errors;
    const std::size_t start = shown.find("_test.cc:");
    if (start == std::string::npos) return shown;
    std::size_t end = start + 9;
    while (end < shown.size() && std::isdigit(static_cast<unsigned char>(shown[end]))) ++end;
    return shown.replace(start + 9, end - start - 9, "N");
  }

  std::string errors;
  std::string info;
  std::shared_ptr<LogOutput> output;
};

TEST(LogText, HasKlogsHeaderQuotedMessageAndFields) {
  Written written;
  written.log().info(0, "Starting Kubernetes Scheduler", {{"version", "v1.37.1"}});
  EXPECT_EQ(written.text(),
            "I1115 14:00:00.000123   12345 log_test.cc:N] \"Starting Kubernetes Scheduler\" "
            "version=\"v1.37.1\"\n");
}

TEST(LogText, ShowsEachKindOfValueAsUpstream) {
  const struct {
    LogValue value;
    std::string text;
    std::string json;
  } cases[] = {
      {"a \"b\"\t", R"("a \"b\"\t")", R"("a \"b\"\t")"},
      {"caf\xc3\xa9 \x01", "\"caf\xc3\xa9 \\x01\"", "\"caf\xc3\xa9 \\u0001\""},
      {"\xff", R"("\xff")", R"("\ufffd")"},
      {42, "42", "42"},
      {std::size_t{7}, "7", "7"},
      {-1, "-1", "-1"},
      {true, "true", "true"},
      {1.5, "1.5", "1.5"},
      {Duration(std::chrono::milliseconds(1500)), "\"1.5s\"", "\"1.5s\""},
      {std::vector<std::string>{"a", "b"}, R"(["a","b"])", R"(["a","b"])"},
      {LogValue::object("default", "hi"), "\"default/hi\"",
       R"({"name":"hi","namespace":"default"})"},
      {LogValue::object("", "n1"), "\"n1\"", R"({"name":"n1"})"},
      {LogValue::json(R"({"a":1})"), R"({"a":1})", R"({"a":1})"},
      {"a: 1\nb: 2\n", "<\n\ta: 1\n\tb: 2\n >", R"("a: 1\nb: 2\n")"},
      {"", "\"\"", "\"\""},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(one.value.text(), one.text);
    EXPECT_EQ(one.value.json_text(), one.json);
  }
}

TEST(LogText, ErrorsBringTheirTextFirst) {
  Written written;
  written.log().named("UnhandledError").error("not \"found\"", "Unhandled Error", {{"k", 1}});
  EXPECT_EQ(written.text(),
            "E1115 14:00:00.000123   12345 log_test.cc:N] \"Unhandled Error\" "
            "err=\"not \\\"found\\\"\" logger=\"UnhandledError\" k=1\n");
}

TEST(LogText, PlainTextIsLeftAsItIs) {
  Written written;
  written.log().plain(Severity::kWarning, "setting \"GA\" feature gate");
  EXPECT_EQ(written.text(),
            "W1115 14:00:00.000123   12345 log_test.cc:N] setting \"GA\" feature gate\n");
}

TEST(LogText, NamesAreJoined) {
  Written written;
  const Log log = written.log().named("Bind").named("DefaultBinder");
  log.info(0, "m", {{"pod", "b"}});
  EXPECT_TRUE(written.errors.ends_with("\"m\" logger=\"Bind.DefaultBinder\" pod=\"b\"\n"))
      << written.errors;
}

TEST(LogJson, IsOneObjectALineInUpstreamsOrder) {
  Written written({.format = LogFormat::kJson, .verbosity = 4});
  written.log().named("L").info(3, "m\n", {{"pod", LogValue::object("ns", "a")}, {"node", "n1"}});
  EXPECT_EQ(written.text(),
            R"({"ts":1794751200000.1233,"logger":"L","caller":"telemetry/log_test.cc:N",)"
            R"("msg":"m\n","v":3,"pod":{"name":"a","namespace":"ns"},"node":"n1"})"
            "\n");
}

TEST(LogJson, ErrorsHaveNoLevelAndWithoutAnErrorNoErr) {
  Written with({.format = LogFormat::kJson});
  with.log().error("boom", "command failed");
  EXPECT_TRUE(with.errors.ends_with(R"("msg":"command failed","err":"boom"})"
                                    "\n"))
      << with.errors;
  Written without({.format = LogFormat::kJson});
  without.log().error(std::nullopt, "Leaderelection lost");
  EXPECT_TRUE(without.errors.ends_with(R"("msg":"Leaderelection lost"})"
                                       "\n"))
      << without.errors;
}

TEST(LogLevels, MoreThanTheVerbosityIsNotWritten) {
  Written written({.verbosity = 2});
  written.log().info(3, "no");
  EXPECT_EQ(written.errors, "");
  written.log().info(2, "yes");
  EXPECT_NE(written.errors, "");
  written.output->set_verbosity(3);
  EXPECT_TRUE(written.log().enabled(3));
  EXPECT_FALSE(written.log().enabled(4));
}

TEST(LogLevels, VmoduleRaisesTheLevelOfFilesThatMatch) {
  const auto enabled = [](std::vector<ModuleLevel> vmodule) {
    Written written({.vmodule = std::move(vmodule)});
    return written.log().enabled(5);
  };
  EXPECT_TRUE(enabled({{"log_test", 5}}));
  EXPECT_TRUE(enabled({{"log_*", 9}}));
  EXPECT_TRUE(enabled({{"other", 1}, {"l?g_test", 5}}));
  EXPECT_FALSE(enabled({{"log_test", 4}}));
  EXPECT_FALSE(enabled({{"log", 9}}));
  EXPECT_FALSE(enabled({}));
}

TEST(LogStreams, AllGoesToOneUnlessSplit) {
  Written together;
  together.log().info(0, "i");
  together.log().error("e", "e");
  EXPECT_EQ(together.info, "");
  Written split({.split_stream = true});
  split.log().info(0, "i");
  split.log().plain(Severity::kWarning, "w");
  EXPECT_TRUE(split.info.ends_with("\"i\"\n")) << split.info;
  EXPECT_TRUE(split.errors.ends_with("] w\n")) << split.errors;
}

TEST(LogStreams, InfoIsBufferedUntilFlushOverflowOrError) {
  Written written({.split_stream = true, .info_buffer_size = 150});
  written.log().info(0, "one");
  EXPECT_EQ(written.info, "");
  written.output->flush();
  EXPECT_TRUE(written.info.ends_with("\"one\"\n"));

  written.log().info(0, "two");
  written.log().info(0, std::string(100, 'x'));  // together too long
  EXPECT_TRUE(written.info.ends_with("\"two\"\n")) << written.info;
  written.log().error(std::nullopt, "now");
  EXPECT_TRUE(written.info.ends_with("xxx\"\n"));
  written.log().info(0, std::string(200, 'y'));  // longer than the buffer
  EXPECT_TRUE(written.info.ends_with("yyy\"\n"));
}

TEST(LogStreams, WhatIsBufferedGoesOutAtTheEnd) {
  Written written({.split_stream = true, .info_buffer_size = 1000});
  written.log().info(0, "last words");
  written.output.reset();
  EXPECT_TRUE(written.info.ends_with("\"last words\"\n"));
}

TEST(LogThreads, RecordsAreWhole) {
  Written written;
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back("writer", [log = written.log()] {
        for (int i = 0; i < 100; ++i) log.info(0, "message", {{"i", i}});
      });
  }
  std::size_t lines = 0;
  for (std::size_t at = 0; at < written.errors.size(); ++lines) {
    EXPECT_EQ(written.errors.substr(at, 5), "I1115");
    at = written.errors.find('\n', at) + 1;
  }
  EXPECT_EQ(lines, 400u);
}

}  // namespace
}  // namespace berth::telemetry
