// Durations and timestamps: arithmetic that notices overflow, and their texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cel/value.h"

namespace berth::cel {

// Go's "1h30m", "-1.5s", "300ms".
std::optional<std::int64_t> parse_duration(std::string_view text);
std::string duration_text(std::int64_t nanoseconds);  // "1m30s"
std::string seconds_text(std::int64_t nanoseconds);   // "90.5"

// RFC 3339.
std::optional<TimestampValue> parse_timestamp(std::string_view text);
std::string rfc3339_text(const TimestampValue& value);
std::string timestamp_text(const TimestampValue& value);  // "2020-01-02 03:04:05 +0000 UTC"
// Years 1 to 9999.
Value timestamp_or_error(const TimestampValue& value);

// One side is a duration or timestamp, the other may be anything.
Value add_time(const Value& left, const Value& right);
Value subtract_time(const Value& left, const Value& right);

}  // namespace berth::cel
