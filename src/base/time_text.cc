#include "base/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/ascii.h"

namespace berth {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1}
                                << 63;  // magnitude of the longest negative duration

// As Go quotes what it could not parse: bytes that a terminal may not show become \x...
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte >= 0x80) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

// `whole` and, unless it is nothing, the fraction part/10^digits without its trailing zeros.
std::string decimal(std::uint64_t whole, std::uint64_t part, int digits) {
  std::string out = fmt::format("{}", whole);
  if (part == 0) return out;
  std::string fraction = fmt::format("{:0{}}", part, digits);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return out + '.' + fraction;
}

}  // namespace

std::string go_duration(Duration duration) {
  const bool negative = duration.count() < 0;
  const auto bits = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t ns = negative ? 0 - bits : bits;  // also right for the most negative one
  std::string text = negative ? "-" : "";
  if (ns == 0) return "0s";
  if (ns < 1'000) return text + fmt::format("{}ns", ns);
  if (ns < 1'000'000) return text + decimal(ns / 1'000, ns % 1'000, 3) + "µs";
  if (ns < 1'000'000'000) return text + decimal(ns / 1'000'000, ns % 1'000'000, 6) + "ms";
  const std::uint64_t seconds = ns / 1'000'000'000;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds >= 60) text += fmt::format("{}m", seconds / 60 % 60);
  return text + decimal(seconds % 60, ns % 1'000'000'000, 9) + 's';
}

namespace {

// The number of nanoseconds in a unit, 0 if there is no such unit.
std::uint64_t unit_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"ns", 1},          {"us", 1'000},        {"\u00b5s", 1'000},  // the micro sign
      {"\u03bcs", 1'000},                                            // the Greek letter
      {"ms", 1'000'000},  {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
  };
  for (const auto& [unit, length] : kUnits)
    if (unit == name) return length;
  return 0;
}

// Reads digits from the front of `text`; false if there are more than a duration can hold.
bool take_whole(std::string_view& text, std::uint64_t& value) {
  value = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    if (value > kMost / 10) return false;
    value = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (value > kMost) return false;
  }
  return true;
}

// Reads the digits after a point: value / scale. Digits too small to matter are passed over.
void take_fraction(std::string_view& text, std::uint64_t& value, double& scale) {
  bool full = false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    if (full) continue;
    if (value > (kMost - 1) / 10) {
      full = true;
      continue;
    }
    const std::uint64_t next = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (next > kMost) {
      full = true;
      continue;
    }
    value = next;
    scale *= 10;
  }
}

}  // namespace

Result<Duration> parse_go_duration(std::string_view text) {
  const auto invalid = [&] {
    return fail(ErrorKind::kInvalid, "time: invalid duration " + in_quotes(text));
  };
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return Duration{0};
  if (rest.empty()) return invalid();

  std::uint64_t total = 0;
  while (!rest.empty()) {
    if (rest.front() != '.' && !is_digit(rest.front())) return invalid();
    const std::size_t before_number = rest.size();
    std::uint64_t whole = 0;
    if (!take_whole(rest, whole)) return invalid();
    bool has_digits = rest.size() != before_number;
    std::uint64_t fraction = 0;
    double scale = 1;
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      const std::size_t before_fraction = rest.size();
      take_fraction(rest, fraction, scale);
      has_digits |= rest.size() != before_fraction;
    }
    if (!has_digits) return invalid();

    const std::size_t unit_length = std::min(rest.find_first_of(".0123456789"), rest.size());
    const std::string_view name = rest.substr(0, unit_length);
    rest.remove_prefix(unit_length);
    if (name.empty())
      return fail(ErrorKind::kInvalid, "time: missing unit in duration " + in_quotes(text));
    const std::uint64_t unit = unit_of(name);
    if (unit == 0)
      return fail(ErrorKind::kInvalid,
                  "time: unknown unit " + in_quotes(name) + " in duration " + in_quotes(text));

    if (whole > kMost / unit) return invalid();
    std::uint64_t part = whole * unit;
    // Parity: the fraction goes through a double, so that the last nanosecond is Go's too.
    part += static_cast<std::uint64_t>(static_cast<double>(fraction) *
                                       (static_cast<double>(unit) / scale));
    if (part > kMost) return invalid();
    total += part;
    if (total > kMost) return invalid();
  }
  if (!negative && total == kMost) return invalid();
  return Duration{static_cast<std::int64_t>(negative ? 0 - total : total)};
}

namespace {

struct CivilTime {
  std::chrono::year_month_day day;
  std::chrono::hh_mm_ss<Duration> time;
};

CivilTime clock_of(WallTime time) {
  // sys_days reach further than nanoseconds do: floor cannot overflow.
  const auto day = std::chrono::floor<std::chrono::days>(time.since_epoch);
  // The first representable moment lies inside its day, so the day's start is not representable;
  // counting whole seconds from it is.
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.since_epoch);
  const auto in_day = seconds - std::chrono::duration_cast<std::chrono::seconds>(day);
  return {std::chrono::sys_days(day),
          std::chrono::hh_mm_ss<Duration>(
              in_day + (time.since_epoch % std::chrono::seconds(1) + std::chrono::seconds(1)) %
                           std::chrono::seconds(1))};
}

