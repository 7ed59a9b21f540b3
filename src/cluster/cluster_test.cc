#include "berth/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/random.h"
#include "cluster/testing/table_dump.h"

namespace berth {
namespace {

struct ClusterTest : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  const NodeTable& table = cluster.nodes();

  void TearDown() override { EXPECT_EQ(inconsistencies(cluster), ""); }

  NodeRow add(const std::string& node) {
    cluster.add_node(world.node(node));
    return row(node);
  }
  NodeRow row(const std::string& node) { return table.find(cluster.symbols().find(node)); }
  NodeRow ghost(const std::string& node) { return table.find_ghost(cluster.symbols().find(node)); }
  Result<void> remove(const std::string& node) {
    return cluster.remove_node(cluster.symbols().find(node));
  }
  std::int64_t cpu(const std::string& node) { return table.requested_milli_cpu()[row(node)]; }
  std::vector<std::string> pods(const std::string& node) {
    std::vector<std::string> names;
    const NodeRow at = row(node) != kNoRow ? row(node) : ghost(node);
    for (const Ref<const Pod>& pod : table.pods(at)) names.emplace_back(pod->name());
    return names;
  }
};
using PodsOnNodes = ClusterTest;
using Ghosts = ClusterTest;

std::string message(const Result<void>& result) { return result ? "" : result.error().message; }
ErrorKind kind(const Result<void>& result) { return result.error().kind; }

// ---- assume ----

TEST_F(PodsOnNodes, AnAssumedPodCountsAtOnce) {
  add("n1");
  const Ref<const Pod> pod = world.pod("p").cpu("500m");
  ASSERT_TRUE(cluster.assume(pod, row("n1")));
  EXPECT_EQ(cpu("n1"), 500);
  EXPECT_TRUE(cluster.is_assumed(pod->uid()));
  EXPECT_EQ(cluster.placed(pod->uid()), pod);
  EXPECT_EQ(cluster.row_of(pod->uid()), row("n1"));
  EXPECT_EQ(cluster.placed_count(), 1U);
  EXPECT_EQ(cluster.assumed_count(), 1U);
}

TEST_F(PodsOnNodes, AKnownPodCannotBeAssumed) {
  add("n1");
  const Ref<const Pod> pod = world.pod("p").uid("u1");
  ASSERT_TRUE(cluster.assume(pod, row("n1")));
  const Result<void> again = cluster.assume(pod, row("n1"));
  EXPECT_EQ(message(again), "pod u1(default/p) is in the cache, so can't be assumed");
  EXPECT_EQ(kind(again), ErrorKind::kConflict);
  ASSERT_TRUE(cluster.add_pod(world.pod("p").uid("u1").on("n1")));
  EXPECT_EQ(message(cluster.assume(pod, row("n1"))),
            "pod u1(default/p) is in the cache, so can't be assumed");
  EXPECT_THAT(pods("n1"), ElementsAre("p"));
}

TEST_F(PodsOnNodes, ARowWithoutAnythingCannotBeAssumedOn) {
  const Result<void> result = cluster.assume(world.pod("p"), 3);
  ASSERT_FALSE(result);
  EXPECT_EQ(kind(result), ErrorKind::kInternal);
  EXPECT_EQ(cluster.placed_count(), 0U);
}

// ---- forget ----

TEST_F(PodsOnNodes, ForgettingAnAssumedPodTakesItBack) {
  add("n1");
  const Ref<const Pod> pod = world.pod("p").cpu("1");
  ASSERT_TRUE(cluster.assume(pod, row("n1")));
  ASSERT_TRUE(cluster.forget(*pod));
  EXPECT_EQ(cpu("n1"), 0);
  EXPECT_EQ(cluster.placed(pod->uid()), nullptr);
  EXPECT_EQ(cluster.row_of(pod->uid()), kNoRow);
  EXPECT_EQ(cluster.assumed_count(), 0U);
  EXPECT_TRUE(cluster.assume(pod, row("n1"))) << "and it may be assumed again";
}

TEST_F(PodsOnNodes, ForgettingAnUnknownPodIsFine) {
  const Ref<const Pod> pod = world.pod("p");
  EXPECT_TRUE(cluster.forget(*pod));
}

TEST_F(PodsOnNodes, AConfirmedPodCannotBeForgotten) {
  const Ref<const Pod> pod = world.pod("p").uid("u1").on("n1");
  ASSERT_TRUE(cluster.add_pod(pod));
  EXPECT_EQ(message(cluster.forget(*pod)),
            "pod u1(default/p) is not assumed, so it cannot be removed or forgotten");
  EXPECT_THAT(pods("n1"), ElementsAre("p"));
}

TEST_F(PodsOnNodes, APodIsOnlyForgottenWhereItWasAssumed) {
  add("n1");
  add("n2");
  ASSERT_TRUE(cluster.assume(world.pod("p").uid("u1").on("n1").build(), row("n1")));
  const Ref<const Pod> elsewhere = world.pod("p").uid("u1").on("n2");
  EXPECT_EQ(message(cluster.forget(*elsewhere)),
            "pod u1(default/p) was assumed on n2 but assigned to n1");
  EXPECT_EQ(cluster.assumed_count(), 1U);
}

// ---- add ----

TEST_F(PodsOnNodes, AddingConfirmsAnAssumedPod) {
  add("n1");
  const Ref<const Pod> assumed = world.pod("p").cpu("1");
  const Ref<const Pod> real = world.pod("p").cpu("1").on("n1").version("2");
  ASSERT_TRUE(cluster.assume(assumed, row("n1")));
  ASSERT_TRUE(cluster.add_pod(real));
  EXPECT_FALSE(cluster.is_assumed(real->uid()));
  EXPECT_EQ(cluster.placed(real->uid()), real);
  EXPECT_EQ(cpu("n1"), 1000);
  EXPECT_EQ(cluster.placed_count(), 1U);
}

TEST_F(PodsOnNodes, AddingMovesAnAssumedPodThatEndedUpElsewhere) {
  add("n1");
  add("n2");
  ASSERT_TRUE(cluster.assume(world.pod("p").cpu("1").build(), row("n1")));
  ASSERT_TRUE(cluster.add_pod(world.pod("p").cpu("2").on("n2")));
  EXPECT_EQ(cpu("n1"), 0);
  EXPECT_EQ(cpu("n2"), 2000);
  EXPECT_EQ(cluster.assumed_count(), 0U);
  EXPECT_THAT(pods("n1"), IsEmpty());
}

TEST_F(PodsOnNodes, AddingTwiceIsAnError) {
  const Ref<const Pod> pod = world.pod("p").uid("u1").on("n1");
  ASSERT_TRUE(cluster.add_pod(pod));
  EXPECT_EQ(message(cluster.add_pod(pod)), "pod u1(default/p) was already in added state");
  EXPECT_THAT(pods("n1"), ElementsAre("p"));
}

TEST_F(PodsOnNodes, APodWithoutANodeCannotBeAdded) {
  const Result<void> result = cluster.add_pod(world.pod("p"));
  ASSERT_FALSE(result);
  EXPECT_EQ(kind(result), ErrorKind::kInvalid);
  EXPECT_EQ(table.rows(), 0U);
}

// ---- update ----

TEST_F(PodsOnNodes, UpdatingReplacesThePod) {
  add("n1");
  ASSERT_TRUE(cluster.add_pod(world.pod("p").cpu("1").on("n1")));
  const Ref<const Pod> grown = world.pod("p").cpu("3").on("n1").version("2");
  ASSERT_TRUE(cluster.update_pod(grown));
  EXPECT_EQ(cpu("n1"), 3000);
  EXPECT_EQ(cluster.placed(grown->uid()), grown);
}

TEST_F(PodsOnNodes, OnlyAddedPodsCanBeUpdated) {
  add("n1");
  const Ref<const Pod> pod = world.pod("p").uid("u1").on("n1");
  const Result<void> unknown = cluster.update_pod(pod);
  EXPECT_EQ(message(unknown),
            "pod u1(default/p) is not added to scheduler cache, so cannot be updated");
  EXPECT_EQ(kind(unknown), ErrorKind::kNotFound);
  ASSERT_TRUE(cluster.assume(pod, row("n1")));
  EXPECT_EQ(message(cluster.update_pod(pod)), "assumed pod u1(default/p) should not be updated");
  EXPECT_TRUE(cluster.is_assumed(pod->uid()));
}

TEST_F(PodsOnNodes, AnUpdateCannotMoveAPod) {
  add("n1");
  add("n2");
  ASSERT_TRUE(cluster.add_pod(world.pod("p").uid("u1").cpu("1").on("n1")));
  for (const Ref<const Pod>& pod :
       {world.pod("p").uid("u1").on("n2").build(), world.pod("p").uid("u1").build()}) {
    const Result<void> result = cluster.update_pod(pod);
    ASSERT_FALSE(result);
    EXPECT_EQ(kind(result), ErrorKind::kInternal);
    EXPECT_EQ(cpu("n1"), 1000);
    EXPECT_EQ(cpu("n2"), 0);
  }
}

// ---- remove ----

TEST_F(PodsOnNodes, RemovingTakesAwayWhatIsStored) {
  add("n1");
  ASSERT_TRUE(cluster.add_pod(world.pod("p").cpu("1").on("n1")));
  const Ref<const Pod> last_state = world.pod("p").cpu("3").on("n1");
  ASSERT_TRUE(cluster.remove_pod(*last_state));
  EXPECT_EQ(cpu("n1"), 0);
  EXPECT_EQ(cluster.placed_count(), 0U);
}

TEST_F(PodsOnNodes, AnAssumedPodCanBeRemoved) {
  add("n1");
  const Ref<const Pod> pod = world.pod("p").cpu("1");
  ASSERT_TRUE(cluster.assume(pod, row("n1")));
  ASSERT_TRUE(cluster.remove_pod(*pod)) << "also by a last state that had no node yet";
  EXPECT_EQ(cpu("n1"), 0);
  EXPECT_EQ(cluster.assumed_count(), 0U);
}

TEST_F(PodsOnNodes, RemovingAnUnknownPodIsAnError) {
  const Ref<const Pod> pod = world.pod("p").uid("u1").on("n1");
  const Result<void> result = cluster.remove_pod(*pod);
  EXPECT_EQ(message(result),
            "pod u1(default/p) is not found in scheduler cache, so cannot be removed from it");
  EXPECT_EQ(kind(result), ErrorKind::kNotFound);
}

TEST_F(PodsOnNodes, RemovingFromAnotherNodeIsAnError) {
  ASSERT_TRUE(cluster.add_pod(world.pod("p").uid("u1").on("n1")));
  const Ref<const Pod> elsewhere = world.pod("p").uid("u1").on("n2");
  const Result<void> result = cluster.remove_pod(*elsewhere);
  ASSERT_FALSE(result);
  EXPECT_EQ(kind(result), ErrorKind::kInternal);
  EXPECT_EQ(message(result), "pod u1(default/p) is on node n1, but the watch shows it on node n2");
  EXPECT_THAT(pods("n1"), ElementsAre("p"));
}

TEST_F(PodsOnNodes, TheLastPodMovesIntoTheHole) {
  add("n1");
  for (const char* name : {"a", "b", "c", "d"})
    ASSERT_TRUE(cluster.add_pod(world.pod(name).on("n1")));
  const Ref<const Pod> b = world.pod("b").on("n1");
  ASSERT_TRUE(cluster.remove_pod(*b));
  EXPECT_THAT(pods("n1"), ElementsAre("a", "d", "c"));
  const Ref<const Pod> d = world.pod("d").on("n1");
  ASSERT_TRUE(cluster.remove_pod(*d));
  EXPECT_THAT(pods("n1"), ElementsAre("a", "c"));
  ASSERT_TRUE(cluster.update_pod(world.pod("a").on("n1")));
  EXPECT_THAT(pods("n1"), ElementsAre("c", "a"));
}

TEST_F(PodsOnNodes, EveryOperationWantsAUid) {
  const NodeRow row = add("n1");
  PodDraft draft = draft_of(*world.pod("p").on("n1").build());
  draft.uid.clear();
  const Ref<const Pod> pod = make_pod(std::move(draft));
  for (const Result<void>& result :
       {cluster.assume(pod, row), cluster.forget(*pod), cluster.add_pod(pod),
        cluster.update_pod(pod), cluster.remove_pod(*pod)})
    EXPECT_EQ(message(result), "cannot get cache key for pod with empty UID");
  EXPECT_EQ(cluster.placed_count(), 0U);
}

TEST_F(PodsOnNodes, VisitingShowsWhereAndHow) {
  add("n1");
  ASSERT_TRUE(cluster.add_pod(world.pod("added").on("n1")));
  ASSERT_TRUE(cluster.assume(world.pod("assumed").build(), row("n1")));
  std::map<std::string, bool> seen;
  cluster.for_each_placed([&](const Pod& pod, NodeRow at, bool assumed) {
    EXPECT_EQ(at, row("n1"));
    seen[std::string(pod.name())] = assumed;
  });
  EXPECT_EQ(seen, (std::map<std::string, bool>{{"added", false}, {"assumed", true}}));
}

// ---- ghosts ----

TEST_F(Ghosts, APodMayComeBeforeItsNode) {
  ASSERT_TRUE(cluster.add_pod(world.pod("p").cpu("1").on("n1")));
  EXPECT_EQ(row("n1"), kNoRow);
  ASSERT_NE(ghost("n1"), kNoRow);
  EXPECT_FALSE(table.has_node(ghost("n1")));
  EXPECT_EQ(table.name_text(ghost("n1")), "n1");
  EXPECT_EQ(table.node_count(), 0U);
  EXPECT_EQ(table.rows(), 0U) << "it takes no row";
  EXPECT_EQ(table.ghost_count(), 1U);
  cluster.begin_cycle();
  EXPECT_THAT(table.order(), IsEmpty());
  const Ref<const Pod> pod = world.pod("p").on("n1");
  EXPECT_TRUE(cluster.placed(pod->uid())) << "pods on ghosts are found";

  add("n1");
  cluster.begin_cycle();
  EXPECT_EQ(ghost("n1"), kNoRow);
  EXPECT_THAT(table.order(), ElementsAre(row("n1")));
  EXPECT_EQ(cluster.row_of(pod->uid()), row("n1")) << "its pods are with the node";
  EXPECT_EQ(cpu("n1"), 1000);
  EXPECT_EQ(table.ghost_count(), 0U);
}

TEST_F(Ghosts, ANodeMayGoBeforeItsPods) {
  const NodeRow n1 = add("n1");
  const Ref<const Pod> pod = world.pod("p").on("n1");
  const Ref<const Pod> other = world.pod("q").on("n1");
  ASSERT_TRUE(cluster.add_pod(pod));
  ASSERT_TRUE(cluster.add_pod(other));
  ASSERT_TRUE(remove("n1"));
  EXPECT_EQ(row("n1"), kNoRow);
  EXPECT_FALSE(table.has_node(n1));
  EXPECT_EQ(table.pods(ghost("n1")).size(), 2U);
  ASSERT_TRUE(cluster.remove_pod(*pod));
  EXPECT_NE(ghost("n1"), kNoRow) << "a pod is left";
  EXPECT_EQ(add("n2"), n1) << "the row is used again";
  ASSERT_TRUE(cluster.remove_pod(*other));
  EXPECT_EQ(ghost("n1"), kNoRow);
  EXPECT_EQ(table.rows(), 1U);
}

TEST_F(Ghosts, AnAssumedPodOnANodeThatWentCanBeForgotten) {
  add("n1");
  const Ref<const Pod> pod = world.pod("p");
  ASSERT_TRUE(cluster.assume(pod, row("n1")));
  ASSERT_TRUE(remove("n1"));
  EXPECT_EQ(table.ghost_count(), 1U);
  ASSERT_TRUE(cluster.forget(*pod));
  EXPECT_EQ(table.ghost_count(), 0U);
}

TEST_F(Ghosts, AnAssumedPodThatIsConfirmedElsewhereLetsItsGhostGo) {
  add("n1");
  add("n2");
  ASSERT_TRUE(cluster.assume(world.pod("p").build(), row("n1")));
  ASSERT_TRUE(remove("n1"));
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("n2")));
  EXPECT_EQ(ghost("n1"), kNoRow);
  EXPECT_THAT(pods("n2"), ElementsAre("p"));
}

