#include "storeapi/cluster_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/task.h"
#include "storeapi/store_api.h"

namespace berth {
namespace {

// A scheduler's cluster that is fed by the view, and the API over it.
struct ViewedCluster {
  explicit ViewedCluster(ClusterView::Shows shows, StoreApiOptions options = {})
      : view(loop, shows), api(loop, view, options) {
    view.serve(cluster, [this](const Delta& delta) { apply(delta); });
  }

  void apply(const Delta& delta) {
    const auto* pod = std::get_if<Ref<const Pod>>(&delta.object);
    const char* how = delta.type == DeltaType::kDeleted ? "deleted" : "written";
    if (!pod) {
      const Ref<const Object>& object = std::get<Ref<const Object>>(delta.object);
      shown.push_back(fmt::format("{} {}", how, object->name));
      if (delta.type == DeltaType::kDeleted)
        cluster.remove(object->kind, namespace_of(*object), object->name);
      else
        cluster.put(object);
      return;
    }
    shown.push_back(fmt::format("{} {} on \"{}\"", how, (*pod)->name(), (*pod)->node_name()));
    if (delta.type == DeltaType::kDeleted)
      cluster.remove_seen_pod(**pod);
    else
      cluster.see_pod(*pod);
  }
  Ref<const Pod> see(const testing::PodBuilder& builder) {
    const Ref<const Pod> pod = builder.build();
    cluster.see_pod(pod);
    return pod;
  }
  template <typename T>
  std::string ask(Task<Result<T>> call) {
    std::optional<Result<T>> answer;
    tasks.spawn(keep(std::move(call), answer));
    if (!answer) return "none yet";
    return *answer ? "ok" : answer->error().message;
  }
  template <typename T>
  static Task<void> keep(Task<Result<T>> call, std::optional<Result<T>>& answer) {
    answer.emplace(co_await call);
  }

  VirtualLoop loop;
  testing::World world;
  Cluster cluster{world.interner.symbols()};
  ClusterView view;
  StoreApi api;
  TaskSet tasks;
  std::vector<std::string> shown;
};

TEST(ClusterView, AtOnceAWriteIsShownBeforeItIsAnswered) {
  ViewedCluster v(ClusterView::Shows::kAtOnce);
  const Ref<const Pod> pod = v.see(v.world.pod("p").version("41"));
  EXPECT_EQ(v.ask(v.api.bind(pod, "n1")), "ok");
  EXPECT_THAT(v.shown, ElementsAre("written p on \"n1\""));
  EXPECT_EQ(v.cluster.seen_pod(*pod)->resource_version(), "42") << "newer than what was seen";
  EXPECT_EQ(v.ask(v.api.bind(pod, "n2")),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
            "node \"n1\"");
  EXPECT_EQ(v.ask(v.api.evict(pod)), "ok");
  EXPECT_EQ(v.ask(v.api.evict(pod)), "pods \"p\" not found");
  EXPECT_THAT(v.shown, ElementsAre("written p on \"n1\"", "deleted p on \"n1\""));
}

TEST(ClusterView, AStatusThatTheWatchShowedIsKept) {
  ViewedCluster v(ClusterView::Shows::kAtOnce);
  const Ref<const Pod> pod = v.see(v.world.pod("p"));
  PodStatusPatch patch;
  patch.nominated_node_name = "n1";
  EXPECT_EQ(v.ask(v.api.patch_status(pod, patch)), "ok");
  EXPECT_EQ(v.cluster.seen_pod(*pod)->nominated_node_name(), "n1");
  EXPECT_EQ(v.ask(v.api.bind(pod, "n2")), "ok");
  EXPECT_TRUE(v.cluster.seen_pod(*pod)->nominated_node().empty());
}

struct LaterTest : ::testing::Test {
  ViewedCluster v{ClusterView::Shows::kNextTurn, {.keeps_statuses = false}};
};

TEST_F(LaterTest, AWriteIsAnsweredBeforeItIsShownAndCountsAsStored) {
  const Ref<const Pod> pod = v.see(v.world.pod("p"));
  EXPECT_EQ(v.ask(v.api.bind(pod, "n1")), "ok");
  EXPECT_THAT(v.shown, IsEmpty());
  EXPECT_NE(v.ask(v.api.bind(pod, "n2")), "ok") << "it has its node";
  v.loop.run();
  EXPECT_THAT(v.shown, ElementsAre("written p on \"n1\""));
}

TEST_F(LaterTest, APodThatIsRemovedMeanwhileStaysAway) {
  const Ref<const Pod> pod = v.see(v.world.pod("p"));
  EXPECT_EQ(v.ask(v.api.bind(pod, "n1")), "ok");
  v.cluster.remove_seen_pod(*pod);
  v.loop.run();
  EXPECT_THAT(v.shown, IsEmpty());
}

TEST_F(LaterTest, WhatChangedMeanwhileStaysChanged) {
  const Ref<const Pod> pod = v.see(v.world.pod("p"));
  EXPECT_EQ(v.ask(v.api.bind(pod, "n1")), "ok");
  v.see(v.world.pod("p").label("app", "web").version("900"));
  v.loop.run();
  const Ref<const Pod> now = v.cluster.seen_pod(*pod);
  EXPECT_EQ(now->node_name(), "n1");
  EXPECT_EQ(now->resource_version(), "901");
  EXPECT_EQ(now->labels().size(), 1u);
}

TEST_F(LaterTest, AnEvictedPodIsGoneForTheNextCall) {
  const Ref<const Pod> pod = v.see(v.world.pod("p"));
  EXPECT_EQ(v.ask(v.api.evict(pod)), "ok");
  EXPECT_EQ(v.ask(v.api.evict(pod)), "pods \"p\" not found");
  v.loop.run();
  EXPECT_THAT(v.shown, ElementsAre("deleted p on \"\""));
}

TEST_F(LaterTest, ClaimsAreReadAsTheyWereWrittenLast) {
  ResourceClaim wanted{SymbolHold(v.world.interner.symbols())};
  wanted.generate_name = "gpu-";
  const Ref<const Object> made = v.view.create_claim(wanted).value();
  EXPECT_EQ(v.view.stored_object(made->kind, "", made->name), made);
  EXPECT_FALSE(v.cluster.find(made->kind, "", made->name));
  EXPECT_EQ(v.ask(v.api.remove(made)), "ok");
  EXPECT_FALSE(v.view.stored_object(made->kind, "", made->name));
  v.loop.run();
  EXPECT_THAT(v.shown, ElementsAre("written gpu-1", "deleted gpu-1"));
}

TEST(ClusterViewLife, WhatIsStillToBeShownEndsWithIt) {
  VirtualLoop loop;
  testing::World world;
  Cluster cluster(world.interner.symbols());
  int shown = 0;
  const Ref<const Pod> pod = world.pod("p");
  cluster.see_pod(pod);
  {
    ClusterView view(loop, ClusterView::Shows::kNextTurn);
    view.serve(cluster, [&](const Delta&) { ++shown; });
    view.delete_pod(pod);
  }
  loop.run();
  EXPECT_EQ(shown, 0);
}

}  // namespace
}  // namespace berth