std::string to_second(const CivilTime& clock) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(clock.day.year()),
                     static_cast<unsigned>(clock.day.month()),
                     static_cast<unsigned>(clock.day.day()), clock.time.hours().count(),
                     clock.time.minutes().count(), clock.time.seconds().count());
}

}  // namespace

std::string rfc3339(WallTime time) { return to_second(clock_of(time)) + 'Z'; }

std::string rfc3339_micro(WallTime time) {
  const CivilTime clock = clock_of(time);
  return fmt::format("{}.{:06}Z", to_second(clock), clock.time.subseconds().count() / 1000);
}

namespace {

// Reads a timestamp piece by piece along Go's layout, with Go's words for what does not fit.
class TimestampReader {
 public:
  explicit TimestampReader(std::string_view text) : text_(text), rest_(text) {}

  Result<WallTime> read() {
    const int year = number("2006", 4, 4);
    literal('-');
    const int month = number("01", 2, 2);
    check(month >= 1 && month <= 12, "month");
    literal('-');
    const int day = number("02", 2, 2);
    literal('T');
    const int hour = number("15", 1, 2);  // Parity: Go takes a lone digit here, and only here
    check(hour < 24, "hour");
    literal(':');
    const int minute = number("04", 2, 2);
    check(minute < 60, "minute");
    literal(':');
    const int second = number("05", 2, 2);
    check(second < 60, "second");
    const std::int64_t nanos = fraction();
    const std::int64_t offset = zone();
    if (error_.empty() && !rest_.empty()) error_ = ": extra text: " + in_quotes(rest_);
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    check(date.ok(), "day");
    if (!error_.empty())
      return fail(ErrorKind::kInvalid, "parsing time " + in_quotes(text_) + error_);
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return nearest(((days * 24 + hour) * 60 + minute) * 60 + second - offset, nanos);
  }

 private:
  // The first trouble counts; after it, everything reads as harmless values.
  void check(bool in_range, std::string_view what) {
    if (error_.empty() && !in_range) error_ = fmt::format(": {} out of range", what);
  }

  void mismatch(std::string_view at, std::string_view element) {
    if (error_.empty())
      error_ = fmt::format(" as \"2006-01-02T15:04:05Z07:00\": cannot parse {} as {}",
                           in_quotes(at), in_quotes(element));
  }

  void literal(char expected) {
    if (!error_.empty()) return;
    if (rest_.empty() || rest_.front() != expected)
      mismatch(rest_, std::string_view(&expected, 1));
    else
      rest_.remove_prefix(1);
  }

  int number(std::string_view element, std::size_t at_least, std::size_t at_most) {
    if (!error_.empty()) return 1;
    std::size_t length = 0;
    int value = 0;
    while (length < at_most && length < rest_.size() && is_digit(rest_[length]))
      value = value * 10 + (rest_[length++] - '0');
    if (length < at_least) {
      mismatch(rest_, element);
      return 1;
    }
    rest_.remove_prefix(length);
    return value;
  }

  std::int64_t fraction() {
    if (!error_.empty() || rest_.size() < 2 || (rest_[0] != '.' && rest_[0] != ',') ||
        !is_digit(rest_[1]))
      return 0;
    rest_.remove_prefix(1);
    std::int64_t nanos = 0;
    std::int64_t unit = 100'000'000;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1), unit /= 10)
      nanos += (rest_.front() - '0') * unit;
    return nanos;
  }

  // Seconds east of Greenwich.
  std::int64_t zone() {
    if (!error_.empty()) return 0;
    if (rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      return 0;
    }
    const std::string_view zone = rest_.substr(0, 6);
    const auto digits = [&](std::size_t at) {
      return is_digit(zone[at]) && is_digit(zone[at + 1]);
    };
    if (zone.size() < 6 || zone[3] != ':' || (zone[0] != '+' && zone[0] != '-') || !digits(1) ||
        !digits(4)) {
      mismatch(rest_, "Z07:00");
      return 0;
    }
    const int hours = (zone[1] - '0') * 10 + (zone[2] - '0');
    const int minutes = (zone[4] - '0') * 10 + (zone[5] - '0');
    // Parity: offsets of 24 hours and 60 minutes are let through.
    check(minutes <= 60, "time zone offset minute");
    check(hours <= 24, "time zone offset hour");
    rest_.remove_prefix(6);
    const int offset = (hours * 60 + minutes) * 60;
    return zone[0] == '-' ? -offset : offset;
  }

  static WallTime nearest(std::int64_t seconds, std::int64_t nanos) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    // One second away from either end, so that adding the nanoseconds cannot overflow.
    if (seconds >= std::numeric_limits<std::int64_t>::max() / kSecond) return {Duration::max()};
    if (seconds <= std::numeric_limits<std::int64_t>::min() / kSecond) return {Duration::min()};
    return {Duration(seconds * kSecond + nanos)};
  }

  std::string_view text_;
  std::string_view rest_;
  std::string error_;
};

}  // namespace

Result<WallTime> parse_rfc3339(std::string_view text) { return TimestampReader(text).read(); }

}  // namespace berth