TEST_F(Ghosts, APodOnAGhostCanBeUpdated) {
  ASSERT_TRUE(cluster.add_pod(world.pod("p").cpu("1").on("n1")));
  const NodeRow before = ghost("n1");
  ASSERT_TRUE(cluster.update_pod(world.pod("p").cpu("2").on("n1")));
  EXPECT_EQ(ghost("n1"), before);
  add("n1");
  EXPECT_EQ(cpu("n1"), 2000);
}

TEST_F(Ghosts, InventedNodeNamesTakeNoRowsAndLeaveNothingBehind) {
  add("n1");
  cluster.begin_cycle();
  std::vector<Ref<const Pod>> invented;
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    invented.push_back(world.pod("p" + number).on("nowhere-" + number));
    ASSERT_TRUE(cluster.add_pod(invented.back()));
  }
  EXPECT_EQ(table.ghost_count(), 1000U);
  EXPECT_EQ(table.rows(), 1U);
  for (const Ref<const Pod>& pod : invented) ASSERT_TRUE(cluster.remove_pod(*pod));
  invented.clear();
  EXPECT_EQ(table.ghost_count(), 0U);
  EXPECT_EQ(cluster.symbols().find("nowhere-7"), Symbol{});
}

TEST_F(Ghosts, RowsGoWhenTheClusterHasShrunk) {
  for (int i = 0; i < 500; ++i) add("n" + std::to_string(i));
  cluster.begin_cycle();
  for (int i = 10; i < 500; ++i) ASSERT_TRUE(remove("n" + std::to_string(i)));
  EXPECT_EQ(table.rows(), 500U) << "within a cycle they stay";
  const std::uint64_t before = table.log_end();
  cluster.begin_cycle();
  EXPECT_EQ(table.rows(), 10U);
  EXPECT_FALSE(table.changes_since(before)) << "readers look at everything";
  add("n10");
  EXPECT_EQ(row("n10"), 10U);
}

