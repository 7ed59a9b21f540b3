#include "base/time_zone.h"

#include <gtest/gtest.h>

#include <string>

#include "base/time_text.h"

namespace berth {
namespace {

std::int64_t seconds(std::string_view text) {
  return std::chrono::floor<std::chrono::seconds>(parse_rfc3339(text).value().since_epoch).count();
}

// A file of version 2: one change to `offset` at `moment`, then the rules of `footer`.
std::string zone_file(std::int64_t first, std::int64_t moment, std::int64_t offset,
                      const std::string& footer) {
  const auto number = [](std::int64_t value, int size) {
    std::string text;
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8)
      text += static_cast<char>(value >> shift & 0xff);
    return text;
  };
  const auto header = [&](std::int64_t times, std::int64_t types) {
    std::string text = "TZif2" + std::string(15, '\0');
    for (const std::int64_t count :
         {std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, times, types, std::int64_t{4}})
      text += number(count, 4);
    return text;
  };
  const auto type = [&](std::int64_t of) { return number(of, 4) + std::string(2, '\0'); };
  return header(0, 1) + type(0) + "UTC" + '\0' + header(1, 2) + number(moment, 8) + '\1' +
         type(first) + type(offset) + "ABC" + '\0' + "\n" + footer + "\n";
}

TEST(TimeZone, KnowsTheClocksOfAPlace) {
  const TimeZone zone =
      TimeZone::parse(zone_file(3208, 100, 3600, "CET-1CEST,M3.5.0,M10.5.0/3")).value();
  EXPECT_EQ(zone.offset_at(99), 3208);
  EXPECT_EQ(zone.offset_at(seconds("2026-01-15T12:00:00Z")), 3600);
  EXPECT_EQ(zone.offset_at(seconds("2026-03-29T00:59:59Z")), 3600);
  EXPECT_EQ(zone.offset_at(seconds("2026-03-29T01:00:00Z")), 7200);
  EXPECT_EQ(zone.offset_at(seconds("2040-10-28T00:59:59Z")), 7200);
  EXPECT_EQ(zone.offset_at(seconds("2040-10-28T01:00:00Z")), 3600);
  EXPECT_EQ(zone.moment_of(seconds("2026-07-01T08:00:00Z")), seconds("2026-07-01T06:00:00Z"));
  EXPECT_EQ(zone.moment_of(seconds("2026-12-01T08:00:00Z")), seconds("2026-12-01T07:00:00Z"));
}

TEST(TimeZone, KnowsSummersInTheSouth) {
  const TimeZone zone =
      TimeZone::parse(zone_file(36000, 100, 36000, "AEST-10AEDT,M10.1.0,M4.1.0/3")).value();
  EXPECT_EQ(zone.offset_at(seconds("2026-01-15T12:00:00Z")), 39600);
  EXPECT_EQ(zone.offset_at(seconds("2026-06-15T12:00:00Z")), 36000);
}

TEST(TimeZone, RefusesWhatIsNone) {
  EXPECT_EQ(TimeZone::load("Moon/Sea").error().message, "unknown time zone Moon/Sea");
  EXPECT_EQ(TimeZone::load("../../etc/passwd").error().message,
            "unknown time zone ../../etc/passwd");
  const std::string good = zone_file(0, 100, 3600, "CET-1CEST,M3.5.0,M10.5.0/3");
  for (std::size_t size = 0; size + 28 < good.size(); ++size)
    EXPECT_FALSE(TimeZone::parse(good.substr(0, size))) << size;
  EXPECT_FALSE(TimeZone::parse(zone_file(0, 100, 3600, "CET-1CEST,M13.5.0,M10.5.0")));
  EXPECT_EQ(TimeZone::load("UTC")->offset_at(0), 0);
}

}  // namespace
}  // namespace berth
