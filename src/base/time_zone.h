// TimeZone: how far the clocks of a place are from UTC, from the system's files of time zones
// (/usr/share/zoneinfo, RFC 9636). Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth {

class TimeZone {
 public:
  TimeZone() = default;  // UTC
  // "Europe/Berlin", "UTC", "" for UTC. Errors read like Go's: `unknown time zone X`.
  static Result<TimeZone> load(std::string_view name);
  // Of the bytes of such a file.
  static Result<TimeZone> parse(std::string_view bytes);

  // Seconds that clocks there are ahead of UTC at a moment, in seconds since 1970.
  std::int64_t offset_at(std::int64_t moment) const;
  // The moment at which clocks there show `local`, in seconds since 1970 as if it were UTC. Where
  // they show it twice or never, one of the two moments that are near.
  std::int64_t moment_of(std::int64_t local) const;

 private:
  // When clocks change every year: "M3.5.0/2" is 2:00 on the last Sunday of March.
  struct Rule {
    enum class Form : std::uint8_t { kMonthWeekDay, kDayOfYear, kDayWithoutLeap };
    Form form = Form::kMonthWeekDay;
    std::int64_t month = 0, week = 0, day = 0;
    std::int64_t time = 7200;  // seconds after midnight

    std::int64_t in_year(std::int64_t year) const;  // local seconds since 1970
  };
  struct Yearly {
    std::int64_t standard = 0;  // offsets
    std::int64_t summer = 0;
    bool has_summer = false;
    Rule begins, ends;
  };
  struct Transition {
    std::int64_t moment = 0;
    std::int64_t offset = 0;  // from then on
  };
  struct FooterReader;

  static std::int64_t yearly_offset(const Yearly& rules, std::int64_t moment);

  std::int64_t first_ = 0;  // before all transitions
  std::vector<Transition> transitions_;
  bool goes_on_ = false;  // after the last transition, by `yearly_`
  Yearly yearly_;
};

}  // namespace berth