TEST_F(Ghosts, UnknownNodesAndGhostsCannotBeRemoved) {
  const Symbol name = world.symbol("n1");
  EXPECT_EQ(message(cluster.remove_node(name)), "node n1 is not found");
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("n1")));
  EXPECT_EQ(message(cluster.remove_node(name)), "node n1 is not found");
  add("n1");
  EXPECT_TRUE(cluster.remove_node(name));
  EXPECT_EQ(kind(cluster.remove_node(name)), ErrorKind::kNotFound);
}

TEST_F(Ghosts, AnUpdateOfAnUnknownNodeAddsIt) {
  cluster.update_node(world.node("n1"));
  EXPECT_TRUE(table.has_node(row("n1")));
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("n2")));
  cluster.update_node(world.node("n2"));
  cluster.begin_cycle();
  EXPECT_THAT(table.order(), ElementsAre(row("n1"), row("n2")));
}

// ---- symbols, churn ----

TEST_F(ClusterTest, NothingIsHeldOnceEverythingIsGone) {
  cluster.begin_cycle();
  const std::size_t before = world.interner.symbols()->size();
  for (int round = 0; round < 3; ++round) {
    const std::string node = "node-" + std::to_string(round);
    cluster.add_node(world.node(node).image("image:" + std::to_string(round), 5));
    const Ref<const Pod> pod = world.pod("p").on(node);
    ASSERT_TRUE(cluster.add_pod(pod));
    cluster.begin_cycle();
    ASSERT_TRUE(remove(node));
    ASSERT_TRUE(cluster.remove_pod(*pod));
    cluster.begin_cycle();
  }
  // The interner may still keep the pods' shared parts, which do not name nodes.
  EXPECT_EQ(cluster.symbols().find("node-0"), Symbol{});
  EXPECT_EQ(cluster.symbols().find("image:0"), Symbol{});
  EXPECT_LE(world.interner.symbols()->size(), before + 5);
}

