#include "cel/library/time.h"

#include <array>
#include <chrono>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "base/time_text.h"
#include "cel/library/library.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFirstSecond = -62'135'596'800;  // of the year 1
constexpr std::int64_t kLastSecond = 253'402'300'799;   // of the year 9999
constexpr std::int64_t kDay = 86'400;

Value duration_overflow() { return Value::error("duration overflow"); }
Value timestamp_overflow() { return Value::error("timestamp overflow"); }

// A moment as the calendar and the clock show it at its offset.
struct Clock {
  std::int64_t year;
  unsigned month;        // 1 to 12
  unsigned day;          // 1 to 31
  unsigned day_of_year;  // from 0
  unsigned weekday;      // from Sunday, 0
  std::int64_t second;   // of the day
};

Clock clock_at(const TimestampValue& value, std::int64_t offset) {
  const std::int64_t local = value.seconds + offset;
  const std::int64_t days = local >= 0 ? local / kDay : (local - kDay + 1) / kDay;
  const std::chrono::sys_days date{std::chrono::days(days)};
  const std::chrono::year_month_day civil(date);
  const std::chrono::sys_days new_year(civil.year() / std::chrono::January / 1);
  return {static_cast<int>(civil.year()),          static_cast<unsigned>(civil.month()),
          static_cast<unsigned>(civil.day()),      static_cast<unsigned>((date - new_year).count()),
          std::chrono::weekday(date).c_encoding(), local - days * kDay};
}

