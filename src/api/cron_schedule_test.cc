#include "api/cron_schedule.h"

#include <gtest/gtest.h>

#include <string>

#include "base/time_text.h"

namespace berth {
namespace {

// The time after `time` in UTC, or what is wrong.
std::string next(std::string_view schedule, std::string_view time) {
  const Result<CronSchedule> parsed = CronSchedule::parse(schedule);
  if (!parsed) return parsed.error().message;
  const auto after = parsed->next(parse_rfc3339(time).value(), TimeZone());
  return after ? rfc3339(*after) : "never";
}

TEST(CronSchedule, FindsTheNextTime) {
  struct Case {
    const char* schedule;
    const char* time;
    const char* next;
  };
  for (const Case& one : {
           Case{"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
           Case{"*/5 * * * *", "2026-01-01T00:04:59Z", "2026-01-01T00:05:00Z"},
           Case{"0 9 * * *", "2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"},
           Case{"30 8-10/2 * * *", "2026-01-01T08:30:00Z", "2026-01-01T10:30:00Z"},
           Case{"0 0 1 */3 *", "2026-01-02T00:00:00Z", "2026-04-01T00:00:00Z"},
           Case{"0 0 * * Mon,fri", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
           Case{"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
           Case{"0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
           Case{"0 0 * DEC ?", "2026-01-01T00:00:00Z", "2026-12-01T00:00:00Z"},
           Case{"59 23 31 2 *", "2026-01-01T00:00:00Z", "never"},
           Case{"@hourly", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"},
           Case{"@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
           Case{"@every 90m", "2026-01-01T00:00:10Z", "2026-01-01T01:30:10Z"},
       })
    EXPECT_EQ(next(one.schedule, one.time), one.next) << one.schedule;
}

TEST(CronSchedule, SaysWhatItCannotRead) {
  constexpr const char* kNow = "2026-01-01T00:00:00Z";
  EXPECT_EQ(next("", kNow), "empty spec string");
  EXPECT_EQ(next("* * * *", kNow), "expected exactly 5 fields, found 4: [* * * *]");
  EXPECT_EQ(next("60 * * * *", kNow), "end of range (60) above maximum (59): 60");
  EXPECT_EQ(next("* * 0 * *", kNow), "beginning of range (0) below minimum (1): 0");
  EXPECT_EQ(next("5-3 * * * *", kNow), "beginning of range (5) beyond end of range (3): 5-3");
  EXPECT_EQ(next("*/0 * * * *", kNow), "step of range should be a positive number: */0");
  EXPECT_EQ(next("1-2-3 * * * *", kNow), "too many hyphens: 1-2-3");
  EXPECT_EQ(next("1/2/3 * * * *", kNow), "too many slashes: 1/2/3");
  EXPECT_EQ(next("x * * * *", kNow),
            "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax");
  EXPECT_EQ(next("@never", kNow), "unrecognized descriptor: @never");
}

// Clocks go forward at 1:00 UTC on March 29 and back at 1:00 UTC on October 25.
TEST(CronSchedule, GoesByTheClocksOfAPlace) {
  const Result<TimeZone> berlin = TimeZone::load("Europe/Berlin");
  if (!berlin) GTEST_SKIP() << "no time zones on this machine";
  const auto after = [&](std::string_view schedule, std::string_view time) {
    return rfc3339(
        CronSchedule::parse(schedule)->next(parse_rfc3339(time).value(), *berlin).value());
  };
  EXPECT_EQ(after("0 8 * * *", "2026-03-28T12:00:00Z"), "2026-03-29T06:00:00Z");
  EXPECT_EQ(after("0 8 * * *", "2026-10-24T12:00:00Z"), "2026-10-25T07:00:00Z");
  // 2:30 is not there on one day, and there twice on the other.
  EXPECT_EQ(after("30 2 * * *", "2026-03-28T12:00:00Z"), "2026-03-30T00:30:00Z");
  EXPECT_EQ(after("30 2 * * *", "2026-10-25T00:00:00Z"), "2026-10-25T00:30:00Z");
  EXPECT_EQ(after("30 2 * * *", "2026-10-25T00:30:00Z"), "2026-10-25T01:30:00Z");
}

}  // namespace
}  // namespace berth
