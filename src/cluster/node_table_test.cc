#include "berth/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "api/names.h"
#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "cluster/change_log.h"

namespace berth {
namespace {

struct Table : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  const NodeTable& table = cluster.nodes();

  NodeRow add(NodeBuilder& node) {
    const Ref<const Node> built = node;
    cluster.update_node(built);
    return table.find(built->symbol);
  }
  NodeRow add(NodeBuilder&& node) { return add(node); }
  NodeRow row(const std::string& node) { return table.find(cluster.symbols().find(node)); }
  void remove(const std::string& node) {
    ASSERT_TRUE(cluster.remove_node(cluster.symbols().find(node)));
  }
  std::vector<std::string> order() {
    std::vector<std::string> names;
    for (const NodeRow at : table.order()) names.emplace_back(table.name_text(at));
    return names;
  }
  std::vector<std::string> next_order() {
    cluster.begin_cycle();
    return order();
  }
};
using Columns = Table;
using Order = Table;
using Log = Table;

// ---- columns ----

TEST_F(Columns, SayWhatNodesHaveAndPodsTake) {
  const NodeRow n = add(world.node("n").allocatable(
      {{"cpu", "2500m"}, {"memory", "1Gi"}, {"ephemeral-storage", "10k"}, {"pods", "7"}}));
  ASSERT_TRUE(cluster.add_pod(
      world.pod("p").cpu("250m").memory("1M").request("ephemeral-storage", "2k").on("n")));
  ASSERT_TRUE(cluster.add_pod(world.pod("q").on("n")));
  EXPECT_EQ(table.allocatable_milli_cpu()[n], 2500);
  EXPECT_EQ(table.allocatable_memory()[n], 1 << 30);
  EXPECT_EQ(table.allocatable_ephemeral_storage()[n], 10000);
  EXPECT_EQ(table.allocatable_pods()[n], 7);
  EXPECT_EQ(table.requested_milli_cpu()[n], 250);
  EXPECT_EQ(table.requested_memory()[n], 1000000);
  EXPECT_EQ(table.requested_ephemeral_storage()[n], 2000);
  EXPECT_EQ(table.nonzero_requested_milli_cpu()[n], 250 + kDefaultMilliCpuRequest);
  EXPECT_EQ(table.nonzero_requested_memory()[n], 1000000 + kDefaultMemoryRequest);
  EXPECT_EQ(table.pod_counts()[n], 2);
  EXPECT_EQ(table.node(n).name, "n");
  EXPECT_EQ(table.node_ref(n).get(), &table.node(n));
}

TEST_F(Columns, HaveTheLengthOfTheTable) {
  add(world.node("a").allocatable({{"example.com/gpu", "2"}}));
  add(world.node("b"));
  add(world.node("c"));
  EXPECT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.allocatable_milli_cpu().size(), 3U);
  EXPECT_EQ(table.pod_counts().size(), 3U);
  EXPECT_EQ(table.scalar_columns(world.symbol("example.com/gpu")).allocatable.size(), 3U);
}

TEST_F(Columns, OfScalarsAreThereWhileSomebodyNamesThem) {
  const Symbol gpu = world.symbol("example.com/gpu");
  add(world.node("a"));
  EXPECT_THAT(table.scalar_columns(gpu).allocatable, IsEmpty());
  EXPECT_THAT(table.scalar_columns(gpu).requested, IsEmpty());
  add(world.node("b").allocatable({{"example.com/gpu", "2"}}));
  EXPECT_THAT(table.scalar_columns(gpu).allocatable, ElementsAre(0, 2));
  EXPECT_THAT(table.scalar_columns(gpu).requested, ElementsAre(0, 0));
  const Ref<const Pod> pod = world.pod("p").request("example.com/gpu", "1").on("b");
  ASSERT_TRUE(cluster.add_pod(pod));
  EXPECT_THAT(table.scalar_columns(gpu).requested, ElementsAre(0, 1));
  ASSERT_TRUE(cluster.remove_pod(*pod));
  EXPECT_THAT(table.scalar_columns(gpu).requested, ElementsAre(0, 0));
  add(world.node("b"));
  EXPECT_THAT(table.scalar_columns(gpu).allocatable, IsEmpty()) << "the device is gone";
}

TEST_F(Columns, WrapAroundAndBack) {
  const NodeRow n = add(world.node("n"));
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  std::vector<Ref<const Pod>> pods;
  for (int i = 0; i < 3; ++i) {
    pods.push_back(world.pod("p" + std::to_string(i)).memory(most).on("n"));
    ASSERT_TRUE(cluster.add_pod(pods.back()));
  }
  EXPECT_EQ(table.requested_memory()[n], std::numeric_limits<std::int64_t>::max() - 2);
  for (const Ref<const Pod>& pod : pods) ASSERT_TRUE(cluster.remove_pod(*pod));
  EXPECT_EQ(table.requested_memory()[n], 0);
}

