#include "plugins/default_preemption/default_preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "framework/testing/fake_plugins.h"

namespace berth::plugins {
namespace {

// One full node, and a pod that is more important than the one there.
class DefaultPreemptionTest : public ::testing::Test {
 protected:
  DefaultPreemptionTest() {
    profile.filter("Full", [](const Cycle& cycle, NodeRow row) {
      return cycle.nodes().pod_counts()[row] > 0 ? Outcome::unschedulable("full") : Outcome();
    });
    world.cluster.add_node(world.node("n1"));
    EXPECT_TRUE(world.cluster.add_pod(world.pod("low").on("n1")).has_value());
    world.cluster.begin_cycle();
  }
  void make(const config::PluginArgs& arguments = {}) {
    Result<std::unique_ptr<Plugin>> made = DefaultPreemption::create(arguments, world.handle());
    ASSERT_TRUE(made.has_value());
    plugin.reset(dynamic_cast<DefaultPreemption*>(made->release()));
  }
  PostFilterResult post_filter(Ref<const Pod> pod) {
    if (!plugin) make();
    world.cluster.see_pod(pod);
    internal::CycleScratch scratch;
    scratch.reset(world.cluster.nodes().rows());
    Cycle cycle(std::move(pod), world.cluster);
    cycle.lend(&scratch);
    cycle.framework = &profile.framework();
    NodeSet feasible = world.cluster.nodes().nodes();
    Diagnosis diagnosis;
    diagnosis.explicit_nodes = feasible;
    profile.framework().run_filters(cycle, feasible);
    return berth::testing::run_task(world.loop, plugin->post_filter(cycle, diagnosis));
  }

  FakeWorld world;
  FakeProfile profile{world};
  std::unique_ptr<DefaultPreemption> plugin;
};

TEST_F(DefaultPreemptionTest, ThePodIsNominatedAndItsVictimEvicted) {
  const PostFilterResult result = post_filter(world.pod("high").priority(1));
  EXPECT_TRUE(result.outcome.ok());
  EXPECT_EQ(result.outcome.message(),
            "preemption: found a potential placement for pod on node n1, preempting 1 victims");
  ASSERT_TRUE(result.nominating);
  EXPECT_EQ(result.nominating->node_name, "n1");
  EXPECT_THAT(world.api.evicted, ElementsAre("default/low"));
}

TEST_F(DefaultPreemptionTest, WhatIsSaidBeginsWithItsName) {
  const PostFilterResult none = post_filter(world.pod("equal"));
  EXPECT_EQ(none.outcome.code, Code::kUnschedulable);
  EXPECT_EQ(none.outcome.message(),
            "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.");
  ASSERT_TRUE(none.nominating);
  EXPECT_EQ(none.nominating->node_name, "");
  const PostFilterResult never = post_filter(world.pod("polite").priority(1).never_preempts());
  EXPECT_EQ(never.outcome.message(), "preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_FALSE(never.nominating);
  EXPECT_THAT(world.api.evicted, IsEmpty());
}

TEST_F(DefaultPreemptionTest, TheTextCountsVictimsThatAreTerminatingAlready) {
  EXPECT_TRUE(
      world.cluster.add_pod(world.pod("going").on("n1").deleted(WallTime{std::chrono::hours(1)}))
          .has_value());
  const PostFilterResult result = post_filter(world.pod("high").priority(1));
  EXPECT_EQ(result.outcome.message(),
            "preemption: found a potential placement for pod on node n1, preempting 2 victims");
  EXPECT_THAT(world.api.evicted, ElementsAre("default/low"));
}

TEST_F(DefaultPreemptionTest, ThePodIsKeptOutOfTheQueueUntilItsVictimsWereAskedToGo) {
  testing::RecordingApi api;
  api.hold("evict");
  Handle handle{"default-scheduler", world.loop,         world.random,
                world.cluster,       world.waiting_pods, world.pods_in_pre_bind,
                world.nominator,     world.nominator,    api,
                world.gates,         &world.cluster};
  plugin = std::make_unique<DefaultPreemption>(config::DefaultPreemptionArgs{}, handle);
  const Ref<const Pod> low = world.pod("low").on("n1");
  world.cluster.see_pod(low);
  const Ref<const Pod> high = world.pod("high").priority(1);
  EXPECT_TRUE(plugin->pre_enqueue(*high).ok());
  EXPECT_TRUE(post_filter(high).outcome.ok());
  const Outcome held = plugin->pre_enqueue(*high);
  EXPECT_EQ(held.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(held.message(), "waiting for the preemption for this pod to be finished");
  EXPECT_TRUE(plugin->pre_enqueue(*world.pod("other").build()).ok());
  api.answer("evict");
  EXPECT_TRUE(plugin->pre_enqueue(*high).ok());
}

TEST_F(DefaultPreemptionTest, InTheForegroundAFailureIsAnErrorAndNothingIsHeldBack) {
  ASSERT_TRUE(world.gates.set("SchedulerAsyncPreemption=false").has_value());
  testing::RecordingApi api;
  Handle handle{"default-scheduler", world.loop,         world.random,
                world.cluster,       world.waiting_pods, world.pods_in_pre_bind,
                world.nominator,     world.nominator,    api,
                world.gates,         &world.cluster};
  plugin = std::make_unique<DefaultPreemption>(config::DefaultPreemptionArgs{}, handle);
  api.fails("evict", {ErrorKind::kForbidden, "hands off"});
  const Ref<const Pod> high = world.pod("high").priority(1);
  const PostFilterResult result = post_filter(high);
  EXPECT_EQ(result.outcome.code, Code::kError);
  EXPECT_EQ(result.outcome.message(), "preemption: hands off");
  EXPECT_FALSE(result.nominating);
  EXPECT_TRUE(plugin->pre_enqueue(*high).ok());
  EXPECT_THAT(plugin->events_to_register().value(), IsEmpty());
}

TEST_F(DefaultPreemptionTest, ADeletedPodIsWorthALookButNeverEnoughByItself) {
  make();
  const auto events = plugin->events_to_register().value();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event.resource, EventResource::kAssignedPod);
  EXPECT_EQ(events[0].event.actions, action::kDelete);
  const Ref<const Pod> pod = world.pod("p");
  EXPECT_EQ(events[0].hint(*pod, pod, {}).value(), QueueingHint::kSkip);
}

TEST_F(DefaultPreemptionTest, ArgumentsOfAnotherPluginAreAnError) {
  const auto made = DefaultPreemption::create(config::NodeResourcesFitArgs{}, world.handle());
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message,
            "want args to be of type DefaultPreemptionArgs, got *config.NodeResourcesFitArgs");
}

}  // namespace
}  // namespace berth::plugins
