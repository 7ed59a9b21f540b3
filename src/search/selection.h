// Selects one of the best nodes by a seeded, uniform draw. Ties are numbered by row, so that every
// search that finds the same maxima draws the same node.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "berth/node_set.h"
#include "berth/random.h"

namespace berth {

struct Selection {
  NodeRow row = kNoRow;
  std::int64_t total = 0;
};

// How many rows share the best total, and that total.
struct Maxima {
  std::int64_t total = std::numeric_limits<std::int64_t>::min();
  std::uint64_t rows = 0;

  void add(std::int64_t other, std::uint64_t with_it = 1) {
    if (other > total) *this = {other, 0};
    if (other == total) rows += with_it;
  }
  std::uint64_t draw(Random& random) const { return rows > 1 ? random.below(rows) : 0; }
};

Maxima find_maxima(const NodeSet& feasible, std::span<const std::int64_t> totals);

// The best of the feasible rows; kNoRow when there are none.
Selection select(const NodeSet& feasible, std::span<const std::int64_t> totals, Random& random);

}  // namespace berth
