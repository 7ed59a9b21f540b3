#include "berth/node_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"

namespace berth {
namespace {

NodeSet set_of(std::initializer_list<NodeRow> rows) {
  NodeSet set(200);
  for (const NodeRow row : rows) set.insert(row);
  return set;
}

std::vector<NodeRow> rows_of(const NodeSet& set) {
  std::vector<NodeRow> rows;
  set.for_each([&rows](NodeRow row) { rows.push_back(row); });
  return rows;
}

TEST(NodeSet, KeepsRowsInAscendingOrder) {
  const NodeSet set = set_of({130, 0, 63, 64});
  EXPECT_THAT(rows_of(set), ElementsAre(0, 63, 64, 130));
  EXPECT_EQ(set.count(), 4U);
  EXPECT_TRUE(set.contains(63));
  EXPECT_FALSE(set.contains(62));
  EXPECT_FALSE(set.contains(100000)) << "a row beyond the capacity is not there";
}

TEST(NodeSet, VisitorsMayEraseTheRowTheySee) {
  NodeSet set = set_of({1, 2, 65, 66});
  set.for_each([&set](NodeRow row) {
    if (row % 2 == 0) set.erase(row);
  });
  EXPECT_THAT(rows_of(set), ElementsAre(1, 65));
}

TEST(NodeSet, CommonRowsAreThoseInBoth) {
  std::vector<NodeRow> common;
  NodeSet::for_each_common(set_of({1, 64, 130}), set_of({64, 130, 131}),
                           [&common](NodeRow row) { common.push_back(row); });
  EXPECT_THAT(common, ElementsAre(64, 130));
}

TEST(NodeSet, IntersectsWithASetOfLessCapacity) {
  NodeSet set = set_of({1, 64, 130});
  NodeSet small(64);
  small.insert(1);
  set &= small;
  EXPECT_THAT(rows_of(set), ElementsAre(1));
}

TEST(NodeSet, GrowingKeepsWhatIsThere) {
  NodeSet set;
  EXPECT_TRUE(set.empty());
  set.reserve_rows(1);
  set.insert(0);
  set.reserve_rows(65);
  set.insert(64);
  set.reserve_rows(1);
  EXPECT_THAT(rows_of(set), ElementsAre(0, 64));
  set.clear();
  EXPECT_TRUE(set.empty());
}

// Rows of every kind of neighbourhood: alone in a word, in full words, in full spans, at the ends.
constexpr std::size_t kManyRows = 20000;

NodeSet sparse() {
  NodeSet set(kManyRows);
  for (const NodeRow row : {0U, 63U, 64U, 4095U, 4096U, 12345U, 19999U}) set.insert(row);
  return set;
}

NodeSet dense() {
  NodeSet set(kManyRows);
  for (NodeRow row = 100; row < 13000; ++row) set.insert(row);
  return set;
}

TEST(NodeSet, SetsAreJoinedTakenAwayAndIntersectedHoweverManyRowsTheyHave) {
  for (const NodeSet& a : {sparse(), dense(), NodeSet(kManyRows)})
    for (const NodeSet& b : {sparse(), dense(), NodeSet(kManyRows)}) {
      NodeSet joined = a, less = a, common = a, copied = a;
      joined |= b;
      less -= b;
      common &= b;
      copied = b;
      std::vector<NodeRow> both;
      NodeSet::for_each_common(a, b, [&](NodeRow row) { both.push_back(row); });
      EXPECT_EQ(both, rows_of(common));
      EXPECT_EQ(copied, b);
      EXPECT_EQ(rows_of(copied), rows_of(b));
      std::size_t joined_rows = 0;
      for (NodeRow row = 0; row < kManyRows; ++row) {
        const bool in_a = a.contains(row), in_b = b.contains(row);
        EXPECT_EQ(joined.contains(row), in_a || in_b) << row;
        EXPECT_EQ(less.contains(row), in_a && !in_b) << row;
        EXPECT_EQ(common.contains(row), in_a && in_b) << row;
        joined_rows += in_a || in_b ? 1 : 0;
      }
      EXPECT_EQ(joined.count(), joined_rows);
      EXPECT_EQ(rows_of(joined).size(), joined_rows);
      EXPECT_EQ(joined.empty(), joined_rows == 0);
      joined.clear();
      EXPECT_EQ(joined, NodeSet(kManyRows));
    }
}

TEST(NodeSet, ErasedAndClearedRowsCanComeAgain) {
  NodeSet set = dense();
  set.erase(12999);
  set &= sparse();
  set.insert(5000);
  EXPECT_THAT(rows_of(set), ElementsAre(4095, 4096, 5000, 12345));
  set.clear();
  set.insert(4096);
  EXPECT_THAT(rows_of(set), ElementsAre(4096));
  NodeSet moved = std::move(set);
  set = NodeSet(64);
  set.insert(1);
  EXPECT_THAT(rows_of(moved), ElementsAre(4096));
  EXPECT_THAT(rows_of(set), ElementsAre(1));
}

TEST(NodeSet, KnowsItsLowestRow) {
  NodeSet set = sparse();
  EXPECT_EQ(set.first(), 0U);
  for (const NodeRow row : {0U, 63U, 64U, 4095U}) set.erase(row);
  EXPECT_EQ(set.first(), 4096U);
  EXPECT_EQ(NodeSet(kManyRows).first(), kNoRow);
}

TEST(NodeSet, TakesOnTheRowsOfASetOfAnotherCapacity) {
  NodeSet set = set_of({1, 130});
  set = sparse();
  EXPECT_EQ(rows_of(set), rows_of(sparse()));
  set = set_of({7});
  EXPECT_THAT(rows_of(set), ElementsAre(7));
  EXPECT_EQ(set.capacity(), NodeSet(200).capacity());
}

TEST(NodeSet, KernelsSeeTheWordsThatHaveRows) {
  std::vector<std::pair<std::size_t, std::uint64_t>> words;
  NodeSet set = sparse();
  set.erase(12345);
  set.for_each_word([&](std::size_t word, std::uint64_t bits) {
    words.emplace_back(word, bits);
    set.keep(word, 1);
  });
  const std::uint64_t last = std::uint64_t{1} << 63;
  EXPECT_THAT(
      words,
      ElementsAre(std::pair(std::size_t{0}, last | 1), std::pair(std::size_t{1}, std::uint64_t{1}),
                  std::pair(std::size_t{63}, last), std::pair(std::size_t{64}, std::uint64_t{1}),
                  std::pair(std::size_t{312}, std::uint64_t{1} << 31)));
  EXPECT_THAT(rows_of(set), ElementsAre(0, 64, 4096));
}

}  // namespace
}  // namespace berth