std::string padded(std::int64_t value, std::size_t digits) {
  std::string text = std::to_string(value);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

std::string date_and_time(const TimestampValue& value, char between) {
  const Clock clock = clock_at(value, value.offset);
  std::string text = padded(clock.year, 4) + "-" + padded(clock.month, 2) + "-" +
                     padded(clock.day, 2) + between + padded(clock.second / 3600, 2) + ":" +
                     padded(clock.second / 60 % 60, 2) + ":" + padded(clock.second % 60, 2);
  if (value.nanoseconds == 0) return text;
  std::string fraction = padded(value.nanoseconds, 9);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + "." + fraction;
}

// "+01:00", with this between hours and minutes.
std::string zone_text(std::int32_t offset, const char* between) {
  const std::int32_t minutes = std::abs(offset) / 60;
  return (offset < 0 ? "-" : "+") + padded(minutes / 60, 2) + between + padded(minutes % 60, 2);
}

Value moved(const TimestampValue& value, std::int64_t nanoseconds, bool back) {
  // The carry of the nanoseconds is computed apart: the seconds cannot overflow.
  std::int64_t seconds = nanoseconds / kSecond;
  std::int64_t rest = nanoseconds % kSecond;
  if (back) {
    seconds = -seconds;
    rest = -rest;
  }
  TimestampValue result = value;
  result.seconds += seconds;
  rest += value.nanoseconds;
  if (rest < 0) {
    rest += kSecond;
    --result.seconds;
  } else if (rest >= kSecond) {
    rest -= kSecond;
    ++result.seconds;
  }
  result.nanoseconds = static_cast<std::int32_t>(rest);
  return timestamp_or_error(result);
}

// The offset that a zone stands for. Of the zones with a name only those of no offset are known.
std::optional<std::int64_t> zone_offset(const std::string& zone, std::string& error) {
  const std::size_t colon = zone.find(':');
  if (colon == std::string::npos) {
    if (zone.empty() || zone == "UTC" || zone == "GMT" || zone == "Etc/UTC" || zone == "Zulu") {
      return 0;
    }
    error = "unknown time zone " + zone;
    return std::nullopt;
  }
  const auto hours = parse_int(zone.substr(0, colon));
  const auto minutes = parse_int(zone.substr(colon + 1));
  if (!hours || !minutes || std::abs(*hours) > 1'000'000 || std::abs(*minutes) > 1'000'000) {
    error = "strconv.Atoi: parsing " +
            go_quoted(hours ? zone.substr(colon + 1) : zone.substr(0, colon)) + ": invalid syntax";
    return std::nullopt;
  }
  const std::int64_t offset = zone[0] == '-' ? *hours * 60 - *minutes : *hours * 60 + *minutes;
  return offset * 60;
}

template <typename Read>
Value read_clock(Args args, Read read) {
  std::int64_t offset = 0;
  if (args.size() == 2) {
    std::string error;
    const auto zone = zone_offset(args[1].as_string(), error);
    if (!zone) return Value::error(std::move(error));
    offset = *zone;
  }
  return Value::integer(static_cast<std::int64_t>(read(clock_at(args[0].as_timestamp(), offset))));
}

Value full_year(Args args) {
  return read_clock(args, [](const Clock& clock) { return clock.year; });
}
Value month(Args args) {
  return read_clock(args, [](const Clock& clock) { return clock.month - 1; });
}
Value day_of_year(Args args) {
  return read_clock(args, [](const Clock& clock) { return clock.day_of_year; });
}
Value day_of_month(Args args) {
  return read_clock(args, [](const Clock& clock) { return clock.day - 1; });
}
Value date(Args args) {
  return read_clock(args, [](const Clock& clock) { return clock.day; });
}
Value day_of_week(Args args) {
  return read_clock(args, [](const Clock& clock) { return clock.weekday; });
}
Value hours(Args args) {
  if (args[0].is(Kind::kDuration)) return Value::integer(args[0].as_duration() / kSecond / 3600);
  return read_clock(args, [](const Clock& clock) { return clock.second / 3600; });
}
Value minutes(Args args) {
  if (args[0].is(Kind::kDuration)) return Value::integer(args[0].as_duration() / kSecond / 60);
  return read_clock(args, [](const Clock& clock) { return clock.second / 60 % 60; });
}
Value seconds(Args args) {
  if (args[0].is(Kind::kDuration)) return Value::integer(args[0].as_duration() / kSecond);
  return read_clock(args, [](const Clock& clock) { return clock.second % 60; });
}
Value milliseconds(Args args) {
  if (args[0].is(Kind::kDuration)) return Value::integer(args[0].as_duration() / 1'000'000);
  const auto part = args[0].as_timestamp().nanoseconds / 1'000'000;
  return read_clock(args, [part](const Clock&) { return part; });
}

struct Getter {
  const char* name;
  const char* id;          // after "timestamp_to_"
  const char* id_in_zone;  // the same for the one with a zone
  Implementation call;
  const char* duration_id;
};
constexpr std::array<Getter, 10> kGetters = {{
    {"getFullYear", "year", "year_with_tz", full_year, nullptr},
    {"getMonth", "month", "month_with_tz", month, nullptr},
    {"getDayOfYear", "day_of_year", "day_of_year_with_tz", day_of_year, nullptr},
    {"getDayOfMonth", "day_of_month", "day_of_month_with_tz", day_of_month, nullptr},
    {"getDate", "day_of_month_1_based", "day_of_month_1_based_with_tz", date, nullptr},
    {"getDayOfWeek", "day_of_week", "day_of_week_with_tz", day_of_week, nullptr},
    {"getHours", "hours", "hours_with_tz", hours, "duration_to_hours"},
    {"getMinutes", "minutes", "minutes_with_tz", minutes, "duration_to_minutes"},
    {"getSeconds", "seconds", "seconds_tz", seconds, "duration_to_seconds"},
    {"getMilliseconds", "milliseconds", "milliseconds_with_tz", milliseconds,
     "duration_to_milliseconds"},
}};

}  // namespace

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const auto parsed = parse_go_duration(text);
  if (!parsed) return std::nullopt;
  return std::chrono::nanoseconds(*parsed).count();
}

std::string duration_text(std::int64_t nanoseconds) {
  return go_duration(std::chrono::nanoseconds(nanoseconds));
}

std::string seconds_text(std::int64_t nanoseconds) {
  const double whole = static_cast<double>(nanoseconds / kSecond);
  const double rest = static_cast<double>(nanoseconds % kSecond);
  return shortest_fixed(whole + rest / 1e9);
}