TEST_F(Columns, MarkCordonedAndTaintedNodes) {
  const NodeRow a = add(world.node("a").cordoned());
  const NodeRow b = add(world.node("b").taint("k", "PreferNoSchedule"));
  EXPECT_TRUE(table.cordoned().contains(a) && !table.cordoned().contains(b));
  EXPECT_TRUE(!table.tainted().contains(a) && table.tainted().contains(b));
  add(world.node("a"));
  add(world.node("b"));
  EXPECT_TRUE(table.cordoned().empty());
  EXPECT_TRUE(table.tainted().empty());
  add(world.node("a").cordoned());
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("a")));
  remove("a");
  EXPECT_TRUE(table.cordoned().empty()) << "a ghost is in no set";
}

TEST_F(Columns, MarkNodesWhosePodsHaveAffinity) {
  const auto with = [this](const std::string& name, bool required) {
    berth::testing::PodBuilder pod = world.pod(name);
    Affinity affinity;
    affinity.pod_anti.emplace();
    if (required) affinity.pod_anti->required.emplace_back();
    pod.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
    return pod.on("n").build();
  };
  const Ref<const Pod> stanza = with("stanza", false), required = with("required", true);
  ASSERT_TRUE(cluster.add_pod(required));
  EXPECT_TRUE(table.with_affinity_pods().empty()) << "it is on a ghost";
  const NodeRow n = add(world.node("n"));
  EXPECT_TRUE(table.with_affinity_pods().contains(n));
  EXPECT_TRUE(table.with_required_anti_affinity_pods().contains(n));
  ASSERT_TRUE(cluster.add_pod(stanza));
  ASSERT_TRUE(cluster.remove_pod(*required));
  EXPECT_TRUE(table.with_affinity_pods().contains(n)) << "a stanza without terms counts";
  EXPECT_FALSE(table.with_required_anti_affinity_pods().contains(n));
  ASSERT_TRUE(cluster.remove_pod(*stanza));
  EXPECT_TRUE(table.with_affinity_pods().empty());
}

TEST_F(Columns, KeepHostPortsAsASet) {
  const NodeRow n = add(world.node("n"));
  const Ref<const Pod> a = world.pod("a").host_port(80).on("n");
  const Ref<const Pod> b = world.pod("b").host_port(80).host_port(53, "UDP", "10.0.0.1").on("n");
  ASSERT_TRUE(cluster.add_pod(a));
  ASSERT_TRUE(cluster.add_pod(b));
  const HostPort http{80, names::kTcp, names::kAnyAddress};
  const HostPort dns{53, cluster.symbols().find("UDP"), cluster.symbols().find("10.0.0.1")};
  EXPECT_THAT(table.host_ports(n), ElementsAre(dns, http));
  ASSERT_TRUE(cluster.remove_pod(*a));
  EXPECT_THAT(table.host_ports(n), ElementsAre(dns)) << "users are not counted";
  ASSERT_TRUE(cluster.update_pod(b));
  EXPECT_THAT(table.host_ports(n), ElementsAre(dns, http)) << "an update takes them all again";
  ASSERT_TRUE(cluster.remove_pod(*b));
  EXPECT_THAT(table.host_ports(n), IsEmpty());
}

TEST_F(Columns, CountHostPortsOfSidecarsButNotOfInitContainers) {
  berth::testing::PodBuilder pod = world.pod("p");
  pod.init_container({}).sidecar({}).host_port(3);
  pod.spec().init_containers[0].ports.push_back({1, 1, {}, {}});
  pod.spec().init_containers[1].ports.push_back({2, 2, {}, {}});
  pod.spec().containers[0].ports.push_back({4, 0, {}, {}});
  const NodeRow n = add(world.node("n"));
  ASSERT_TRUE(cluster.add_pod(pod.on("n")));
  EXPECT_THAT(table.host_ports(n), ElementsAre(HostPort{2, names::kTcp, names::kAnyAddress},
                                               HostPort{3, names::kTcp, names::kAnyAddress}));
}

