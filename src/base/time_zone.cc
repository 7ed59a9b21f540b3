#include "base/time_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "base/ascii.h"
#include "base/file.h"

namespace berth {
namespace {

constexpr std::int64_t kDay = 86400;
constexpr std::size_t kHeaderBytes = 44;

std::int64_t day_number(std::int64_t year, unsigned month, unsigned day) {
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(month), std::chrono::day(day)};
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::int64_t year_of(std::int64_t seconds) {
  const auto days = static_cast<int>((seconds - ((seconds % kDay) + kDay) % kDay) / kDay);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  return static_cast<int>(date.year());
}

// The numbers of a file, in network order.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}

  bool has(std::size_t count) const { return left_.size() >= count; }
  void skip(std::size_t count) { left_.remove_prefix(std::min(count, left_.size())); }
  std::string_view rest() const { return left_; }
  std::int64_t number(std::size_t size) {
    if (!has(size)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<unsigned char>(left_[i]);
    left_.remove_prefix(size);
    if (size == 4) return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
    return static_cast<std::int64_t>(value);
  }

 private:
  std::string_view left_;
};

struct Header {
  char version = 0;
  std::size_t is_utc = 0, is_standard = 0, leaps = 0, times = 0, types = 0, names = 0;

  std::size_t block_bytes(std::size_t time_bytes) const {
    return times * (time_bytes + 1) + types * 6 + names + leaps * (time_bytes + 4) + is_standard +
           is_utc;
  }
};

std::optional<Header> read_header(Bytes& bytes) {
  constexpr std::size_t kMostEntries = 100'000;
  if (!bytes.has(kHeaderBytes) || !bytes.rest().starts_with("TZif")) return std::nullopt;
  Header header;
  header.version = bytes.rest()[4];
  bytes.skip(20);
  for (std::size_t* count : {&header.is_utc, &header.is_standard, &header.leaps, &header.times,
                             &header.types, &header.names}) {
    const std::int64_t number = bytes.number(4);
    if (number < 0 || number > static_cast<std::int64_t>(kMostEntries)) return std::nullopt;
    *count = static_cast<std::size_t>(number);
  }
  return header;
}

bool is_safe_name(std::string_view name) {
  return !name.starts_with('/') && !name.contains("..") && !name.contains('\\') &&
         !name.contains('\0');
}

}  // namespace

// The line at the end of a file: "CET-1CEST,M3.5.0,M10.5.0/3".
struct TimeZone::FooterReader {
  std::string_view left;
  bool failed = false;

