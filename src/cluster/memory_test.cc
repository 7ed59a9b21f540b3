// How much memory a bound pod takes, everything included. A program of its own, because every
// allocation is counted.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/allocations.h"
#include "berth/interner.h"
#include "berth/views.h"

namespace berth {
namespace {

constexpr std::size_t kNodes = 200;

// Pods of one workload, named and numbered as a ReplicaSet's are.
struct Workload {
  testing::World world;
  Ref<const Pod> sample = world.pod("sample")
                              .cpu("250m")
                              .memory("512Mi")
                              .label("app", "frontend")
                              .label("pod-template-hash", "7d9f8b6c5d")
                              .controlled_by("apps/v1", "ReplicaSet", "frontend-7d9f8b6c5d");

  Ref<const Pod> pod(std::size_t number) {
    PodDraft draft;
    draft.name = fmt::format("frontend-7d9f8b6c5d-{:05x}", number);
    draft.uid = fmt::format("0b9d3c6e-5a1f-4c7e-9d2b-{:012x}", number);
    draft.meta = sample->meta_ref();
    draft.spec = sample->spec_ref();
    draft.node_name = fmt::format("node-{}", number % kNodes);
    draft.resource_version = fmt::format("{}", 1000000 + number);
    draft.generation = 1;
    draft.phase = PodPhase::kRunning;
    draft.scheduled_condition = true;
    draft.creation_time = draft.start_time = WallTime{std::chrono::hours(1)};
    return make_pod(std::move(draft));
  }
};

TEST(Memory, ABoundPodTakesAtMost250Bytes) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  Workload workload;
  Cluster cluster(workload.world.interner.symbols());
  for (std::size_t i = 0; i < kNodes; ++i)
    cluster.add_node(workload.world.node(fmt::format("node-{}", i)));
  cluster.begin_cycle();

  // Also just after the indices have doubled, when they are at their emptiest.
  const std::size_t before = testing::live_bytes();
  const auto each = [before](std::size_t pods) { return (testing::live_bytes() - before) / pods; };
  std::size_t worst = 0;
  constexpr std::size_t kPods = 20000;
  for (std::size_t i = 0; i < kPods; ++i) {
    Ref<const Pod> pod = workload.pod(i);
    cluster.see_pod(pod);
    ASSERT_TRUE(cluster.add_pod(std::move(pod)));
    // The log has a fixed size and is not the pods'; below a few thousand pods it would hide them.
    if (i >= kPods / 2) worst = std::max(worst, each(i + 1));
  }
  RecordProperty("bytes_per_pod", static_cast<int>(each(kPods)));
  RecordProperty("bytes_per_pod_at_worst", static_cast<int>(worst));
  EXPECT_LE(each(kPods), 250U);
  EXPECT_LE(worst, 250U);
  EXPECT_GT(each(kPods), 100U) << "the count itself is broken";
}

TEST(Memory, PodsThatWentGiveTheirMemoryBack) {
  Workload workload;
  Cluster cluster(workload.world.interner.symbols());
  const auto churn = [&] {
    for (std::size_t i = 0; i < 2000; ++i) {
      Ref<const Pod> pod = workload.pod(i);
      cluster.see_pod(pod);
      ASSERT_TRUE(cluster.add_pod(std::move(pod)));
    }
    for (std::size_t i = 0; i < 2000; ++i) {
      const Ref<const Pod> pod = workload.pod(i);
      cluster.remove_seen_pod(*pod);
      ASSERT_TRUE(cluster.remove_pod(*pod));
    }
  };
  churn();
  const std::size_t after_one = testing::live_bytes();
  for (int round = 0; round < 5; ++round) churn();
  EXPECT_LE(testing::live_bytes(), after_one + 4096);
  EXPECT_EQ(cluster.nodes().ghost_count(), 0U);
}

TEST(Memory, ResourcesThatNobodyOffersTakeWhatTheirNamesTakeAndGo) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  testing::World world;
  Cluster cluster(world.interner.symbols());
  for (std::size_t i = 0; i < 1000; ++i) cluster.add_node(world.node(fmt::format("node-{}", i)));
  testing::PodBuilder builder = world.pod("p");
  for (int i = 0; i < 1000; ++i) builder.request(fmt::format("example.com/r{}", i), "1");
  const Ref<const Pod> pod = builder.on("node-7");
  cluster.begin_cycle();
  const std::size_t before = testing::live_bytes();
  ASSERT_TRUE(cluster.add_pod(pod));
  EXPECT_LT(testing::live_bytes() - before, 512U << 10) << "a column of each would be 8 MB";
  ASSERT_TRUE(cluster.remove_pod(*pod));
  EXPECT_LT(testing::live_bytes(), before + 16384);
}

TEST(Memory, PodsOnInventedNodesTakeNoRowsAndLeaveNothingBehind) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  Workload workload;
  Cluster cluster(workload.world.interner.symbols());
  for (std::size_t i = 0; i < 10; ++i)
    cluster.add_node(workload.world.node(fmt::format("real-{}", i)));
  cluster.begin_cycle();
  const auto come_and_go = [&] {
    std::vector<Ref<const Pod>> pods;
    for (std::size_t i = 0; i < 2000; ++i) {
      PodDraft draft = draft_of(*workload.pod(i));
      draft.node_name = fmt::format("invented-{}", i);
      pods.push_back(make_pod(std::move(draft)));
      ASSERT_TRUE(cluster.add_pod(pods.back()));
    }
    for (const Ref<const Pod>& pod : pods) ASSERT_TRUE(cluster.remove_pod(*pod));
  };
  const std::size_t before = testing::live_bytes();
  come_and_go();
  cluster.begin_cycle();
  // Hash tables keep their slots, and symbols their numbers, for the next.
  EXPECT_LT(testing::live_bytes() - before, 2000U * 150);
  const std::size_t after_one = testing::live_bytes();
  for (int round = 0; round < 3; ++round) come_and_go();
  EXPECT_LE(testing::live_bytes(), after_one + 16384);
}

}  // namespace
}  // namespace berth
