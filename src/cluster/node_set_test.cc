#include "cluster/node_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace berth
