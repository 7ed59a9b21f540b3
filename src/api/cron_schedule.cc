#include "api/cron_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "base/time_text.h"

namespace berth {
namespace {

constexpr std::int64_t kHourSeconds = 3600;
constexpr std::int64_t kDaySeconds = 86400;
constexpr int kMostYears = 5;

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words = parts_of(text, " \t\n\r\v\f");
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
  return words;
}

auto malformed(std::string message) { return fail(ErrorKind::kInvalid, std::move(message)); }

std::chrono::year_month_day date_of(std::int64_t day_number) {
  return std::chrono::sys_days(std::chrono::days(day_number));
}

// The day of a local time, and the time that has passed of it.
std::int64_t day_of(std::int64_t local) {
  return (local - ((local % kDaySeconds) + kDaySeconds) % kDaySeconds) / kDaySeconds;
}

}  // namespace

struct CronSchedule::FieldRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::span<const std::string_view> names = {};

  Result<std::int64_t> value(std::string_view text) const {
    const std::string name = lower_case(text);
    const auto named = std::ranges::find(names, name);
    if (named != names.end()) return least + (named - names.begin());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
      return malformed(
          fmt::format("failed to parse int from {}: strconv.Atoi: parsing {}: invalid syntax", text,
                      go_quoted(text)));
    }
    if (number < 0)
      return malformed(fmt::format("negative number ({}) not allowed: {}", number, text));
    return number;
  }
};

Result<CronSchedule::Field> CronSchedule::parse_range(std::string_view text,
                                                      const FieldRange& range) {
  const std::vector<std::string_view> with_step = parts_of(text, "/");
  const std::vector<std::string_view> ends = parts_of(with_step.front(), "-");
  const bool single = ends.size() == 1;
  std::int64_t first = range.least;
  std::int64_t last = range.most;
  Field field;
  if (ends.front() == "*" || ends.front() == "?") {
    field.star = true;
  } else {
    const Result<std::int64_t> begin = range.value(ends.front());
    if (!begin) return fail(begin.error());
    first = last = *begin;
    if (ends.size() > 2) return malformed(fmt::format("too many hyphens: {}", text));
    if (!single) {
      const Result<std::int64_t> end = range.value(ends[1]);
      if (!end) return fail(end.error());
      last = *end;
    }
  }
  std::int64_t step = 1;
  if (with_step.size() > 2) return malformed(fmt::format("too many slashes: {}", text));
  if (with_step.size() == 2) {
    const Result<std::int64_t> said = FieldRange{}.value(with_step[1]);
    if (!said) return fail(said.error());
    step = *said;
    if (single) last = range.most;  // "3/5" is "3-59/5"
    if (step > 1) field.star = false;
  }
  if (first < range.least) {
    return malformed(
        fmt::format("beginning of range ({}) below minimum ({}): {}", first, range.least, text));
  }
  if (last > range.most)
    return malformed(
        fmt::format("end of range ({}) above maximum ({}): {}", last, range.most, text));
  if (first > last) {
    return malformed(
        fmt::format("beginning of range ({}) beyond end of range ({}): {}", first, last, text));
  }
  if (step == 0)
    return malformed(fmt::format("step of range should be a positive number: {}", text));
  for (std::int64_t value = first; value <= last; value += step)
    field.bits |= std::uint64_t{1} << value;
  return field;
}

Result<CronSchedule::Field> CronSchedule::parse_field(std::string_view text,
                                                      const FieldRange& range) {
  Field all;
  for (const std::string_view part : parts_of(text, ",")) {
    if (part.empty()) continue;
    const Result<Field> one = parse_range(part, range);
    if (!one) return one;
    all.bits |= one->bits;
    all.star = all.star || one->star;
  }
  return all;
}

Result<CronSchedule> CronSchedule::parse_descriptor(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
      {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
      {"@hourly", "0 * * * *"}};
  for (const auto& [name, meaning] : kNamed)
    if (text == name) return parse(meaning);
  constexpr std::string_view kEvery = "@every ";
  if (!text.starts_with(kEvery)) return malformed(fmt::format("unrecognized descriptor: {}", text));
  const Result<Duration> interval = parse_go_duration(text.substr(kEvery.size()));
  if (!interval) {
    return malformed(
        fmt::format("failed to parse duration {}: {}", text, interval.error().message));
  }
  CronSchedule schedule;
  schedule.every_ = std::max<Duration>(std::chrono::floor<std::chrono::seconds>(*interval),
                                       std::chrono::seconds(1));
  return schedule;
}

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  if (text.empty()) return malformed("empty spec string");
  if (text.starts_with('@')) return parse_descriptor(text);
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != 5) {
    return malformed(fmt::format("expected exactly 5 fields, found {}: [{}]", words.size(),
                                 fmt::join(words, " ")));
  }
  CronSchedule schedule;
  const std::pair<Field*, FieldRange> fields[] = {{&schedule.minute_, {0, 59}},
                                                  {&schedule.hour_, {0, 23}},
                                                  {&schedule.day_, {1, 31}},
                                                  {&schedule.month_, {1, 12, kMonths}},
                                                  {&schedule.weekday_, {0, 6, kWeekdays}}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Result<Field> field = parse_field(words[i], fields[i].second);
    if (!field) return fail(field.error());
    *fields[i].first = *field;
  }
  return schedule;
}

// Parity: a day of the month and a day of the week that are both said count one or the other.
bool CronSchedule::has_day(std::int64_t day_number) const {
  const bool day = day_.has(static_cast<unsigned>(date_of(day_number).day()));
  const bool weekday = weekday_.has(((day_number + 4) % 7 + 7) % 7);
  return day_.star || weekday_.star ? day && weekday : day || weekday;
}

std::optional<WallTime> CronSchedule::next(WallTime time, const TimeZone& zone) const {
  using std::chrono::seconds;
  std::int64_t moment = std::chrono::floor<seconds>(time.since_epoch).count();
  if (every_ > Duration::zero())
    return WallTime{seconds(moment) + std::chrono::duration_cast<seconds>(every_)};
  const auto local = [&] { return moment + zone.offset_at(moment); };
  const auto to_day = [&](std::int64_t day) {
    // Midnight, or the first time there is on a day whose clocks skip it.
    moment = std::max(moment, zone.moment_of(day * kDaySeconds));
    while (day_of(local()) < day) moment += kHourSeconds;
  };
  moment += 60 - ((local() % 60) + 60) % 60;  // the next whole minute
  const std::int64_t last_day = day_of(local()) + std::int64_t{366} * kMostYears;
  while (day_of(local()) <= last_day) {
    const std::int64_t today = day_of(local());
    const std::chrono::year_month_day date = date_of(today);
    if (!month_.has(static_cast<unsigned>(date.month()))) {
      const std::chrono::year_month first_of_next =
          std::chrono::year_month(date.year(), date.month()) + std::chrono::months(1);
      to_day(std::chrono::sys_days(first_of_next / 1).time_since_epoch().count());
    } else if (!has_day(today)) {
      to_day(today + 1);
    } else if (const std::int64_t of_day = local() - today * kDaySeconds;
               !hour_.has(of_day / kHourSeconds)) {
      moment += kHourSeconds - of_day % kHourSeconds;
    } else if (!minute_.has(of_day % kHourSeconds / 60)) {
      moment += 60;
    } else {
      return WallTime{seconds(moment)};
    }
  }
  return std::nullopt;
}

}  // namespace berth
