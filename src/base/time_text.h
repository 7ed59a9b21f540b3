// Time as text: durations as Go writes and reads them ("1h2m3.5s", "300ms"), the form of every
// duration that a user of Kubernetes sees or types, and moments as RFC 3339, the form of every
// timestamp in its objects. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/result.h"

namespace berth {

std::string go_duration(Duration duration);

// Errors read like Go's: `time: invalid duration "abc"`.
Result<Duration> parse_go_duration(std::string_view text);

// "2026-01-01T00:00:00Z"; the form of metav1.Time (whole seconds).
std::string rfc3339(WallTime time);
// With microseconds: the form of metav1.MicroTime.
std::string rfc3339_micro(WallTime time);

// Any offset, any number of digits after the seconds (what is finer than nanoseconds is cut off).
// Moments that 64 bits of nanoseconds cannot hold (before 1677, after 2262: Go's zero time for one)
// become the nearest that they can. Errors read like Go's.
Result<WallTime> parse_rfc3339(std::string_view text);

}  // namespace berth
