#include "plugins/normalize.h"

#include <algorithm>

#include "plugins/arithmetic.h"

namespace berth::plugins {

void default_normalize(Prefer prefer, const NodeSet& feasible, std::span<Score> by_row) {
  Score highest = 0;
  feasible.for_each([&](NodeRow row) { highest = std::max(highest, by_row[row]); });
  feasible.for_each([&](NodeRow row) {
    Score& score = by_row[row];
    if (highest != 0) score = wrapping_mul(kMaxScore, score) / highest;
    if (prefer == Prefer::kLowest)
      score = highest == 0 ? kMaxScore : wrapping_sub(kMaxScore, score);
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
