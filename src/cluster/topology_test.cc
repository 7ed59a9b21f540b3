#include "cluster/topology.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/random.h"
#include "cluster/cluster.h"

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
    return column(key).by_row[row(node)];
  }
  std::string value(const std::string& key, const std::string& node) {
    const TopologyColumn found = column(key);
    return std::string(cluster.symbols().text(found.values[found.by_row[row(node)]]));
  }

  // What the nodes themselves say, compared with the column: equal values are one domain, others
  // differ, numbers are in range, values are right.
  void expect_consistent(const std::string& key) {
    const Symbol symbol = world.symbol(key);
    const TopologyColumn found = cluster.topology().column(symbol);
    ASSERT_EQ(found.by_row.size(), table.rows());
    ASSERT_EQ(found.values.size(), found.size);
    std::map<Symbol, Domain> seen;
    for (NodeRow at = 0; at < table.rows(); ++at) {
      const Symbol* label = table.has_node(at) ? table.node(at).labels.find(symbol) : nullptr;
      const Domain is = found.by_row[at];
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
  EXPECT_EQ(column("zone").by_row[at], kNoDomain);
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
  for (int step = 0; step < 3000; ++step) {
    const std::string name = "n" + std::to_string(random.below(20));
    auto node = world.node(name);
    if (random.below(4) != 0) node.label("zone", "z" + std::to_string(random.below(5)));
    if (random.below(2) != 0) node.label("host", name);
    if (random.below(3) != 0)
      cluster.add_node(node);
    else
      (void)cluster.remove_node(world.symbol(name));
    if (random.below(5) == 0) (void)cluster.add_pod(world.pod("p" + std::to_string(step)).on(name));
    if (random.below(10) == 0) cluster.begin_cycle();
    if (random.below(3) != 0) continue;
    expect_consistent("zone");
    expect_consistent("host");
  }
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

}  // namespace
}  // namespace berth
