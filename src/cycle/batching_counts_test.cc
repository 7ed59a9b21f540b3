#include "cycle/batching_counts.h"

#include <gtest/gtest.h>

#include "framework/metrics_observer.h"

namespace berth {
namespace {

using LastNode = BatchingCounts::LastNode;

struct BatchingCountsTest : ::testing::Test {
  VirtualLoop loop;
  telemetry::Registry registry;
  MetricsObserver observer{loop, registry};
  ProfileMeasurements& measured = *observer.profile("p", {});
  BatchingCounts counts;
  std::uint64_t cycle = 0;
  LastNode last_node = LastNode::kFull;

  void search(std::optional<std::string> signature, std::size_t feasible = 5,
              bool nominated = false) {
    BatchingCounts::Search one;
    one.cycle = ++cycle;
    one.signature = std::move(signature);
    one.feasible = feasible;
    one.nominated = nominated;
    counts.searched(one, [this](Symbol) { return last_node; }, measured);
  }
  bool shows(const std::string& line) const {
    return ("\n" + registry.text()).find("\n" + line + "\n") != std::string::npos;
  }
  bool attempts(const std::string& result, int count) const {
    return shows("scheduler_batch_attempts_total{profile=\"p\",result=\"" + result + "\"} " +
                 std::to_string(count));
  }
  bool flushed(const std::string& reason, int count) const {
    return shows("scheduler_batch_cache_flushed_total{profile=\"p\",reason=\"" + reason + "\"} " +
                 std::to_string(count));
  }
};

// What a default run shows: topology spread by default means that no pod has a signature.
TEST_F(BatchingCountsTest, PodsWithoutSignatureAreNeitherHintedNorRemembered) {
  search(std::nullopt);
  search(std::nullopt, 1);
  search(std::nullopt, 0);  // fits nowhere: nothing is stored
  EXPECT_TRUE(attempts("no_hint", 3));
  EXPECT_TRUE(flushed("pod_not_batchable", 1));
  EXPECT_TRUE(flushed("empty_list", 1));
  EXPECT_TRUE(
      shows("scheduler_get_node_hint_duration_seconds_count{hinted=\"no_hint\",profile=\"p\"} 3"));
  EXPECT_TRUE(shows("scheduler_store_schedule_results_duration_seconds_count{profile=\"p\"} 2"));
}

TEST_F(BatchingCountsTest, AnEqualPodThatComesAtOnceIsHintedUntilNoNodesAreLeft) {
  search("s", 3);
  search("s");
  search("s");
  EXPECT_TRUE(attempts("no_hint", 1));
  EXPECT_TRUE(attempts("hint_used", 2));
  search("s", 3);  // both nodes were given away
  EXPECT_TRUE(attempts("no_hint", 2));
  EXPECT_TRUE(
      shows("scheduler_get_node_hint_duration_seconds_count{hinted=\"hint\",profile=\"p\"} 2"));
}

TEST_F(BatchingCountsTest, ALastNodeWithRoomIsScoredAgainAndStaysAmongTheHints) {
  last_node = LastNode::kHasRoom;
  search("s", 2);  // one node beside the chosen one
  for (int i = 0; i < 3; ++i) search("s", 2);
  EXPECT_TRUE(attempts("hint_used", 3));
  EXPECT_TRUE(shows("scheduler_batch_rescore_attempts_total{profile=\"p\"} 3"));
  last_node = LastNode::kFull;
  search("s", 2);  // takes the only node that is left
  search("s", 2);
  EXPECT_TRUE(attempts("hint_used", 4));
  EXPECT_TRUE(attempts("no_hint", 2));
}

TEST_F(BatchingCountsTest, APodWithANominatedNodeGetsNoHintAndItsNodesAreRemembered) {
  search("s");
  search("other", 5, true);
  EXPECT_TRUE(flushed("pod_nominated", 1));
  EXPECT_TRUE(attempts("no_hint", 2));
  search("other");
  EXPECT_TRUE(attempts("hint_used", 1));
}

TEST_F(BatchingCountsTest, SaysWhyThereIsNoHint) {
  search("s");
  search("other");
  EXPECT_TRUE(flushed("pod_incompatible", 1));
  ++cycle;  // somebody else's pod
  search("other");
  EXPECT_TRUE(flushed("pod_skipped", 1));
  search("other", 0);  // hinted, but it fits nowhere
  search("other");
  EXPECT_TRUE(flushed("pod_skipped", 2));
  last_node = LastNode::kFilterError;
  search("other");
  EXPECT_TRUE(flushed("filter_error", 1));
  last_node = LastNode::kMissing;
  search("other");
  EXPECT_TRUE(flushed("node_missing", 1));
  loop.run_until(TimePoint{std::chrono::seconds(1)});
  search("other");
  EXPECT_TRUE(flushed("expired", 1));
}

}  // namespace
}  // namespace berth
