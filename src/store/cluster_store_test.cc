#include "store/cluster_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "store/testing/shown_deltas.h"

namespace berth {
namespace {

struct ClusterStoreTest : ::testing::Test {
  VirtualLoop loop;
  berth::testing::World world;
  ClusterStore cluster{loop, 10ms};
  std::vector<std::string> shown;

  ClusterStoreTest() {
    berth::testing::log_deltas(cluster, loop, shown);
    cluster.count_bindings();
  }

  Ref<const Pod> create(const berth::testing::PodBuilder& builder) {
    const Ref<const Pod> pod = builder.build();
    EXPECT_TRUE(cluster.create_object(pod).has_value());
    return cluster.pod(pod->namespace_name(), pod->name());
  }
  // A claim as the scheduler makes it.
  Ref<const ResourceClaim> create_claim(const std::string& generate_name) {
    ResourceClaim wanted{SymbolHold(world.interner.symbols())};
    wanted.generate_name = generate_name;
    wanted.finalizers = {"keep"};
    const Result<Ref<const Object>> made = cluster.create_claim(wanted);
    return Ref<const ResourceClaim>(static_cast<const ResourceClaim*>(made->get()));
  }
};

// ---- the store and the watch

TEST_F(ClusterStoreTest, TheWatchShowsChangesInOrderAfterAWhile) {
  create(world.pod("a"));
  ASSERT_TRUE(cluster.create_object(Ref<const Object>(world.node("n1").build())));
  create(world.pod("b"));
  EXPECT_THAT(shown, IsEmpty());
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added a", "10ms added n1", "10ms added b"));
}

TEST_F(ClusterStoreTest, AWatchThatLagsLessAgainStillKeepsItsOrder) {
  cluster.set_watch_lag(5s);
  create(world.pod("a"));
  cluster.set_watch_lag(0s);
  create(world.pod("b"));
  loop.run();
  EXPECT_THAT(shown, ElementsAre("5.01s added a", "5.01s added b"));
}

TEST_F(ClusterStoreTest, ControllersSeeChangesAtOnce) {
  std::vector<DeltaType> seen;
  cluster.on_change([&](const Delta& delta) { seen.push_back(delta.type); });
  create(world.pod("a"));
  EXPECT_THAT(seen, ElementsAre(DeltaType::kAdded));
}

TEST_F(ClusterStoreTest, EveryChangeOfAPodIsANewVersion) {
  const Ref<const Pod> first = create(world.pod("a"));
  ASSERT_TRUE(cluster.update_object(first));
  EXPECT_NE(cluster.pod("default", "a")->resource_version(), first->resource_version());
}

TEST_F(ClusterStoreTest, NamesAreTakenAndMissing) {
  create(world.pod("a"));
  EXPECT_EQ(cluster.create_object(world.pod("a").build()).error(),
            (Error{ErrorKind::kConflict, "Pod \"default/a\" already exists"}));
  EXPECT_EQ(cluster.update_object(world.pod("b").build()).error(),
            (Error{ErrorKind::kNotFound, "Pod \"default/b\" not found"}));
  EXPECT_EQ(cluster.remove_object(ObjectKind::kNode, "", "n9").error(),
            (Error{ErrorKind::kNotFound, "Node \"/n9\" not found"}));
}

TEST_F(ClusterStoreTest, APodThatComesAgainIsAnotherPod) {
  const Uid first = create(world.pod("a"))->uid();
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "a"));
  const Uid second = create(world.pod("a"))->uid();
  EXPECT_NE(first, second);
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "a"));
  const Uid third = create(world.pod("a"))->uid();
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
}

TEST_F(ClusterStoreTest, PodsAndObjectsAreListedByName) {
  create(world.pod("b"));
  create(world.pod("a").in("z"));
  create(world.pod("a"));
  std::vector<std::string> names;
  for (const Ref<const Pod>& pod : cluster.pods()) names.push_back(pod->full_name());
  EXPECT_THAT(names, ElementsAre("default/a", "default/b", "z/a"));
}

TEST_F(ClusterStoreTest, ChangesCountWhatMayHelpAPodThatDidNotFit) {
  create(world.pod("pending"));
  EXPECT_EQ(cluster.changes(), 0u) << "another pending pod is no help";
  create(world.pod("running").on("n1"));
  EXPECT_EQ(cluster.changes(), 1u);
  ASSERT_TRUE(cluster.create_object(Ref<const Object>(world.node("n1").build())));
  EXPECT_EQ(cluster.changes(), 2u);
  ASSERT_TRUE(cluster.remove_at_once(ObjectKind::kPod, "default", "running"));
  EXPECT_EQ(cluster.changes(), 3u);
  const Ref<const Pod> pending = cluster.pod("default", "pending");
  cluster.replace_pod(pending, bound_to(*pending, "n1", cluster.next_version({})));
  EXPECT_EQ(cluster.changes(), 3u) << "the scheduler's own doing";
}

