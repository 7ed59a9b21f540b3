#include "cluster/node_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/names.h"
#include "base/testing/names.h"

namespace berth {
namespace {

// Zones by a letter; rows by number.
ZoneKey zone(char letter) { return {Symbol{1000}, Symbol{static_cast<std::uint32_t>(letter)}}; }

std::vector<NodeRow> listed(const NodeTree& tree) {
  std::vector<NodeRow> rows;
  tree.list(rows);
  return rows;
}

TEST(NodeTree, ZonesTakeTurns) {
  struct Case {
    std::string name;
    std::string zones;  // the zone of row 0, 1, …
    std::vector<NodeRow> order;
  };
  for (const Case& c : std::vector<Case>{
           {"nothing", "", {}},
           {"one node", "a", {0}},
           {"one zone", "aaaa", {0, 1, 2, 3}},
           {"a zone each", "abc", {0, 1, 2}},
           {"equal zones, one after the other", "aabbcc", {0, 2, 4, 1, 3, 5}},
           {"zones of different size", "abbbccbab", {0, 1, 4, 7, 2, 5, 3, 6, 8}},
           {"first seen is first", "cba", {0, 1, 2}},
           {"exhausted zones are skipped", "abaaa", {0, 1, 2, 3, 4}},
       }) {
    NodeTree tree;
    for (NodeRow row = 0; row < c.zones.size(); ++row) tree.set(row, zone(c.zones[row]));
    EXPECT_THAT(listed(tree), ElementsAreArray(c.order)) << c.name;
    EXPECT_EQ(tree.size(), c.zones.size()) << c.name;
  }
}

TEST(NodeTree, SettingANodeAgainInItsZoneChangesNothing) {
  NodeTree tree;
  tree.set(0, zone('a'));
  tree.set(1, zone('a'));
  tree.set(0, zone('a'));
  EXPECT_THAT(listed(tree), ElementsAreArray({0, 1}));
  EXPECT_EQ(tree.size(), 2U);
}

TEST(NodeTree, ANodeThatMovesGoesToTheEndOfItsNewZone) {
  NodeTree tree;
  tree.set(0, zone('a'));
  tree.set(1, zone('b'));
  tree.set(2, zone('b'));
  tree.set(3, zone('a'));
  tree.set(0, zone('b'));
  EXPECT_THAT(listed(tree), ElementsAreArray({3, 1, 2, 0}));
}

TEST(NodeTree, AZoneThatComesBackIsLast) {
  NodeTree tree;
  tree.set(0, zone('a'));
  tree.set(1, zone('b'));
  tree.set(2, zone('c'));
  tree.erase(0);
  EXPECT_THAT(listed(tree), ElementsAreArray({1, 2}));
  tree.set(0, zone('a'));
  tree.set(3, zone('c'));
  EXPECT_THAT(listed(tree), ElementsAreArray({1, 2, 0, 3}));
}

TEST(NodeTree, ErasingWhatIsNotThereIsFine) {
  NodeTree tree;
  tree.erase(7);
  tree.set(0, zone('a'));
  tree.erase(0);
  tree.erase(0);
  EXPECT_THAT(listed(tree), IsEmpty());
  EXPECT_EQ(tree.size(), 0U);
}

TEST(ZoneKey, PrefersABetaLabelThatIsPresent) {
  const Symbol kOld{2001}, kNew{2002}, kNone{};
  struct Case {
    std::string name;
    std::vector<Label> labels;
    ZoneKey key;
  };
  for (const Case& c : std::vector<Case>{
           {"no labels", {}, {kNone, kNone}},
           {"stable", {{names::kRegion, kNew}, {names::kZone, kNew}}, {kNew, kNew}},
           {"beta", {{names::kBetaRegion, kOld}, {names::kBetaZone, kOld}}, {kOld, kOld}},
           {"both", {{names::kZone, kNew}, {names::kBetaZone, kOld}}, {kNone, kOld}},
           {"beta with an empty value", {{names::kZone, kNew}, {names::kBetaZone, kNone}}, {}},
           {"each by itself", {{names::kRegion, kNew}, {names::kBetaZone, kOld}}, {kNew, kOld}},
       })
    EXPECT_EQ(zone_key(LabelSet(c.labels)), c.key) << c.name;
}

}  // namespace
}  // namespace berth
