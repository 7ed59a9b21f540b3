#include "cluster/pod_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "berth/random.h"
#include "berth/views.h"
#include "cluster/trial.h"

namespace berth {
namespace {

struct Counts : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  const NodeTable& table = cluster.nodes();

  NodeRow row(const std::string& node) { return table.find(cluster.symbols().find(node)); }
  PodTerm term(const std::vector<std::string>& namespaces, const std::string& key,
               const std::string& value) {
    PodTerm made;
    made.all_namespaces = namespaces.empty();
    for (const std::string& name : namespaces) made.namespaces.push_back(world.symbol(name));
    std::sort(made.namespaces.begin(), made.namespaces.end());
    made.selector = Selector::of_set({{world.symbol(key), world.symbol(value)}});
    return made;
  }
  PodQuery query(const std::string& key, const std::string& value) {
    return {{term({"default"}, key, value)}, false};
  }
  std::int32_t count(const PodQuery& asked, const std::string& node) {
    const PodCount found = cluster.pod_counts().count(asked);
    return row(node) == kNoRow ? 0 : found.by_row[row(node)];
  }

  void expect_consistent(const PodQuery& asked) {
    const PodCount found = cluster.pod_counts().count(asked);
    ASSERT_EQ(found.by_row.size(), table.rows());
    for (NodeRow at = 0; at < table.rows(); ++at) {
      std::int32_t expected = 0;
      if (table.has_node(at))
        for (const Ref<const Pod>& pod : table.pods(at)) expected += asked.matches(*pod) ? 1 : 0;
      ASSERT_EQ(found.by_row[at], expected) << "row " << at;
      ASSERT_EQ(found.rows.contains(at), expected != 0) << "row " << at;
    }
  }
};

TEST_F(Counts, PodsOfTheNamespaceWhoseLabelsMatch) {
  cluster.add_node(world.node("n"));
  cluster.add_node(world.node("other"));
  ASSERT_TRUE(cluster.add_pod(world.pod("a").label("app", "web").on("n")));
  ASSERT_TRUE(cluster.add_pod(world.pod("b").label("app", "web").on("n")));
  ASSERT_TRUE(cluster.add_pod(world.pod("c").label("app", "db").on("n")));
  ASSERT_TRUE(cluster.add_pod(world.pod("d").label("app", "web").in("elsewhere").on("n")));
  ASSERT_TRUE(cluster.add_pod(world.pod("e").label("app", "web").on("other")));
  EXPECT_EQ(count(query("app", "web"), "n"), 2);
  EXPECT_EQ(count(query("app", "web"), "other"), 1);
  EXPECT_EQ(count({{term({"default", "elsewhere"}, "app", "web")}, false}, "n"), 3);
  EXPECT_EQ(count({{term({}, "app", "web")}, false}, "n"), 3);
  EXPECT_EQ(count({{term({"default"}, "app", "none")}, false}, "n"), 0);
}

TEST_F(Counts, APodHasToMatchEveryTermAndNoTermMatchesNobody) {
  cluster.add_node(world.node("n"));
  ASSERT_TRUE(cluster.add_pod(world.pod("a").label("app", "web").label("tier", "x").on("n")));
  ASSERT_TRUE(cluster.add_pod(world.pod("b").label("app", "web").on("n")));
  EXPECT_EQ(count({{term({"default"}, "app", "web"), term({"default"}, "tier", "x")}, false}, "n"),
            1);
  EXPECT_EQ(count({}, "n"), 0);
}

TEST_F(Counts, PodsThatAreBeingDeletedCountWhenTheQuerySaysSo) {
  cluster.add_node(world.node("n"));
  ASSERT_TRUE(cluster.add_pod(world.pod("a").label("app", "web").on("n")));
  ASSERT_TRUE(cluster.add_pod(
      world.pod("b").label("app", "web").on("n").deleted(WallTime{std::chrono::seconds(5)})));
  EXPECT_EQ(count({{term({"default"}, "app", "web")}, false}, "n"), 1);
  EXPECT_EQ(count({{term({"default"}, "app", "web")}, true}, "n"), 2);
}

TEST_F(Counts, FollowAssumedForgottenChangedAndRemovedPods) {
  cluster.add_node(world.node("n"));
  const PodQuery asked = query("app", "web");
  EXPECT_EQ(count(asked, "n"), 0);
  const Ref<const Pod> pod = world.pod("a").label("app", "web");
  ASSERT_TRUE(cluster.assume(pod, row("n")));
  EXPECT_EQ(count(asked, "n"), 1);
  ASSERT_TRUE(cluster.forget(*pod));
  EXPECT_EQ(count(asked, "n"), 0);
  ASSERT_TRUE(cluster.add_pod(world.pod("a").label("app", "web").on("n")));
  EXPECT_EQ(count(asked, "n"), 1);
  ASSERT_TRUE(cluster.update_pod(world.pod("a").label("app", "db").on("n")));
  EXPECT_EQ(count(asked, "n"), 0);
  EXPECT_TRUE(cluster.pod_counts().count(asked).rows.empty());
}

TEST_F(Counts, PodsOfANodeThatIsGoneDoNotCountUntilItReturns) {
  const PodQuery asked = query("app", "web");
  cluster.add_node(world.node("n"));
  ASSERT_TRUE(cluster.add_pod(world.pod("a").label("app", "web").on("n")));
  EXPECT_EQ(count(asked, "n"), 1);
  ASSERT_TRUE(cluster.remove_node(world.symbol("n")));
  EXPECT_EQ(count(asked, "n"), 0);
  ASSERT_TRUE(cluster.add_pod(world.pod("b").label("app", "web").on("n")));
  cluster.add_node(world.node("n"));
  EXPECT_EQ(count(asked, "n"), 2);
}

TEST_F(Counts, ARowThatIsUsedAgainStartsFromItsOwnPods) {
  const PodQuery asked = query("app", "web");
  cluster.add_node(world.node("n"));
  const Ref<const Pod> pod = world.pod("a").label("app", "web").on("n");
  ASSERT_TRUE(cluster.add_pod(pod));
  const NodeRow at = row("n");
  EXPECT_EQ(count(asked, "n"), 1);
  ASSERT_TRUE(cluster.remove_pod(*pod));
  ASSERT_TRUE(cluster.remove_node(world.symbol("n")));
  cluster.add_node(world.node("m"));
  ASSERT_EQ(row("m"), at);
  EXPECT_EQ(count(asked, "m"), 0);
}

TEST_F(Counts, DoNotShowTrials) {
  const PodQuery asked = query("app", "web");
  cluster.add_node(world.node("n"));
  const Ref<const Pod> there = world.pod("a").label("app", "web").on("n");
  ASSERT_TRUE(cluster.add_pod(there));
  EXPECT_EQ(count(asked, "n"), 1);
  Trial trial(cluster);
  trial.add(world.pod("b").label("app", "web"), row("n"));
  EXPECT_EQ(count(asked, "n"), 1);
  trial.remove(there, row("n"));
  EXPECT_EQ(count(asked, "n"), 1);
}

TEST_F(Counts, ANewQueryUnderATrialIsAMistake) {
  cluster.add_node(world.node("n"));
  const PodQuery asked = query("app", "web");
  Trial trial(cluster);
  trial.add(world.pod("b").label("app", "web"), row("n"));
  EXPECT_DEATH((void)cluster.pod_counts().count(asked), "");
}

TEST_F(Counts, ChurnGivesWhatARecountGives) {
  Random random(11);
  PodQuery not_in{{term({}, "app", "a0")}, true};
  Selector selector;
  selector.add({world.symbol("app"), SelectorOperator::kNotIn, {world.symbol("a1")}, 0});
  not_in.terms[0].selector = selector;
  const std::vector<PodQuery> queries = {
      query("app", "a0"),
      {{term({}, "app", "a1")}, true},
      {{term({"default"}, "app", "a2"), term({}, "tier", "t1")}, false},
      not_in,
      {{{true, {}, Selector::everything()}}, false},
      {{{true, {}, Selector::nothing()}}, true},
  };
  std::vector<Ref<const Pod>> placed;
  for (int step = 0; step < 6000; ++step) {
    const std::string node = "n" + std::to_string(random.below(12));
    switch (random.below(8)) {
      case 0: cluster.add_node(world.node(node).label("v", std::to_string(step))); break;
      case 1: (void)cluster.remove_node(world.symbol(node)); break;
      case 2:
      case 3:
        if (placed.empty()) break;
        {
          const std::size_t at = random.below(placed.size());
          ASSERT_TRUE(cluster.remove_pod(*placed[at]));
          placed.erase(placed.begin() + static_cast<std::ptrdiff_t>(at));
        }
        break;
      case 4: cluster.begin_cycle(); break;
      default: {
        auto pod = world.pod("p" + std::to_string(step));
        pod.label("app", "a" + std::to_string(random.below(3)));
        if (random.below(2) == 0) pod.label("tier", "t" + std::to_string(random.below(2)));
        if (random.below(4) == 0) pod.in("other");
        if (random.below(5) == 0) pod.deleted(WallTime{std::chrono::seconds(9)});
        placed.push_back(pod.on(node));
        ASSERT_TRUE(cluster.add_pod(placed.back()));
      }
    }
    for (const PodQuery& asked : queries)
      if (random.below(12) == 0) expect_consistent(asked);
  }
  for (const PodQuery& asked : queries) expect_consistent(asked);
}

TEST_F(Counts, AReaderThatFellBehindTheLogCountsEverything) {
  const PodQuery asked = query("app", "web");
  cluster.add_node(world.node("n"));
  cluster.add_node(world.node("m"));
  EXPECT_EQ(count(asked, "m"), 0);
  ASSERT_TRUE(cluster.add_pod(world.pod("a").label("app", "web").on("m")));
  for (int i = 0; i < 20000; ++i)
    cluster.update_node(world.node("n").label("other", std::to_string(i)));
  expect_consistent(asked);
  EXPECT_EQ(count(asked, "m"), 1);
}

TEST_F(Counts, QueriesThatNobodyAsksForAnyMoreAreDropped) {
  cluster.add_node(world.node("n"));
  const auto ask = [&](int i) {
    const Symbol key = world.symbol("k" + std::to_string(i));
    PodQuery asked{{{true, {}, Selector::of_set({{key, key}})}}, false};
    const PodCount found = cluster.pod_counts().count(asked);
    EXPECT_EQ(found.by_row.size(), table.rows());
    cluster.symbol_table()->release(key);
  };
  for (int i = 0; i < 10000; ++i) {
    ask(i);
    cluster.begin_cycle();
  }
  const std::size_t before = cluster.symbols().size();
  for (int i = 0; i < 40000; ++i) {
    ask(3);
    cluster.begin_cycle();
  }
  EXPECT_LT(cluster.symbols().size(), before - 9000);
  EXPECT_FALSE(cluster.symbols().find("k3").empty());
}

TEST_F(Counts, ManyQueriesOfOneCycleAllStay) {
  for (int i = 0; i < 64; ++i) cluster.add_node(world.node("n" + std::to_string(i)));
  std::vector<PodQuery> queries;
  for (int i = 0; i < 500; ++i) queries.push_back(query("app", std::to_string(i)));
  for (int cycle = 0; cycle < 3; ++cycle) {
    cluster.begin_cycle();
    std::vector<const std::int32_t*> at;
    for (const PodQuery& asked : queries)
      at.push_back(cluster.pod_counts().count(asked).by_row.data());
    for (std::size_t i = 0; i < queries.size(); ++i)
      EXPECT_EQ(cluster.pod_counts().count(queries[i]).by_row.data(), at[i]);
  }
}

TEST_F(Counts, AreUnderTheirLimitWithinACycleToo) {
  constexpr int kNodes = 200;
  for (int i = 0; i < kNodes; ++i)
    cluster.add_node(world.node("n" + std::to_string(i)).label("zone", std::to_string(i % 5)));
  for (int i = 0; i < kNodes; ++i)
    ASSERT_TRUE(cluster.add_pod(world.pod("p" + std::to_string(i))
                                    .label("app", std::to_string(i % 7))
                                    .on("n" + std::to_string(i))));
  constexpr std::size_t kLimit = 16 << 10;
  PodCounts counts(table, kLimit);
  const TopologyColumn zones = cluster.topology().column(world.symbol("zone"));
  counts.begin_cycle();
  std::size_t kept = 0;
  for (int i = 0; i < 1000; ++i) {
    const PodQuery asked{{term({"default"}, "app", std::to_string(i))}, false};
    const PodCount found = counts.count(asked);
    kept += found.is_kept ? 1 : 0;
    const auto expected = [&](NodeRow at) { return i < 7 && at % 7 == static_cast<NodeRow>(i); };
    std::vector<std::int64_t> by_domain(zones.size);
    for (NodeRow at = 0; at < kNodes; ++at) {
      ASSERT_EQ(found.by_row[at], expected(at) ? 1 : 0);
      by_domain[zones.domains[at]] += expected(at) ? 1 : 0;
    }
    const DomainSums& sums = counts.count(asked, world.symbol("zone"), zones);
    ASSERT_TRUE(std::ranges::equal(sums.by_domain(), by_domain)) << i;
  }
  EXPECT_EQ(kept, counts.size());
  EXPECT_GT(kept, 0U);
  EXPECT_LE(kept * kNodes * sizeof(std::int32_t), kLimit + 2048);
}

}  // namespace
}  // namespace berth
