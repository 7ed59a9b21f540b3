#include "plugins/normalize.h"

#include <algorithm>

#include "plugins/arithmetic.h"

namespace berth::plugins {

void default_normalize(Prefer prefer, const NodeSet& feasible, std::span<Score> by_row) {
  const bool lowest = prefer == Prefer::kLowest;
  // All are 0, nearly always, and that is soon seen.
  Score any = 0;
  feasible.for_each([&](NodeRow row) { any |= by_row[row]; });
  Score highest = 0;
  if (any != 0) feasible.for_each([&](NodeRow row) { highest = std::max(highest, by_row[row]); });
  if (highest == 0) {
    if (lowest) feasible.for_each([&](NodeRow row) { by_row[row] = kMaxScore; });
    return;
  }
  feasible.for_each([&](NodeRow row) {
    const Score share = wrapping_mul(kMaxScore, by_row[row]) / highest;
    by_row[row] = lowest ? wrapping_sub(kMaxScore, share) : share;
  });
}

std::int64_t BrokenLinear::operator()(std::int64_t x) const {
  const auto right = std::find_if(points_.begin(), points_.end(),
                                  [x](const Point& point) { return x <= point.first; });
  if (right == points_.begin()) return right->second;
  if (right == points_.end()) return points_.back().second;
  const auto [x0, y0] = *std::prev(right);
  const auto [x1, y1] = *right;
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

}  // namespace berth::plugins
