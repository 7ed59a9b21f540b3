#include "controllers/orphaned_pods.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"

namespace berth::controllers {
namespace {

struct NodelessWorld final : OrphanedPodWorld {
  explicit NodelessWorld(PodIndex& index) : pods(index) {}
  bool has_node(const std::string&) const override { return node_is_there; }
  void remove_orphan(const PodFacts& pod) override {
    ++attempts;
    if (!refuses) pods.remove(pod.key());
  }

  PodIndex& pods;
  bool node_is_there = false;
  bool refuses = false;
  int attempts = 0;
};

struct OrphanedPodsTest : ::testing::Test {
  void put(const std::string& name, PodPhase phase = PodPhase::kPending) {
    PodFacts pod;
    pod.namespace_name = "default";
    pod.name = name;
    pod.node = "n1";
    pod.phase = phase;
    pods.put(pod);
  }
  void pass(Duration time) { loop.run_until(loop.now() + time); }

  VirtualLoop loop;
  PodIndex pods;
  NodelessWorld world{pods};
  OrphanedPods orphans{loop, pods, world};
};

TEST_F(OrphanedPodsTest, ANodeHasOneTimerHoweverOftenItsPodsChange) {
  world.refuses = true;
  put("p");
  put("p", PodPhase::kRunning);
  put("p", PodPhase::kFailed);
  pass(40s);
  EXPECT_EQ(world.attempts, 1);
  world.refuses = false;
  pass(40s);
  EXPECT_EQ(world.attempts, 2) << "what is left is tried again";
  EXPECT_TRUE(pods.on_node("n1").empty());
}

TEST_F(OrphanedPodsTest, PodsThatAreBoundLaterGoToo) {
  put("early");
  pass(30s);
  put("late");
  pass(10s);
  EXPECT_EQ(world.attempts, 2) << "with the others";
  put("last");
  pass(39s);
  EXPECT_EQ(world.attempts, 2);
  pass(1s);
  EXPECT_EQ(world.attempts, 3);
}

TEST_F(OrphanedPodsTest, ANodeThatComesBackKeepsItsPods) {
  put("p");
  pass(20s);
  world.node_is_there = true;
  orphans.node_changed("n1");
  pass(5s);
  world.node_is_there = false;
  orphans.node_changed("n1");
  pass(39s);
  EXPECT_EQ(world.attempts, 0) << "the time begins when it goes again";
  pass(1s);
  EXPECT_EQ(world.attempts, 1);
}

}  // namespace
}  // namespace berth::controllers
