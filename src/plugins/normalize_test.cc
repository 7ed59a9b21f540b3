#include "plugins/normalize.h"

#include <gtest/gtest.h>

#include <limits>

#include "plugins/arithmetic.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

NodeSet all_rows(std::size_t count) {
  NodeSet rows(count);
  for (NodeRow row = 0; row < count; ++row) rows.insert(row);
  return rows;
}

TEST(DefaultNormalize, StretchesTheHighestToAHundred) {
  struct Row {
    std::vector<Score> raw, highest_wins, lowest_wins;
  };
  const Row table[] = {
      {{1, 2, 3, 4}, {25, 50, 75, 100}, {75, 50, 25, 0}},
      {{1000, 10, 20, 30}, {100, 1, 2, 3}, {0, 99, 98, 97}},
      {{1000, 1, 1, 1}, {100, 0, 0, 0}, {0, 100, 100, 100}},
      {{0, 0}, {0, 0}, {100, 100}},
      {{0, 1}, {0, 100}, {100, 0}},
  };
  for (const Row& row : table) {
    std::vector<Score> scores = row.raw;
    default_normalize(Prefer::kHighest, all_rows(scores.size()), scores);
    EXPECT_EQ(scores, row.highest_wins);
    scores = row.raw;
    default_normalize(Prefer::kLowest, all_rows(scores.size()), scores);
    EXPECT_EQ(scores, row.lowest_wins);
  }
}

TEST(DefaultNormalize, LooksAtFeasibleRowsOnly) {
  std::vector<Score> scores = {1000, 1, 2};
  NodeSet feasible = all_rows(3);
  feasible.erase(0);
  default_normalize(Prefer::kHighest, feasible, scores);
  EXPECT_EQ(scores, (std::vector<Score>{1000, 50, 100}));
}

TEST(BrokenLinear, IsStraightBetweenPointsAndLevelBeyondThem) {
  struct Row {
    std::vector<BrokenLinear::Point> points;
    std::int64_t x, y;
  };
  const std::vector<BrokenLinear::Point> rising = {{10, 1}, {90, 9}};
  const std::vector<BrokenLinear::Point> roof = {{0, 2}, {40, 10}, {100, 0}};
  const Row table[] = {
      {rising, -10, 1}, {rising, 0, 1},    {rising, 10, 1},    {rising, 15, 1},    {rising, 19, 1},
      {rising, 20, 2},  {rising, 89, 8},   {rising, 90, 9},    {rising, 99, 9},    {roof, -1, 2},
      {roof, 0, 2},     {roof, 20, 6},     {roof, 40, 10},     {roof, 70, 5},      {roof, 100, 0},
      {roof, 110, 0},   {{{50, 7}}, 0, 7}, {{{50, 7}}, 50, 7}, {{{50, 7}}, 51, 7},
  };
  for (const Row& row : table) EXPECT_EQ(BrokenLinear(row.points)(row.x), row.y) << row.x;
}

TEST(BrokenLinear, FallingPiecesAreRoundedUp) {
  // 10 - 10/3 = 6.67: truncating the slope's -3.33 towards zero leaves 7.
  EXPECT_EQ(BrokenLinear({{0, 10}, {3, 0}})(1), 7);
}

TEST(Arithmetic, WrapsWhereTheMachineWouldTrap) {
  EXPECT_EQ(wrapping_add(kHighest, 1), kLowest);
  EXPECT_EQ(wrapping_sub(kLowest, 1), kHighest);
  EXPECT_EQ(wrapping_mul(kHighest, 2), -2);
  EXPECT_EQ(wrapping_div(kLowest, -1), kLowest);
  EXPECT_EQ(wrapping_div(-7, 2), -3);
  EXPECT_EQ(truncated(-2.9), -2);
  EXPECT_EQ(truncated(1e19), kLowest);
  EXPECT_EQ(truncated(std::numeric_limits<double>::quiet_NaN()), kLowest);
}

}  // namespace
}  // namespace berth::plugins
