// CronSchedule: when a CronJob runs: "*/5 8-17 * * mon-fri", "@daily", "@every 90m", by the clocks
// of a time zone. Reads and errs as upstream's parser. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time_zone.h"
#include "berth/loop.h"
#include "berth/result.h"

namespace berth {

class CronSchedule {
 public:
  static Result<CronSchedule> parse(std::string_view text);

  // The first time after `time`. Nothing when there is none within five years: the 30th of February.
  std::optional<WallTime> next(WallTime time, const TimeZone& zone) const;

 private:
  // The values that a field has, as bits; whether it begins with a star.
  struct Field {
    std::uint64_t bits = 0;
    bool star = false;

    bool has(std::int64_t value) const { return (bits >> value & 1) != 0; }
  };
  struct FieldRange;

  static Result<Field> parse_field(std::string_view text, const FieldRange& range);
  static Result<Field> parse_range(std::string_view text, const FieldRange& range);
  static Result<CronSchedule> parse_descriptor(std::string_view text);
  bool has_day(std::int64_t day_number) const;

  Field minute_, hour_, day_, month_, weekday_;
  Duration every_{0};  // with "@every"
};

}  // namespace berth
