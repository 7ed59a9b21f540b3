#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/random.h"
#include "berth/views.h"
#include "cluster/testing/table_dump.h"
#include "cluster/trial.h"

namespace berth {
namespace {

struct Trials : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  const NodeTable& table = cluster.nodes();

  NodeRow add(const std::string& node) {
    cluster.add_node(world.node(node).image("x:1", 7));
    return table.find(cluster.symbols().find(node));
  }
  // Pods that touch everything a row keeps count of.
  Ref<const Pod> pod(const std::string& name, std::uint64_t variant, const std::string& node = "") {
    PodBuilder builder = world.pod(name);
    builder.cpu(std::to_string(variant)).memory("1Mi");
    if (variant % 2 == 1) builder.request("example.com/gpu", "1");
    if (variant % 3 == 1) builder.host_port(80 + static_cast<std::int32_t>(variant % 2));
    if (variant % 4 == 1) {
      Affinity affinity;
      affinity.pod_anti.emplace().required.emplace_back();
      builder.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
    }
    if (variant % 5 == 1) {
      Volume volume;
      volume.name = builder.symbol("v");
      volume.source = VolumeSource::kPersistentVolumeClaim;
      volume.source_name = builder.symbol("data");
      builder.spec().volumes.push_back(std::move(volume));
    }
    if (!node.empty()) builder.on(node);
    return builder;
  }
};

TEST_F(Trials, ShowWhatWouldBe) {
  const NodeRow n = add("n");
  const Ref<const Pod> there = pod("there", 2, "n"), more = pod("more", 3);
  ASSERT_TRUE(cluster.add_pod(there));
  Trial trial(cluster);
  trial.add(more, n);
  EXPECT_EQ(table.requested_milli_cpu()[n], 5000);
  EXPECT_EQ(table.pod_counts()[n], 2);
  EXPECT_EQ(table.pods(n).size(), 2U);
  trial.remove(there, n);
  EXPECT_EQ(table.requested_milli_cpu()[n], 3000);
  ASSERT_EQ(table.pods(n).size(), 1U);
  EXPECT_EQ(table.pods(n)[0], more);
}

TEST_F(Trials, LeaveWhoIsPlacedAlone) {
  const NodeRow n = add("n");
  const Ref<const Pod> there = pod("there", 1, "n"), more = pod("more", 1);
  ASSERT_TRUE(cluster.add_pod(there));
  const std::uint64_t generation = table.generation(n), log = table.log_end();
  Trial trial(cluster);
  trial.remove(there, n);
  trial.add(more, n);
  EXPECT_EQ(cluster.placed(there->uid()), there);
  EXPECT_EQ(cluster.row_of(there->uid()), n);
  EXPECT_EQ(cluster.placed(more->uid()), nullptr);
  EXPECT_EQ(cluster.placed_count(), 1U);
  EXPECT_EQ(table.generation(n), generation);
  EXPECT_EQ(table.log_end(), log);
}

TEST_F(Trials, PutEverythingBackAtTheEndOfTheirScope) {
  const NodeRow n = add("n");
  std::vector<Ref<const Pod>> pods;
  for (std::uint64_t i = 0; i < 5; ++i) {
    pods.push_back(pod("p" + std::to_string(i), i, "n"));
    ASSERT_TRUE(cluster.add_pod(pods.back()));
  }
  const std::string before = dump(table);
  {
    Trial trial(cluster);
    for (const Ref<const Pod>& p : pods) trial.remove(p, n);
    EXPECT_NE(dump(table), before);
  }
  EXPECT_EQ(dump(table), before) << "also the order of the pods";
}

TEST_F(Trials, GoBackToAnEarlierCount) {
  const NodeRow n = add("n");
  Trial trial(cluster);
  trial.add(pod("a", 1), n);
  const std::string with_a = dump(table);
  const std::size_t edits = trial.edits();
  EXPECT_EQ(edits, 1U);
  trial.add(pod("b", 2), n);
  trial.remove(pod("a", 1), n);
  EXPECT_EQ(trial.edits(), 3U);
  trial.undo_to(edits);
  EXPECT_EQ(dump(table), with_a);
  EXPECT_EQ(trial.edits(), 1U);
}

TEST_F(Trials, RemoveByUidWhicheverVersionIsAsked) {
  const NodeRow n = add("n");
  ASSERT_TRUE(cluster.add_pod(pod("p", 4, "n")));
  const std::string before = dump(table);
  {
    Trial trial(cluster);
    trial.remove(pod("p", 2, "n"), n);
    EXPECT_EQ(table.requested_milli_cpu()[n], 0) << "what is there goes";
  }
  EXPECT_EQ(dump(table), before);
}

TEST_F(Trials, RestoreHostPortsThatTwoPodsShare) {
  const NodeRow n = add("n");
  const Ref<const Pod> a = world.pod("a").host_port(80).on("n");
  const Ref<const Pod> b = world.pod("b").host_port(80).on("n");
  ASSERT_TRUE(cluster.add_pod(a));
  ASSERT_TRUE(cluster.add_pod(b));
  ASSERT_TRUE(cluster.remove_pod(*a));
  const std::string before = dump(table);
  EXPECT_TRUE(table.host_ports(n).empty());
  {
    Trial trial(cluster);
    trial.remove(b, n);
    trial.add(a, n);
    EXPECT_EQ(table.host_ports(n).size(), 1U);
  }
  EXPECT_EQ(dump(table), before);
}

TEST_F(Trials, WorkOnGhosts) {
  ASSERT_TRUE(cluster.add_pod(pod("p", 1, "n")));
  const NodeRow ghost = table.find_ghost(cluster.symbols().find("n"));
  const std::string before = dump(table);
  {
    Trial trial(cluster);
    trial.remove(pod("p", 1, "n"), ghost);
    EXPECT_TRUE(table.pods(ghost).empty());
  }
  EXPECT_EQ(table.pods(ghost).size(), 1U);
  EXPECT_EQ(dump(table), before);
}

TEST_F(Trials, UndoAnyEditsToTheLastBit) {
  constexpr NodeRow kNodes = 4;
  for (NodeRow i = 0; i < kNodes; ++i) add("n" + std::to_string(i));
  for (std::uint64_t i = 0; i < 24; ++i)
    ASSERT_TRUE(cluster.add_pod(pod("p" + std::to_string(i), i, "n" + std::to_string(i % kNodes))));
  cluster.begin_cycle();
  const std::string before = dump(table);
  Random random(11);
  const auto edit = [&](Trial& trial) {
    const auto row = static_cast<NodeRow>(random.below(kNodes));
    const auto pods = table.pods(row);
    if (pods.empty() || random.chance(0.4)) {
      const std::uint64_t number = 100 + random.below(1000);
      trial.add(pod("q" + std::to_string(number), number), row);
    } else {
      trial.remove(pods[random.below(pods.size())], row);
    }
  };
  for (int round = 0; round < 100; ++round) {
    Trial outer(cluster);
    for (std::uint64_t i = random.below(20); i > 0; --i) edit(outer);
    const std::string halfway = dump(table);
    {
      Trial inner(cluster);
      for (std::uint64_t i = random.below(20); i > 0; --i) edit(inner);
      inner.undo_to(inner.edits() / 2);
      for (std::uint64_t i = random.below(5); i > 0; --i) edit(inner);
    }
    ASSERT_EQ(dump(table), halfway);
    outer.undo_to(0);
    ASSERT_EQ(dump(table), before);
    ASSERT_EQ(inconsistencies(cluster), "");
  }
  for (std::uint64_t i = 0; i < 24; ++i) {
    const Ref<const Pod> gone = pod("p" + std::to_string(i), i, "n" + std::to_string(i % kNodes));
    ASSERT_TRUE(cluster.remove_pod(*gone)) << "everybody is still found where it was";
  }
  EXPECT_EQ(cluster.placed_count(), 0U);
}

using TrialsDeathTest = Trials;

TEST_F(TrialsDeathTest, TheClusterDoesNotChangeUnderATrial) {
  const NodeRow n = add("n");
  EXPECT_DEATH(
      {
        Trial trial(cluster);
        trial.add(pod("p", 1), n);
        (void)cluster.add_pod(pod("q", 1, "n"));
      },
      "trial_edits");
}

TEST_F(TrialsDeathTest, AnOuterTrialCannotBeUndoneBeforeAnInnerOne) {
  const NodeRow n = add("n");
  EXPECT_DEATH(
      {
        Trial outer(cluster);
        Trial inner(cluster);
        outer.add(pod("p", 1), n);
        inner.add(pod("q", 1), n);
        outer.undo_to(0);
      },
      "depth");
}

}  // namespace
}  // namespace berth