TEST_F(Columns, CountTheUsersOfClaims) {
  const auto with_claim = [this](const std::string& name, VolumeSource source) {
    berth::testing::PodBuilder pod = world.pod(name);
    Volume volume;
    volume.name = pod.symbol("v");
    volume.source = source;
    volume.source_name = pod.symbol("data");
    pod.spec().volumes.push_back(std::move(volume));
    return pod.on("n").build();
  };
  const Symbol ns = names::kDefaultNamespace, data = world.symbol("data");
  const Ref<const Pod> a = with_claim("a", VolumeSource::kPersistentVolumeClaim);
  const Ref<const Pod> b = with_claim("b", VolumeSource::kPersistentVolumeClaim);
  ASSERT_TRUE(cluster.add_pod(a));
  EXPECT_FALSE(table.is_claim_used(ns, data)) << "it is on a ghost";
  const NodeRow n = add(world.node("n"));
  ASSERT_TRUE(cluster.add_pod(b));
  ASSERT_TRUE(cluster.add_pod(with_claim("c", VolumeSource::kEphemeral)));
  EXPECT_TRUE(table.is_claim_used(ns, data));
  EXPECT_EQ(table.claim_users(n, ns, data), 2);
  ASSERT_TRUE(cluster.remove_pod(*a));
  EXPECT_EQ(table.claim_users(n, ns, data), 1);
  ASSERT_TRUE(cluster.remove_pod(*b));
  EXPECT_FALSE(table.is_claim_used(ns, data));
  EXPECT_EQ(table.claim_users(n, ns, data), 0);
}

// ---- rows and order ----

TEST_F(Order, RowsStayWhereTheyAre) {
  const NodeRow a = add(world.node("a")), b = add(world.node("b")), c = add(world.node("c"));
  remove("b");
  EXPECT_EQ(row("a"), a);
  EXPECT_EQ(row("c"), c);
  EXPECT_EQ(add(world.node("d")), b);
  EXPECT_EQ(row("b"), kNoRow);
  EXPECT_EQ(table.name_text(b), "d");
}

TEST_F(Order, ZonesTakeTurns) {
  add(world.node("a1").zone("a"));
  add(world.node("a2").zone("a"));
  add(world.node("b1").zone("b"));
  add(world.node("b2").zone("b"));
  EXPECT_THAT(order(), IsEmpty()) << "not before a cycle begins";
  EXPECT_THAT(next_order(), ElementsAre("a1", "b1", "a2", "b2"));
}

TEST_F(Order, TheSameZoneInTwoRegionsIsTwoZones) {
  add(world.node("n1").region("x").zone("a"));
  add(world.node("n2").region("x").zone("a"));
  add(world.node("n3").region("y").zone("a"));
  EXPECT_THAT(next_order(), ElementsAre("n1", "n3", "n2"));
}

TEST_F(Order, FollowsAZoneChangeOnlyWhenNodesComeOrGo) {
  add(world.node("a1").zone("a"));
  add(world.node("a2").zone("a"));
  add(world.node("b1").zone("b"));
  EXPECT_THAT(next_order(), ElementsAre("a1", "b1", "a2"));
  add(world.node("a1").zone("b"));
  EXPECT_THAT(next_order(), ElementsAre("a1", "b1", "a2"));
  add(world.node("c1").zone("c"));
  EXPECT_THAT(next_order(), ElementsAre("a2", "b1", "c1", "a1"));
}

TEST_F(Order, ANodeThatWentIsNoLongerAmongTheNodes) {
  add(world.node("a"));
  const NodeRow b = add(world.node("b"));
  cluster.begin_cycle();
  remove("b");
  EXPECT_EQ(table.order().size(), 2U);
  EXPECT_FALSE(table.nodes().contains(b));
  EXPECT_THAT(next_order(), ElementsAre("a"));
}

TEST_F(Order, ANodeThatWentAndCameBackBetweenCyclesKeepsItsPlace) {
  for (const char* name : {"a", "b", "c", "d"}) add(world.node(name));
  cluster.begin_cycle();
  remove("a");
  remove("b");
  add(world.node("a"));
  add(world.node("b"));
  EXPECT_THAT(next_order(), ElementsAre("a", "b", "c", "d"));
  remove("a");
  EXPECT_THAT(next_order(), ElementsAre("c", "d", "b")) << "now the tree is asked";
  add(world.node("a"));
  EXPECT_THAT(next_order(), ElementsAre("c", "d", "b", "a"));
}

TEST_F(Order, ANodeThatCameAndWentBetweenCyclesLeavesNoTrace) {
  add(world.node("a"));
  cluster.begin_cycle();
  remove("a");
  add(world.node("b"));
  remove("b");
  EXPECT_THAT(next_order(), IsEmpty());
  add(world.node("a"));
  EXPECT_THAT(next_order(), ElementsAre("a"));
}

// ---- generations and the log ----

