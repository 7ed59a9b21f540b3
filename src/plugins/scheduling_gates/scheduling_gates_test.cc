#include "plugins/scheduling_gates/scheduling_gates.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

TEST(SchedulingGates, AdmitsPodsWithoutGates) {
  testing::World world;
  const Ref<const Pod> pod = world.pod("p");
  EXPECT_TRUE(SchedulingGates().pre_enqueue(*pod).ok());
}

TEST(SchedulingGates, NamesTheGatesInTheOrderOfTheSpec) {
  testing::World world;
  const Ref<const Pod> one = world.pod("p").gate("foo");
  EXPECT_EQ(SchedulingGates().pre_enqueue(*one).message(), "waiting for scheduling gates: [foo]");
  const Ref<const Pod> two = world.pod("p").gate("foo").gate("bar");
  const Outcome outcome = SchedulingGates().pre_enqueue(*two);
  EXPECT_EQ(outcome.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(outcome.reasons, std::vector<std::string>{"waiting for scheduling gates: [foo bar]"});
}

TEST(SchedulingGates, OnlyThePodsOwnGatesCanChangeItsMind) {
  PluginFixture fixture;
  const SchedulingGates plugin;
  const ClusterEvent event{
      EventResource::kTargetPod, action::kUpdatePodSchedulingGatesEliminated, {}};
  EXPECT_EQ(registered_events(plugin), (RegisteredEvents{{EventResource::kTargetPod, 8192}}));
  const Ref<const Pod> gated = fixture.world.pod("p").gate("g");
  const Ref<const Pod> ungated = fixture.world.pod("p");
  EXPECT_EQ(fixture.hint(plugin, event, gated, gated, ungated), QueueingHint::kQueue);
}

}  // namespace
}  // namespace berth::plugins