  bool take(char c) {
    if (!left.starts_with(c)) return false;
    left.remove_prefix(1);
    return true;
  }
  void name() {
    if (take('<')) {
      while (!left.empty() && !take('>')) left.remove_prefix(1);
      return;
    }
    while (!left.empty() && is_letter(left.front())) left.remove_prefix(1);
  }
  std::int64_t number() {
    if (left.empty() || !is_digit(left.front())) failed = true;
    std::int64_t value = 0;
    for (; !left.empty() && is_digit(left.front()) && value < 1'000'000; left.remove_prefix(1))
      value = value * 10 + (left.front() - '0');
    return value;
  }
  std::int64_t time() {
    const bool negative = take('-');
    if (!negative) take('+');
    std::int64_t seconds = number() * 3600;
    if (take(':')) seconds += number() * 60;
    if (take(':')) seconds += number();
    return negative ? -seconds : seconds;
  }
  Rule rule() {
    Rule rule;
    if (take('M')) {
      rule.month = number();
      failed = failed || !take('.');
      rule.week = number();
      failed = failed || !take('.');
      rule.day = number();
      failed = failed || rule.month < 1 || rule.month > 12 || rule.week < 1 || rule.week > 5 ||
               rule.day > 6;
    } else {
      rule.form = take('J') ? Rule::Form::kDayWithoutLeap : Rule::Form::kDayOfYear;
      rule.day = number();
    }
    if (take('/')) rule.time = time();
    return rule;
  }
  Yearly yearly() {
    Yearly rules;
    name();
    rules.standard = -time();
    if (left.empty()) return rules;
    rules.has_summer = true;
    name();
    rules.summer = left.starts_with(',') ? rules.standard + 3600 : -time();
    failed = failed || !take(',');
    rules.begins = rule();
    failed = failed || !take(',');
    rules.ends = rule();
    return rules;
  }
};

std::int64_t TimeZone::Rule::in_year(std::int64_t year) const {
  if (form == Form::kDayOfYear) return (day_number(year, 1, 1) + day) * kDay + time;
  if (form == Form::kDayWithoutLeap) {
    const bool leap = std::chrono::year(static_cast<int>(year)).is_leap();
    return (day_number(year, 1, 1) + day - 1 + (leap && day > 59 ? 1 : 0)) * kDay + time;
  }
  const auto at_month = static_cast<unsigned>(month);
  const std::int64_t first = day_number(year, at_month, 1);
  const std::int64_t length =
      (month == 12 ? day_number(year + 1, 1, 1) : day_number(year, at_month + 1, 1)) - first;
  const std::int64_t weekday = ((first + 4) % 7 + 7) % 7;  // 1970 began with a Thursday
  std::int64_t wanted = (day - weekday + 7) % 7 + (week - 1) * 7;
  while (wanted >= length) wanted -= 7;
  return (first + wanted) * kDay + time;
}

std::int64_t TimeZone::yearly_offset(const Yearly& rules, std::int64_t moment) {
  if (!rules.has_summer) return rules.standard;
  const std::int64_t year = year_of(moment + rules.standard);
  const std::int64_t begins = rules.begins.in_year(year) - rules.standard;
  const std::int64_t ends = rules.ends.in_year(year) - rules.summer;
  const bool summer = begins < ends ? moment >= begins && moment < ends  // in the north
                                    : moment >= begins || moment < ends;
  return summer ? rules.summer : rules.standard;
}

std::int64_t TimeZone::offset_at(std::int64_t moment) const {
  if (goes_on_ && (transitions_.empty() || moment >= transitions_.back().moment))
    return yearly_offset(yearly_, moment);
  const auto after = std::ranges::upper_bound(transitions_, moment, {}, &Transition::moment);
  return after == transitions_.begin() ? first_ : std::prev(after)->offset;
}

std::int64_t TimeZone::moment_of(std::int64_t local) const {
  const std::int64_t guess = offset_at(local);
  if (offset_at(local - guess) == guess) return local - guess;
  return local - offset_at(local - guess);
}

Result<TimeZone> TimeZone::parse(std::string_view text) {
  const auto malformed = [] {
    return fail(ErrorKind::kInvalid, "malformed time zone information");
  };
  Bytes bytes(text);
  std::optional<Header> header = read_header(bytes);
  if (!header) return malformed();
  std::size_t time_bytes = 4;
  if (header->version >= '2') {  // the same again, with longer numbers
    bytes.skip(header->block_bytes(4));
    header = read_header(bytes);
    if (!header) return malformed();
    time_bytes = 8;
  }
  if (!bytes.has(header->block_bytes(time_bytes)) || header->types == 0) return malformed();
  TimeZone zone;
  for (std::size_t i = 0; i < header->times; ++i)
    zone.transitions_.push_back({bytes.number(time_bytes), 0});
  std::vector<std::size_t> types;
  for (std::size_t i = 0; i < header->times; ++i)
    types.push_back(static_cast<std::size_t>(bytes.number(1)));
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < header->types; ++i) {
    offsets.push_back(bytes.number(4));
    bytes.skip(2);
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] >= offsets.size()) return malformed();
    zone.transitions_[i].offset = offsets[types[i]];
  }
  zone.first_ = offsets.front();
  if (!std::ranges::is_sorted(zone.transitions_, {}, &Transition::moment)) return malformed();
  bytes.skip(header->names + header->leaps * (time_bytes + 4) + header->is_standard +
             header->is_utc);
  std::string_view footer = bytes.rest();
  if (time_bytes == 4 || !footer.starts_with('\n')) return zone;
  footer.remove_prefix(1);
  footer = footer.substr(0, footer.find('\n'));
  if (footer.empty()) return zone;
  FooterReader reader{footer};
  zone.yearly_ = reader.yearly();
  if (reader.failed) return malformed();
  zone.goes_on_ = true;
  return zone;
}

Result<TimeZone> TimeZone::load(std::string_view name) {
  if (name.empty() || name == "UTC") return TimeZone();
  const auto unknown = [&] {
    return fail(ErrorKind::kNotFound, fmt::format("unknown time zone {}", name));
  };
  if (!is_safe_name(name)) return unknown();
  const Result<std::string> bytes = read_file(fmt::format("/usr/share/zoneinfo/{}", name));
  if (!bytes) return unknown();
  return parse(*bytes);
}

}  // namespace berth
