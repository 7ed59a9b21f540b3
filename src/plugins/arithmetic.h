// Whole numbers the way upstream's scores and comparisons compute with them: 64 bits that wrap
// around instead of overflowing, division towards zero. Amounts come from manifests, so any value
// may turn up.
#pragma once

#include <cstdint>
#include <limits>

namespace berth::plugins {

constexpr std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapping_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
// `b` must not be 0. The lowest number divided by -1 is itself again; the machine would trap.
constexpr std::int64_t wrapping_div(std::int64_t a, std::int64_t b) {
  return b == -1 ? wrapping_sub(0, a) : a / b;
}

// Towards zero; what does not fit becomes the lowest number, as amd64's conversion has it.
constexpr std::int64_t truncated(double value) {
  constexpr double kBound = 9223372036854775808.0;  // 2^63
  if (!(value >= -kBound && value < kBound)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

}  // namespace berth::plugins
