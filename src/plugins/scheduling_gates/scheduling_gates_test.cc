#include "plugins/scheduling_gates/scheduling_gates.h"

#include <gtest/gtest.h>

#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

using testing::PluginFixture;
using testing::registered_events;

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
  const ClusterEvent event{EventResource::kPod, action::kUpdatePodSchedulingGatesEliminated, {}};
  EXPECT_EQ(registered_events(plugin),
            (std::vector<std::pair<EventResource, std::uint32_t>>{{EventResource::kPod, 2048}}));
  const Ref<const Pod> gated = fixture.world.pod("p").gate("g");
  const Ref<const Pod> ungated = fixture.world.pod("p");
  const Ref<const Pod> other = fixture.world.pod("other");
  EXPECT_EQ(fixture.hint(plugin, event, gated, gated, ungated), QueueingHint::kQueue);
  EXPECT_EQ(fixture.hint(plugin, event, gated, other, other), QueueingHint::kSkip);
}

TEST(SchedulingGates, AnEventAboutSomethingElseIsAnError) {
  PluginFixture fixture;
  const Ref<const Pod> gated = fixture.world.pod("p").gate("g");
  const Ref<const Node> node = fixture.world.node("n");
  const SchedulingGates plugin;
  const auto registrations = plugin.events_to_register();
  const Result<QueueingHint> answer =
      registrations->front().hint(*gated, AnyObject(), Ref<const Object>(node));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message, "expected *v1.Pod, but got *v1.Node");
}

}  // namespace
}  // namespace berth::plugins
