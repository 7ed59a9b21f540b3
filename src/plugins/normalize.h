// The two shapes that scores are bent into: upstream's default normalisation, and functions made of
// straight pieces.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/node_set.h"
#include "berth/plugin.h"

namespace berth::plugins {

enum class Prefer : std::uint8_t { kHighest, kLowest };

// Stretches the feasible rows' scores so that the highest becomes 100; with kLowest the scale is
// turned around, and rows that all have 0 all become 100.
void default_normalize(Prefer prefer, const NodeSet& feasible, std::span<Score> by_row);

// Through the points (x, y), straight between two of them, level beyond the first and the last.
class BrokenLinear {
 public:
  using Point = std::pair<std::int64_t, std::int64_t>;

  // At least one point, x increasing.
  explicit BrokenLinear(std::vector<Point> points) : points_(std::move(points)) {}

  // Parity: division truncates towards zero, so pieces that fall are rounded up.
  std::int64_t operator()(std::int64_t x) const;

 private:
  std::vector<Point> points_;
};

}  // namespace berth::plugins
