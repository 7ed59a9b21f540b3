#include "base/time_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/testing/names.h"

namespace berth {
namespace {

TEST(GoDuration, PrintsAsGoDoes) {
  const std::vector<std::pair<Duration, std::string>> rows = {
      {0s, "0s"},
      {1ns, "1ns"},
      {999ns, "999ns"},
      {1100ns, "1.1µs"},
      {1us, "1µs"},
      {2200us, "2.2ms"},
      {300ms, "300ms"},
      {1500ms, "1.5s"},
      {3300ms, "3.3s"},
      {1s + 1ns, "1.000000001s"},
      {59s, "59s"},
      {1min, "1m0s"},
      {5min, "5m0s"},
      {15min, "15m0s"},
      {4min + 5s, "4m5s"},
      {4min + 5s + 1ms, "4m5.001s"},
      {1h, "1h0m0s"},
      {5h + 6min + 7s + 1ms, "5h6m7.001s"},
      {480s + 1ns, "8m0.000000001s"},
      {25h, "25h0m0s"},
      {-1s, "-1s"},
      {-90s, "-1m30s"},
      {-1ns, "-1ns"},
      {Duration::max(), "2562047h47m16.854775807s"},
      {Duration::min(), "-2562047h47m16.854775808s"},
  };
  for (const auto& [duration, text] : rows) EXPECT_EQ(go_duration(duration), text);
}

TEST(GoDuration, ReadsWhatGoReads) {
  const std::vector<std::pair<std::string, Duration>> rows = {
      {"0", 0s},
      {"-0", 0s},
      {"5s", 5s},
      {"30s", 30s},
      {"1478s", 1478s},
      {"-5s", -5s},
      {"+5s", 5s},
      {"5.0s", 5s},
      {"5.6s", 5600ms},
      {"5.s", 5s},
      {".5s", 500ms},
      {"1.0040s", 1004ms},
      {"100.00100s", 100s + 1ms},
      {"10ns", 10ns},
      {"11us", 11us},
      {"12µs", 12us},
      {"12μs", 12us},
      {"13ms", 13ms},
      {"15m", 15min},
      {"16h", 16h},
      {"3h30m", 3h + 30min},
      {"-1m30.5s", -(90s + 500ms)},
      {"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
      {"39h9m14.425s", 39h + 9min + 14s + 425ms},
      {"1s1s", 2s},
      {"52763797000ns", 52763797000ns},
      {"0.3333333333333333333h", 20min},
      {"9007199254740993ns", 9007199254740993ns},
      {"9223372036854775807ns", Duration::max()},
      {"9223372036854775.807us", Duration::max()},
      {"-9223372036854775808ns", Duration::min()},
      {"0.100000000000000000000h", 6min},
      {"0.830103483285477580700h", 49min + 48s + 372539827ns},
  };
  for (const auto& [text, duration] : rows) {
    const Result<Duration> parsed = parse_go_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, duration) << text;
  }
}

TEST(GoDuration, RefusesInGosWords) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", R"(time: invalid duration "")"},
      {"3", R"(time: missing unit in duration "3")"},
      {"1h2", R"(time: missing unit in duration "1h2")"},
      {"-", R"(time: invalid duration "-")"},
      {"s", R"(time: invalid duration "s")"},
      {"abc", R"(time: invalid duration "abc")"},
      {".", R"(time: invalid duration ".")"},
      {".s", R"(time: invalid duration ".s")"},
      {"-.s", R"(time: invalid duration "-.s")"},
      {"+-1s", R"(time: invalid duration "+-1s")"},
      {" 1s", R"(time: invalid duration " 1s")"},
      {"1d", R"(time: unknown unit "d" in duration "1d")"},
      {"1s ", R"(time: unknown unit "s " in duration "1s ")"},
      {"5 s", R"(time: unknown unit " s" in duration "5 s")"},
      {"1\"", R"(time: unknown unit "\"" in duration "1\"")"},
      {"1\xff", R"(time: unknown unit "\xff" in duration "1\xff")"},
      {"9223372036854775808ns", R"(time: invalid duration "9223372036854775808ns")"},
      {"9223372036854775.808us", R"(time: invalid duration "9223372036854775.808us")"},
      {"-9223372036854775809ns", R"(time: invalid duration "-9223372036854775809ns")"},
      {"3000000h", R"(time: invalid duration "3000000h")"},
      {"99999999999999999999h", R"(time: invalid duration "99999999999999999999h")"},
      {"2562047h2562047h", R"(time: invalid duration "2562047h2562047h")"},
  };
  for (const auto& [text, message] : rows) {
    const Result<Duration> parsed = parse_go_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(parsed.error().message, message);
  }
}

TEST(GoDuration, WhatIsPrintedReadsBackTheSame) {
  for (const std::int64_t ns : {std::int64_t{1}, std::int64_t{-1500}, std::int64_t{123456789012345},
                                std::numeric_limits<std::int64_t>::min()}) {
    const Result<Duration> again = parse_go_duration(go_duration(Duration(ns)));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->count(), ns);
  }
}

constexpr WallTime kNewYear{1767225600s};

