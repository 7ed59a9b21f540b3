#include "berth/topology.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "api/testing/builders.h"
#include "berth/random.h"
#include "berth/views.h"

namespace berth {
namespace {

struct Topology : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  const NodeTable& table = cluster.nodes();

  NodeRow row(const std::string& node) { return table.find(cluster.symbols().find(node)); }
  TopologyColumn column(const std::string& key) {
    const Symbol symbol = world.symbol(key);
    const TopologyColumn found = cluster.topology().column(symbol);
    cluster.symbol_table()->release(symbol);  // the column holds it now
    return found;
  }
  Domain domain(const std::string& key, const std::string& node) {
    return column(key).domains[row(node)];
  }
  std::string value(const std::string& key, const std::string& node) {
    const TopologyColumn found = column(key);
    return std::string(cluster.symbols().text(found.values[found.domains[row(node)]]));
  }

  // What the nodes themselves say, compared with the column: equal values are one domain, others
  // differ, numbers are in range, values are right.
  void expect_consistent(const std::string& key) {
    const Symbol symbol = world.symbol(key);
    const TopologyColumn found = cluster.topology().column(symbol);
    ASSERT_EQ(found.values.size(), found.size);
    std::map<Symbol, Domain> seen;
    NodeSet with_key = table.nodes(), visited(table.rows());
    found.domains.keep_with_key(with_key);
    EXPECT_EQ(with_key.count(), found.nodes_with_key);
    found.domains.for_each(table.nodes(), [&](NodeRow at, Domain is) {
      visited.insert(at);
      EXPECT_EQ(is, found.domains[at]);
      EXPECT_EQ(with_key.contains(at), is != kNoDomain) << "row " << at;
    });
    EXPECT_EQ(visited.count(), table.node_count());
    found.domains.for_each_with_key(table.nodes(), [&](NodeRow at, Domain is) {
      EXPECT_EQ(is, found.domains[at]);
      with_key.erase(at);
    });
    EXPECT_TRUE(with_key.empty());
    for (NodeRow at = 0; at < table.rows(); ++at) {
      const Symbol* label = table.has_node(at) ? table.node(at).labels.find(symbol) : nullptr;
      const Domain is = found.domains[at];
      if (!label) {
        EXPECT_EQ(is, kNoDomain) << "row " << at;
        continue;
      }
      ASSERT_NE(is, kNoDomain) << "row " << at;
      ASSERT_LT(is, found.size);
      EXPECT_EQ(found.values[is], *label);
      EXPECT_EQ(seen.try_emplace(*label, is).first->second, is);
    }
    std::size_t in_use = 0;
    for (const Symbol label : found.values) in_use += label.empty() ? 0 : 1;
    EXPECT_EQ(in_use, seen.size() - seen.count(Symbol()));
    cluster.symbol_table()->release(symbol);
  }
};

TEST_F(Topology, TheOneNodeWithAKeyIsKnownAsNodesComeAndGo) {
  const auto only = [&] { return table.only_row_with_label(cluster.symbols().find("rare")); };
  const auto set = [&](const std::string& name, bool has_key) {
    if (has_key)
      cluster.add_node(world.node(name).label("rare", name));
    else
      cluster.add_node(world.node(name));
  };
  for (const char* name : {"n1", "n2", "n3"}) set(name, false);
  EXPECT_EQ(only(), kNoRow);
  set("n2", true);
  EXPECT_EQ(only(), row("n2"));
  expect_consistent("rare");
  set("n3", true);
  EXPECT_EQ(only(), kNoRow) << "two have it";
  set("n2", false);
  EXPECT_EQ(only(), row("n3"));
  expect_consistent("rare");
  set("n3", true);
  EXPECT_EQ(only(), row("n3"));
  set("n3", false);
  EXPECT_EQ(only(), kNoRow);
  expect_consistent("rare");
}

TEST_F(Topology, NodesOfOneValueAreOneDomain) {
  cluster.add_node(world.node("a").label("zone", "z1"));
  cluster.add_node(world.node("b").label("zone", "z2"));
  cluster.add_node(world.node("c").label("zone", "z1"));
  EXPECT_EQ(domain("zone", "a"), domain("zone", "c"));
  EXPECT_NE(domain("zone", "a"), domain("zone", "b"));
  EXPECT_EQ(value("zone", "b"), "z2");
}

TEST_F(Topology, AnAbsentKeyIsNoDomainAndAnEmptyValueIsOne) {
  cluster.add_node(world.node("without"));
  cluster.add_node(world.node("empty").label("zone", ""));
  EXPECT_EQ(domain("zone", "without"), kNoDomain);
  EXPECT_NE(domain("zone", "empty"), kNoDomain);
  EXPECT_EQ(value("zone", "empty"), "");
}

TEST_F(Topology, FollowsLabels) {
  cluster.add_node(world.node("a").label("zone", "z1"));
  cluster.add_node(world.node("b").label("zone", "z2"));
  column("zone");
  cluster.update_node(world.node("a").label("zone", "z2"));
  EXPECT_EQ(domain("zone", "a"), domain("zone", "b"));
  cluster.update_node(world.node("a"));
  EXPECT_EQ(domain("zone", "a"), kNoDomain);
  cluster.update_node(world.node("a").label("zone", "z3"));
  EXPECT_EQ(value("zone", "a"), "z3");
}

TEST_F(Topology, ANodeThatGoesLeavesItsDomainAndAReturningOneIsBack) {
  cluster.add_node(world.node("a").label("zone", "z1"));
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("a")));  // the row stays
  const NodeRow at = row("a");
  column("zone");
  ASSERT_TRUE(cluster.remove_node(world.symbol("a")));
  EXPECT_EQ(column("zone").domains[at], kNoDomain);
  cluster.add_node(world.node("a").label("zone", "z2"));
  EXPECT_EQ(value("zone", "a"), "z2");
}

