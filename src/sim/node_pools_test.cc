#include "sim/node_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"

namespace berth::sim {
namespace {

struct NodePoolsTest : ::testing::Test {
  Interner interner;
  NodePool pool{.name = "big",
                .count = 3,
                .zones = {},
                .node_json = R"({"metadata": {"labels": {"pool": "big"}},
                                 "status": {"capacity": {"cpu": "8", "pods": "20"}}})"};

  std::vector<Ref<const Node>> made() {
    Result<std::vector<Ref<const Node>>> nodes =
        make_nodes(pool, interner, VirtualLoop::kDefaultStart);
    EXPECT_TRUE(nodes.has_value()) << (nodes ? "" : nodes.error().message);
    return nodes.value_or(std::vector<Ref<const Node>>());
  }
  std::string label(const Node& node, std::string_view key) {
    for (const Label& label : node.labels)
      if (node.symbols.text(label.key) == key) return std::string(node.symbols.text(label.value));
    return "none";
  }
};

TEST_F(NodePoolsTest, NodesAreNumberedAndHaveAHostname) {
  std::vector<std::string> names, hostnames, uids;
  for (const Ref<const Node>& node : made()) {
    names.push_back(node->name);
    hostnames.push_back(label(*node, "kubernetes.io/hostname"));
    uids.push_back(node->uid);
    EXPECT_EQ(node->symbols.text(node->symbol), node->name);
    EXPECT_EQ(label(*node, "pool"), "big");
  }
  EXPECT_THAT(names, ElementsAre("big-1", "big-2", "big-3"));
  EXPECT_EQ(hostnames, names);
  std::ranges::sort(uids);
  EXPECT_EQ(std::ranges::adjacent_find(uids), uids.end());
}

TEST_F(NodePoolsTest, WhatTheyHaveIsWhatIsAllocatable) {
  for (const Ref<const Node>& node : made()) {
    EXPECT_EQ(node->allocatable_resources.milli_cpu, 8000);
    EXPECT_EQ(node->allocatable_resources.pods, 20);
  }
}

TEST_F(NodePoolsTest, ZonesAreTakenInTurn) {
  pool.zones = {"a", "b"};
  std::vector<std::string> zones;
  for (const Ref<const Node>& node : made())
    zones.push_back(label(*node, "topology.kubernetes.io/zone"));
  EXPECT_THAT(zones, ElementsAre("a", "b", "a"));
}

TEST_F(NodePoolsTest, WithoutZonesThereIsNoLabel) {
  EXPECT_EQ(label(*made().front(), "topology.kubernetes.io/zone"), "none");
}

TEST_F(NodePoolsTest, APoolMayBeEmpty) {
  pool.count = 0;
  EXPECT_THAT(made(), IsEmpty());
}

TEST_F(NodePoolsTest, MistakesNameThePoolAndTheField) {
  pool.node_json = R"({"status": {"capacity": {"cpu": "many"}}})";
  const auto nodes = make_nodes(pool, interner, VirtualLoop::kDefaultStart);
  ASSERT_FALSE(nodes.has_value());
  EXPECT_THAT(nodes.error().message, StartsWith("node pool big: node.status.capacity.cpu: "));
}

}  // namespace
}  // namespace berth::sim