TEST(Rfc3339, PrintsWholeSecondsInUtc) {
  EXPECT_EQ(rfc3339(WallTime{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(kNewYear), "2026-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(kNewYear + (59 * 24h + 23h + 59min + 59s + 999ms)), "2026-03-01T23:59:59Z");
  EXPECT_EQ(rfc3339(WallTime{-1ns}), "1969-12-31T23:59:59Z");
  EXPECT_EQ(rfc3339(WallTime{Duration::min()}), "1677-09-21T00:12:43Z");
  EXPECT_EQ(rfc3339(WallTime{Duration::max()}), "2262-04-11T23:47:16Z");
}

TEST(Rfc3339, PrintsMicrosecondsWithAllTheirDigits) {
  EXPECT_EQ(rfc3339_micro(kNewYear), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(rfc3339_micro(kNewYear + 1500us), "2026-01-01T00:00:00.001500Z");
  EXPECT_EQ(rfc3339_micro(kNewYear + 999999999ns), "2026-01-01T00:00:00.999999Z");
  EXPECT_EQ(rfc3339_micro(WallTime{-1us}), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  const std::vector<std::pair<std::string, WallTime>> rows = {
      {"1970-01-01T00:00:00Z", WallTime{}},
      {"2026-01-01T00:00:00Z", kNewYear},
      {"2026-01-01T00:00:00+00:00", kNewYear},
      {"2026-01-01T02:00:00+02:00", kNewYear},
      {"2025-12-31T18:30:00-05:30", kNewYear},
      {"2026-01-01T00:00:00.5Z", kNewYear + 500ms},
      {"2026-01-01T00:00:00.123456Z", kNewYear + 123456us},
      {"2026-01-01T00:00:00,25Z", kNewYear + 250ms},
      {"2026-01-01T00:00:00.123456789999Z", kNewYear + 123456789ns},
      {"2026-01-01T01:00:00.000001+01:00", kNewYear + 1us},
      {"2026-01-01T7:00:00Z", kNewYear + 7h},
      {"2024-02-29T00:00:00Z", WallTime{1709164800s}},
      {"1969-12-31T23:59:59.5Z", WallTime{-500ms}},
  };
  for (const auto& [text, time] : rows) {
    const Result<WallTime> parsed = parse_rfc3339(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->since_epoch.count(), time.since_epoch.count()) << text;
  }
}

TEST(Rfc3339, MomentsThatDoNotFitBecomeTheNearestThatDo) {
  EXPECT_EQ(parse_rfc3339("0001-01-01T00:00:00Z")->since_epoch, Duration::min());
  EXPECT_EQ(parse_rfc3339("1677-09-21T00:12:42Z")->since_epoch, Duration::min());
  EXPECT_EQ(parse_rfc3339("2262-04-11T23:47:17Z")->since_epoch, Duration::max());
  EXPECT_EQ(parse_rfc3339("9999-12-31T23:59:59Z")->since_epoch, Duration::max());
}

TEST(Rfc3339, RefusesInGosWords) {
  const std::string as = R"( as "2006-01-02T15:04:05Z07:00": cannot parse )";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", R"("")" + as + R"("" as "2006")"},
      {"yesterday", R"("yesterday")" + as + R"("yesterday" as "2006")"},
      {"2026", R"("2026")" + as + R"("" as "-")"},
      {"2026-1-01T00:00:00Z", R"("2026-1-01T00:00:00Z")" + as + R"("1-01T00:00:00Z" as "01")"},
      {"2026-01-01 00:00:00Z", R"("2026-01-01 00:00:00Z")" + as + R"(" 00:00:00Z" as "T")"},
      {"2026-01-01T00:00:00", R"("2026-01-01T00:00:00")" + as + R"("" as "Z07:00")"},
      {"2026-01-01T00:00:00.Z", R"("2026-01-01T00:00:00.Z")" + as + R"(".Z" as "Z07:00")"},
      {"2026-01-01T00:00:00+0100", R"("2026-01-01T00:00:00+0100")" + as + R"("+0100" as "Z07:00")"},
      {"2026-13-01T00:00:00Z", R"("2026-13-01T00:00:00Z": month out of range)"},
      {"2026-02-29T00:00:00Z", R"("2026-02-29T00:00:00Z": day out of range)"},
      {"2026-01-00T00:00:00Z", R"("2026-01-00T00:00:00Z": day out of range)"},
      {"2026-01-01T24:00:00Z", R"("2026-01-01T24:00:00Z": hour out of range)"},
      {"2026-01-01T00:60:00Z", R"("2026-01-01T00:60:00Z": minute out of range)"},
      {"2026-01-01T00:00:60Z", R"("2026-01-01T00:00:60Z": second out of range)"},
      {"2026-01-01T00:00:00+25:00",
       R"("2026-01-01T00:00:00+25:00": time zone offset hour out of range)"},
      {"2026-01-01T00:00:00Zulu", R"("2026-01-01T00:00:00Zulu": extra text: "ulu")"},
  };
  for (const auto& [text, message] : rows) {
    const Result<WallTime> parsed = parse_rfc3339(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(parsed.error().message, "parsing time " + message);
  }
}

}  // namespace
}  // namespace berth