TEST_F(ClusterTest, StaysConsistentUnderChurn) {
  Random random(7);
  constexpr int kNodes = 6, kPods = 40;
  const auto node_name = [](std::uint64_t i) { return "n" + std::to_string(i); };
  for (int step = 0; step < 4000; ++step) {
    const std::string node = node_name(random.below(kNodes));
    berth::testing::PodBuilder builder = world.pod("p" + std::to_string(random.below(kPods)));
    builder.cpu(std::to_string(random.below(4))).on(node);
    const Ref<const Pod> pod = builder;
    switch (random.below(8)) {
      case 0: cluster.add_node(world.node(node).cpu(std::to_string(random.below(9)))); break;
      case 1: (void)remove(node); break;
      case 2:
        if (row(node) != kNoRow) (void)cluster.assume(pod, row(node));
        if (ghost(node) != kNoRow) (void)cluster.assume(pod, ghost(node));
        break;
      case 3: (void)cluster.forget(*pod); break;
      case 4: (void)cluster.update_pod(pod); break;
      case 5: (void)cluster.remove_pod(*pod); break;
      case 6: cluster.begin_cycle(); break;
      default: (void)cluster.add_pod(pod); break;
    }
    ASSERT_EQ(inconsistencies(cluster), "") << "after step " << step;
  }
  EXPECT_LE(table.rows(), std::size_t{kNodes});
}

}  // namespace
}  // namespace berth