// ---- the grace period

TEST_F(ClusterStoreTest, APodOnANodeKeepsItsGracePeriod) {
  create(world.pod("p").on("n1"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p"));
  EXPECT_TRUE(cluster.pod("default", "p")->terminating());
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p")) << "again: nothing new";
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added p on n1", "10ms updated p on n1 terminating",
                                 "30.01s deleted p on n1 terminating"));
  EXPECT_EQ(cluster.pod("default", "p"), nullptr);
}

TEST_F(ClusterStoreTest, APodWithoutANodeGoesAtOnce) {
  create(world.pod("p"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p"));
  EXPECT_FALSE(cluster.pod("default", "p"));
}

TEST_F(ClusterStoreTest, ASuccessorOfTheSameNameOutlivesTheGracePeriodOfTheOldOne) {
  create(world.pod("p").on("n1"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p"));
  ASSERT_TRUE(cluster.remove_at_once(ObjectKind::kPod, "default", "p"));
  create(world.pod("p"));
  loop.run();
  EXPECT_TRUE(cluster.pod("default", "p"));
}

// ---- what a StoreApi writes

TEST_F(ClusterStoreTest, VersionsGrowAndPassThoseThatAreNamed) {
  EXPECT_EQ(cluster.next_version({}), "1");
  EXPECT_EQ(cluster.next_version("7"), "8");
  EXPECT_EQ(cluster.next_version("3"), "9");
  EXPECT_EQ(cluster.next_version("not a number"), "10");
}

TEST_F(ClusterStoreTest, AReplacedPodIsShownAndItsBindingCounted) {
  const Ref<const Pod> pod = create(world.pod("p"));
  cluster.replace_pod(pod, bound_to(*pod, "n1", cluster.next_version({})));
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added p", "10ms updated p on n1"));
  EXPECT_EQ(cluster.bindings().at(pod->uid()), 1);
  const Ref<const Pod> bound = cluster.pod("default", "p");
  cluster.replace_pod(bound, bound_to(*bound, "n1", cluster.next_version({})));
  EXPECT_EQ(cluster.bindings().at(pod->uid()), 1) << "it was on its node";
}

TEST_F(ClusterStoreTest, AClaimIsNamedAfterItsVersionAndHasNoStatusYet) {
  const Ref<const ResourceClaim> claim = create_claim("gpu-");
  EXPECT_EQ(claim->resource_version, "1");
  EXPECT_EQ(claim->name, "gpu-1");
  EXPECT_FALSE(claim->uid.empty());
  EXPECT_TRUE(claim->creation_time);
  EXPECT_EQ(cluster.create_claim(*claim).error().kind, ErrorKind::kConflict);
}

TEST_F(ClusterStoreTest, AClaimGoesWithTheLastOfItsFinalizers) {
  const Ref<const ResourceClaim> claim = create_claim("gpu-");
  cluster.delete_object(claim);
  const Ref<const Object> going = cluster.object(ObjectKind::kResourceClaim, "", "gpu-1");
  ASSERT_TRUE(going);
  auto freed = make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(*going));
  EXPECT_TRUE(freed->deleting());
  freed->finalizers.clear();
  freed->resource_version = cluster.next_version({});
  cluster.replace_object(going, freed);
  EXPECT_FALSE(cluster.object(ObjectKind::kResourceClaim, "", "gpu-1"));
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added gpu-1", "10ms updated gpu-1", "10ms updated gpu-1",
                                 "10ms deleted gpu-1"));
}

TEST_F(ClusterStoreTest, AWatcherThatBeginsAnewIsShownNothingTwice) {
  create(world.pod("a"));
  ASSERT_TRUE(cluster.create_object(Ref<const Object>(world.node("n1").build())));
  EXPECT_EQ(cluster.relist().size(), 2u);
  create(world.pod("b"));
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added b"));
}

TEST_F(ClusterStoreTest, AControllerMayWriteWhileItIsTold) {
  cluster.on_change([&](const Delta& delta) {
    if (delta.type != DeltaType::kAdded) return;
    const auto* pod = std::get_if<Ref<const Pod>>(&delta.object);
    if (pod && (*pod)->name() == "first") create(world.pod("second"));
  });
  create(world.pod("first"));
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added first", "10ms added second"));
}

}  // namespace
}  // namespace berth
