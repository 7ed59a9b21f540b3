#include "search/score_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/random.h"

namespace berth {
namespace {

using Group = ScoreTree::Group;

TEST(ScoreTree, AGroupKnowsItsBestAndHowManyHaveIt) {
  ScoreTree tree;
  tree.assign({0, 1, 0, 0, 1}, 2, std::vector<std::int32_t>{5, 9, 7, 7, ScoreTree::kNone});
  EXPECT_EQ(tree.best(0).score, 7);
  EXPECT_EQ(tree.best(0).rows, 2U);
  EXPECT_EQ(tree.scored(0), 3U);
  EXPECT_EQ(tree.best(1).score, 9);
  EXPECT_EQ(tree.scored(1), 1U);
  tree.set(1, ScoreTree::kNone);
  EXPECT_EQ(tree.best(1).rows, 0U);
  EXPECT_EQ(tree.scored(1), 0U);
}

TEST(ScoreTree, EquallyGoodRowsAreNumberedByRowWhateverTheirGroup) {
  ScoreTree tree;
  tree.assign({0, 1, 0, 1}, 2, std::vector<std::int32_t>{3, 8, 3, 8});
  const Group both[] = {1, 0};
  for (NodeRow row = 0; row < 4; ++row) EXPECT_EQ(tree.nth_best(both, row), row);
  const Group second[] = {1};
  EXPECT_EQ(tree.nth_best(second, 1), 3U);
}

TEST(ScoreTree, RowsMoveToGroupsThatAreNew) {
  ScoreTree tree;
  tree.assign({0, 0}, 1, std::vector<std::int32_t>{4, 6});
  EXPECT_EQ(tree.add_group(), 1);
  tree.move(1, 1, 5);
  EXPECT_EQ(tree.best(0).score, 4);
  EXPECT_EQ(tree.best(1).score, 5);
  EXPECT_EQ(tree.group(1), 1);
}

TEST(ScoreTree, ManyRowsAreSetLikeOneAfterTheOther) {
  Random random(8);
  constexpr std::size_t kRows = 9000;
  const auto draw_score = [&] {
    return random.chance(0.2) ? ScoreTree::kNone : static_cast<std::int32_t>(random.below(20));
  };
  std::vector<std::int32_t> scores(kRows);
  for (std::int32_t& score : scores) score = draw_score();
  ScoreTree together, alone;
  together.assign(std::vector<Group>(kRows), 1, scores);
  alone.assign(std::vector<Group>(kRows), 1, scores);
  const Group only[] = {0};
  for (const std::size_t changes : {1U, 7U, 8U, 100U, 3000U}) {
    NodeSet rows(kRows);
    for (std::size_t i = 0; i < changes; ++i) {
      const auto row = static_cast<NodeRow>(random.below(kRows));
      scores[row] = draw_score();
      rows.insert(row);
      alone.set(row, scores[row]);
    }
    together.set(rows, scores);
    EXPECT_EQ(together.best(0).score, alone.best(0).score);
    EXPECT_EQ(together.best(0).rows, alone.best(0).rows);
    EXPECT_EQ(together.scored(0), alone.scored(0));
    for (std::uint64_t n = 0; n < together.best(0).rows; ++n)
      EXPECT_EQ(together.nth_best(only, n), alone.nth_best(only, n));
  }
}

// A lot of changes, and every answer compared with a look at all rows.
TEST(ScoreTree, AnswersAsALookAtAllRowsDoes) {
  Random random(7);
  for (const std::size_t rows : {1U, 63U, 64U, 65U, 700U, 9000U}) {
    constexpr std::size_t kGroups = 3;
    std::vector<Group> groups(rows);
    std::vector<std::int32_t> scores(rows);
    const auto draw_score = [&] {
      return random.chance(0.2) ? ScoreTree::kNone : static_cast<std::int32_t>(random.below(20));
    };
    for (std::size_t row = 0; row < rows; ++row) {
      groups[row] = static_cast<Group>(random.below(kGroups));
      scores[row] = draw_score();
    }
    ScoreTree tree;
    tree.assign(groups, kGroups, scores);
    for (int step = 0; step < 200; ++step) {
      const auto changed = static_cast<NodeRow>(random.below(rows));
      groups[changed] = static_cast<Group>(random.below(kGroups));
      scores[changed] = draw_score();
      tree.move(changed, groups[changed], scores[changed]);
      for (Group group = 0; group < kGroups; ++group) {
        std::int32_t best = ScoreTree::kNone;
        std::vector<NodeRow> having;
        for (NodeRow row = 0; row < rows; ++row) {
          if (groups[row] != group || scores[row] == ScoreTree::kNone) continue;
          if (scores[row] > best) having.clear();
          best = std::max(best, scores[row]);
          if (scores[row] == best) having.push_back(row);
        }
        ASSERT_EQ(tree.best(group).score, best);
        ASSERT_EQ(tree.best(group).rows, having.size());
        if (having.empty()) continue;
        const std::uint64_t n = random.below(having.size());
        ASSERT_EQ(tree.nth_best(std::span(&group, 1), n), having[n]);
      }
    }
  }
}

}  // namespace
}  // namespace berth
