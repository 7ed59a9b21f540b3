#include "search/selection.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace berth {
namespace {

// Some words are full, some are not, the best are in both.
struct Rows {
  NodeSet feasible{300};
  std::vector<std::int64_t> totals = std::vector<std::int64_t>(300, 5);

  Rows() {
    for (NodeRow row = 0; row < 300; ++row)
      if (row < 140 || row % 3 == 0) feasible.insert(row);
    for (const NodeRow row : {7U, 63U, 64U, 130U, 149U, 150U, 297U})
      totals[row] = 9;  // 149 is not feasible
    totals[151] = 100;  // nor is this
  }
};

TEST(Selection, FindsHowManyShareTheBestTotal) {
  const Rows rows;
  const Maxima maxima = find_maxima(rows.feasible, rows.totals);
  EXPECT_EQ(maxima.total, 9);
  EXPECT_EQ(maxima.rows, 6U);
}

TEST(Selection, DrawsEachOfTheBestAndNoOther) {
  const Rows rows;
  Random random(1);
  std::set<NodeRow> drawn;
  for (int i = 0; i < 500; ++i) {
    const Selection selected = select(rows.feasible, rows.totals, random);
    EXPECT_EQ(selected.total, 9);
    drawn.insert(selected.row);
  }
  EXPECT_EQ(drawn, (std::set<NodeRow>{7, 63, 64, 130, 150, 297}));
}

TEST(Selection, TheSameDrawIsTheSameRowHoweverTheOthersLie) {
  Rows rows;
  Random one(7), other(7);
  const NodeRow before = select(rows.feasible, rows.totals, one).row;
  for (const NodeRow row : {0U, 70U, 139U}) rows.feasible.erase(row);  // no word is full any more
  EXPECT_EQ(select(rows.feasible, rows.totals, other).row, before);
}

TEST(Selection, NothingIsFeasible) {
  const Rows rows;
  Random random(1);
  EXPECT_EQ(select(NodeSet(300), rows.totals, random).row, kNoRow);
}

TEST(Selection, TotalsMayBeNegative) {
  Rows rows;
  for (std::int64_t& total : rows.totals) total -= 1000;
  EXPECT_EQ(find_maxima(rows.feasible, rows.totals).total, 9 - 1000);
}

}  // namespace
}  // namespace berth