std::optional<TimestampValue> parse_timestamp(std::string_view text) {
  const auto digits = [&](std::size_t at, std::size_t count) -> std::optional<std::int64_t> {
    if (at + count > text.size()) return std::nullopt;
    std::int64_t value = 0;
    for (const char c : text.substr(at, count)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return value;
  };
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  const auto year = digits(0, 4);
  const auto month_number = digits(5, 2);
  const auto day = digits(8, 2);
  const auto hour = digits(11, 2);
  const auto minute = digits(14, 2);
  const auto second = digits(17, 2);
  if (!year || !month_number || !day || !hour || !minute || !second) return std::nullopt;
  if (at(4) != '-' || at(7) != '-' || at(10) != 'T' || at(13) != ':' || at(16) != ':') {
    return std::nullopt;
  }
  if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const std::chrono::year_month_day civil(std::chrono::year(static_cast<int>(*year)),
                                          std::chrono::month(static_cast<unsigned>(*month_number)),
                                          std::chrono::day(static_cast<unsigned>(*day)));
  if (!civil.ok()) return std::nullopt;

  TimestampValue result;
  result.seconds = std::chrono::sys_days(civil).time_since_epoch().count() * kDay + *hour * 3600 +
                   *minute * 60 + *second;
  std::size_t next = 19;
  if (at(next) == '.' || at(next) == ',') {
    ++next;
    std::int32_t unit = 100'000'000;
    const std::size_t begin = next;
    for (; is_digit(at(next)); ++next) {
      result.nanoseconds += (at(next) - '0') * unit;
      unit /= 10;
    }
    if (next == begin) return std::nullopt;
  }
  const std::string_view zone = text.substr(std::min(next, text.size()));
  if (zone == "Z") return result;
  const auto zone_hours = digits(next + 1, 2);
  const auto zone_minutes = digits(next + 4, 2);
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || !zone_hours ||
      !zone_minutes || *zone_hours > 24 || *zone_minutes > 60) {
    return std::nullopt;
  }
  result.offset = static_cast<std::int32_t>(*zone_hours * 3600 + *zone_minutes * 60);
  if (zone[0] == '-') result.offset = -result.offset;
  result.seconds -= result.offset;
  return result;
}

std::string rfc3339_text(const TimestampValue& value) {
  return date_and_time(value, 'T') + (value.offset == 0 ? "Z" : zone_text(value.offset, ":"));
}

std::string timestamp_text(const TimestampValue& value) {
  const std::string zone = zone_text(value.offset, "");
  return date_and_time(value, ' ') + " " + zone + " " + (value.offset == 0 ? "UTC" : zone);
}

Value timestamp_or_error(const TimestampValue& value) {
  if (value.seconds < kFirstSecond || value.seconds > kLastSecond) return timestamp_overflow();
  return Value::timestamp(value);
}

Value add_time(const Value& left, const Value& right) {
  if (left.is(Kind::kTimestamp)) {
    if (!right.is(Kind::kDuration)) return error_or_no_overload(right);
    return moved(left.as_timestamp(), right.as_duration(), false);
  }
  if (right.is(Kind::kTimestamp)) return moved(right.as_timestamp(), left.as_duration(), false);
  if (!right.is(Kind::kDuration)) return error_or_no_overload(right);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(left.as_duration(), right.as_duration(), &sum)) {
    return duration_overflow();
  }
  return Value::duration(sum);
}

Value subtract_time(const Value& left, const Value& right) {
  if (left.is(Kind::kDuration)) {
    if (!right.is(Kind::kDuration)) return error_or_no_overload(right);
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(left.as_duration(), right.as_duration(), &difference)) {
      return duration_overflow();
    }
    return Value::duration(difference);
  }
  if (right.is(Kind::kDuration)) return moved(left.as_timestamp(), right.as_duration(), true);
  if (!right.is(Kind::kTimestamp)) return error_or_no_overload(right);
  const TimestampValue& a = left.as_timestamp();
  const TimestampValue& b = right.as_timestamp();
  std::int64_t difference = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, kSecond, &difference) ||
      __builtin_add_overflow(difference, std::int64_t{a.nanoseconds} - b.nanoseconds,
                             &difference)) {
    return duration_overflow();
  }
  return Value::duration(difference);
}

void add_time(FunctionTable& table) {
  for (const Getter& each : kGetters) {
    const std::string name = each.name;
    const std::string id = "timestamp_to_";
    table.add("timestamp::" + name + "() -> int", id + each.id, each.call);
    table.add("timestamp::" + name + "(string) -> int", id + each.id_in_zone, each.call);
    if (each.duration_id != nullptr) {
      table.add("duration::" + name + "() -> int", each.duration_id, each.call);
    }
  }
}

}  // namespace berth::cel