TEST_F(Log, GenerationsGrowOverTheWholeTable) {
  const NodeRow a = add(world.node("a")), b = add(world.node("b"));
  const std::uint64_t first = table.generation(b);
  EXPECT_GT(first, table.generation(a));
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("a")));
  EXPECT_GT(table.generation(a), first);
  add(world.node("b"));
  EXPECT_GT(table.generation(b), table.generation(a)) << "an update that changes nothing counts";
  const std::uint64_t before = table.generation(b);
  remove("b");
  EXPECT_GT(table.generation(add(world.node("b"))), before);
}

TEST_F(Log, SaysWhatChangedInANode) {
  const NodeRow n = add(world.node("n"));
  const auto change = [this, n](const Ref<const Node>& node) -> int {
    const std::uint64_t before = table.log_end();
    cluster.update_node(node);
    const std::span<const ChangedRow> changes = *table.changes_since(before);
    if (changes.empty()) return 0;
    EXPECT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].row, n);
    return changes[0].changes;
  };
  const auto bit = [](RowChange c) { return static_cast<int>(c); };
  NodeBuilder node = world.node("n");
  EXPECT_EQ(change(node), 0) << "a heartbeat";
  EXPECT_EQ(change(node.version("2")), 0);
  EXPECT_EQ(change(node.cpu("9")), bit(RowChange::kAllocatable));
  EXPECT_EQ(change(node.allocatable({{"example.com/gpu", "1"}})), bit(RowChange::kAllocatable));
  EXPECT_EQ(change(node.label("k", "v")), bit(RowChange::kLabels));
  EXPECT_EQ(change(node.taint("k", "NoSchedule")), bit(RowChange::kTaints));
  EXPECT_EQ(change(node.cordoned()), bit(RowChange::kTaints));
  EXPECT_EQ(change(node.image("x:1", 5)), bit(RowChange::kOther));
  EXPECT_EQ(change(node.condition("Ready", "True")), bit(RowChange::kOther));
  EXPECT_EQ(change(node.annotation("k", "v")), bit(RowChange::kOther));
  EXPECT_EQ(change(node.label("l", "v").cordoned(false)),
            bit(RowChange::kLabels) | bit(RowChange::kTaints));
}

TEST_F(Log, SaysWhichRowsChangedInOrder) {
  const std::uint64_t start = table.log_end();
  const NodeRow a = add(world.node("a")), b = add(world.node("b"));
  ASSERT_TRUE(cluster.assume(world.pod("p").build(), a));
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("b")));
  ASSERT_TRUE(cluster.update_pod(world.pod("p").on("b")));
  remove("a");
  std::vector<std::pair<NodeRow, int>> log;
  const std::span<const ChangedRow> changes = *table.changes_since(start);
  for (const ChangedRow& change : changes) log.emplace_back(change.row, change.changes);
  EXPECT_THAT(log, ElementsAre(std::pair(a, 63), std::pair(b, 63), std::pair(a, 1), std::pair(a, 1),
                               std::pair(b, 1), std::pair(b, 1), std::pair(a, 32)));
  EXPECT_THAT(*table.changes_since(table.log_end()), IsEmpty());
}

TEST_F(Log, IsSilentAboutGhosts) {
  const std::uint64_t start = table.log_end();
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("a")));
  EXPECT_EQ(table.log_end(), start);
  add(world.node("a"));
  EXPECT_EQ(table.changes_since(start)->size(), 1U);
}

TEST_F(Log, DoesNotReachBackForEver) {
  const NodeRow n = add(world.node("n"));
  const Ref<const Pod> pod = world.pod("p").on("n");
  std::uint64_t changes = table.log_end();
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(cluster.add_pod(pod));
    ASSERT_TRUE(cluster.remove_pod(*pod));
    changes += 2;
  }
  EXPECT_EQ(table.log_end(), changes);
  EXPECT_FALSE(table.changes_since(0));
  EXPECT_FALSE(table.changes_since(table.log_end() + 1)) << "a position that was never given out";
  const auto recent = table.changes_since(table.log_end() - 4096);
  ASSERT_TRUE(recent);
  EXPECT_EQ(recent->size(), 4096U);
  EXPECT_EQ(recent->back().row, n);
}

TEST(ChangeLog, KeepsFourEntriesPerRowAtLeast) {
  ChangeLog log;
  constexpr std::size_t kRows = 3000;
  for (NodeRow i = 0; i < std::size_t{10} * 4 * kRows; ++i) {
    log.append({i, 1}, kRows);
    if (log.end() < 4 * kRows) continue;
    const auto kept = log.since(log.end() - 4 * kRows);
    ASSERT_TRUE(kept);
    ASSERT_EQ(kept->front().row, i + 1 - 4 * kRows);
  }
  EXPECT_FALSE(log.since(log.end() - std::size_t{2} * 4 * kRows - 1));
}

}  // namespace
}  // namespace berth