TEST_F(Topology, ARowThatIsUsedAgainShowsItsNewNode) {
  cluster.add_node(world.node("a").label("zone", "z1"));
  const NodeRow at = row("a");
  column("zone");
  ASSERT_TRUE(cluster.remove_node(world.symbol("a")));
  cluster.add_node(world.node("b").label("zone", "z9"));
  ASSERT_EQ(row("b"), at);
  EXPECT_EQ(value("zone", "b"), "z9");
}

TEST_F(Topology, NumbersOfDomainsThatNobodyIsInAreUsedAgain) {
  for (int i = 0; i < 100; ++i) {
    cluster.add_node(world.node("a").label("zone", "z" + std::to_string(i)));
    expect_consistent("zone");
  }
  EXPECT_LE(column("zone").size, 4U);
}

TEST_F(Topology, ColumnsHoldTheirSymbolsAndGiveThemBack) {
  cluster.add_node(world.node("a").label("zone", "z1"));
  column("zone");
  ASSERT_TRUE(cluster.remove_node(world.symbol("a")));
  for (int i = 0; i < 10000; ++i) {
    cluster.add_node(world.node("b").label("zone", "y" + std::to_string(i)));
    column("zone");
    column("key" + std::to_string(i));
    cluster.begin_cycle();
  }
  const std::size_t before = cluster.symbols().size();
  for (int i = 0; i < 40000; ++i) cluster.begin_cycle();
  EXPECT_LT(cluster.symbols().size(), before - 9000);  // keys that nobody asked for
  expect_consistent("zone");
}

TEST_F(Topology, ChurnGivesWhatTheNodesSay) {
  Random random(7);
  int dense = 0, listed = 0;  // looks at the key that few nodes have
  for (int step = 0; step < 3000; ++step) {
    const std::string name = "n" + std::to_string(random.below(20));
    auto node = world.node(name);
    if (random.below(4) != 0) node.label("zone", "z" + std::to_string(random.below(5)));
    if (random.below(2) != 0) node.label("host", name);
    if (random.below(8) == 0) node.label("rare", "r" + std::to_string(random.below(2)));
    if (random.below(3) != 0)
      cluster.add_node(node);
    else
      (void)cluster.remove_node(world.symbol(name));
    if (random.below(5) == 0) (void)cluster.add_pod(world.pod("p" + std::to_string(step)).on(name));
    if (random.below(10) == 0) cluster.begin_cycle();
    if (random.below(3) != 0) continue;
    expect_consistent("zone");
    expect_consistent("host");
    expect_consistent("rare");
    (column("rare").domains.is_dense() ? dense : listed) += 1;
  }
  EXPECT_GT(dense, 100);
  EXPECT_GT(listed, 100);
}

TEST_F(Topology, AReaderThatFellBehindTheLogLooksAtEverything) {
  cluster.add_node(world.node("a").label("zone", "z1"));
  cluster.add_node(world.node("b").label("zone", "z1"));
  column("zone");
  cluster.update_node(world.node("b").label("zone", "z2"));
  for (int i = 0; i < 20000; ++i)
    cluster.update_node(world.node("a").label("other", std::to_string(i)));
  expect_consistent("zone");
  EXPECT_EQ(value("zone", "b"), "z2");
}

TEST_F(Topology, KeysThatNoNodeHasTakeNoColumn) {
  for (int i = 0; i < 100; ++i) cluster.add_node(world.node("n" + std::to_string(i)));
  for (int i = 0; i < 1000; ++i) {
    const TopologyColumn found = column("invented-" + std::to_string(i));
    ASSERT_EQ(found.size, 1U);
    ASSERT_EQ(found.nodes_with_key, 0U);
    ASSERT_EQ(found.domains[7], kNoDomain);
  }
  EXPECT_EQ(cluster.topology().size(), 0U);
}

TEST_F(Topology, OfAKeyThatFewNodesHaveOnlyTheirRowsAreKept) {
  const auto set = [&](int i, bool has_key) {
    auto node = world.node("n" + std::to_string(i));
    if (has_key) node.label("rack", "r" + std::to_string(i % 3));
    cluster.add_node(node);
  };
  for (int i = 0; i < 160; ++i) set(i, false);
  set(150, true);
  EXPECT_FALSE(column("rack").domains.is_dense());
  // In any order: they are found by row.
  for (const int i : {3, 77, 12, 64, 63}) set(i, true);
  EXPECT_FALSE(column("rack").domains.is_dense());
  EXPECT_EQ(value("rack", "n77"), "r2");
  EXPECT_EQ(domain("rack", "n3"), domain("rack", "n12"));
  EXPECT_EQ(domain("rack", "n13"), kNoDomain);
  expect_consistent("rack");
  for (int i = 0; i < 100; ++i) set(i, true);
  EXPECT_TRUE(column("rack").domains.is_dense());
  expect_consistent("rack");
  for (int i = 5; i < 100; ++i) set(i, false);
  EXPECT_FALSE(column("rack").domains.is_dense());
  EXPECT_EQ(column("rack").nodes_with_key, 6U);
  expect_consistent("rack");
}

TEST_F(Topology, AListOfRowsFollowsATableThatHasGivenRowsBack) {
  for (int i = 0; i < 200; ++i) {
    auto node = world.node("n" + std::to_string(i));
    if (i == 2 || i > 190) node.label("rack", "r" + std::to_string(i));
    cluster.add_node(node);
  }
  cluster.begin_cycle();
  EXPECT_FALSE(column("rack").domains.is_dense());
  EXPECT_EQ(column("rack").nodes_with_key, 10U);
  for (int i = 50; i < 200; ++i)
    ASSERT_TRUE(cluster.remove_node(cluster.symbols().find("n" + std::to_string(i))));
  cluster.begin_cycle();
  ASSERT_EQ(table.rows(), 50U);
  EXPECT_EQ(column("rack").nodes_with_key, 1U);
  expect_consistent("rack");
}

TEST_F(Topology, AKeyThatComesAndGoesIsAnotherColumnEachTime) {
  cluster.add_node(world.node("n"));
  const std::uint64_t without = column("zone").version;
  cluster.add_node(world.node("n").label("zone", "a"));
  const std::uint64_t with = column("zone").version;
  EXPECT_NE(with, without);
  EXPECT_EQ(value("zone", "n"), "a");
  cluster.add_node(world.node("n"));
  EXPECT_EQ(domain("zone", "n"), kNoDomain);
  cluster.add_node(world.node("n").label("zone", "b"));
  EXPECT_NE(column("zone").version, with);
  EXPECT_EQ(value("zone", "n"), "b");
}

TEST_F(Topology, KnowsWhichValuesNodesHave) {
  cluster.add_node(world.node("n").label("zone", "a"));
  const auto has = [this](const char* key, const char* text) {
    return cluster.topology().any_node_has(world.symbol(key), world.symbol(text));
  };
  EXPECT_TRUE(has("zone", "a"));
  EXPECT_FALSE(has("zone", "b"));
  EXPECT_FALSE(has("region", "a"));
  cluster.add_node(world.node("n").label("zone", "b"));
  EXPECT_FALSE(has("zone", "a"));
  EXPECT_TRUE(has("zone", "b"));
}

TEST_F(Topology, ColumnsFollowATableThatHasGivenRowsBack) {
  for (int i = 0; i < 200; ++i)
    cluster.add_node(world.node("n" + std::to_string(i)).label("zone", std::to_string(i % 30)));
  cluster.begin_cycle();
  expect_consistent("zone");
  for (int i = 5; i < 200; ++i)
    ASSERT_TRUE(cluster.remove_node(cluster.symbols().find("n" + std::to_string(i))));
  cluster.begin_cycle();
  ASSERT_EQ(table.rows(), 5U);
  expect_consistent("zone");
  EXPECT_EQ(column("zone").nodes_with_key, 5U);
}

}  // namespace
}  // namespace berth
