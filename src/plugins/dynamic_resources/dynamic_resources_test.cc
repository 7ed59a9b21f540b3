#include "plugins/dynamic_resources/dynamic_resources.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

using testing::PluginFixture;
using testing::registered_events;

Task<void> run_post_filter(const PostFilterPlugin& plugin, Cycle& cycle, const Diagnosis& diagnosis,
                           std::optional<PostFilterResult>& result) {
  Task<PostFilterResult> call = plugin.post_filter(cycle, diagnosis);
  result = co_await call;
}

class DynamicResourcesTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;

  void add_device_class(const std::string& name, const std::string& extended_resource = "") {
    DeviceClass device_class(world.interner.hold());
    device_class.name = name;
    device_class.extended_resource_name = device_class.symbols.intern(extended_resource);
    fixture.cluster.put(make_ref<DeviceClass>(device_class));
  }

  // What PreFilter says, "" for Skip.
  std::string pre_filter(const Ref<const Pod>& asked) {
    Cycle cycle(asked, fixture.cluster);
    const Outcome outcome = fixture.make<DynamicResources>()->pre_filter(cycle).outcome;
    if (outcome.code == Code::kSkip) return "";
    EXPECT_EQ(outcome.code, Code::kUnschedulableAndUnresolvable);
    return outcome.message();
  }

  Ref<const Pod> claiming() {
    testing::PodBuilder builder = world.pod("p");
    builder.spec().resource_claims.push_back({builder.symbol("gpu"), builder.symbol("c"), {}});
    return builder;
  }
};

TEST_F(DynamicResourcesTest, APodWithoutClaimsPasses) {
  const auto plugin = fixture.make<DynamicResources>();
  EXPECT_TRUE(plugin->pre_enqueue(*Ref<const Pod>(world.pod("p"))).ok());
  EXPECT_EQ(pre_filter(world.pod("p")), "");
  EXPECT_EQ(pre_filter(world.pod("p").request("example.com/gpu", "1")), "");
  fixture.add_node(world.node("n"));
  EXPECT_EQ(fixture.score(*plugin, world.pod("p")), (std::map<std::string, Score>{{"n", 0}}));
  Cycle cycle(world.pod("p"), fixture.cluster);
  EXPECT_TRUE(plugin->reserve(cycle, "n").ok());
  const PreBindPreFlight flight = plugin->pre_bind_pre_flight(cycle, "n");
  EXPECT_EQ(flight.outcome.code, Code::kSkip);
  EXPECT_TRUE(flight.allow_parallel);
}

TEST_F(DynamicResourcesTest, APodWithClaimsIsToldThatTheyCannotBeJudged) {
  EXPECT_EQ(pre_filter(claiming()),
            "resource claim \"gpu\" cannot be judged by DynamicResources yet");
}

TEST_F(DynamicResourcesTest, ResourcesThatADeviceClassProvidesCannotBeJudgedEither) {
  add_device_class("gpus", "example.com/gpu");
  const auto told = [](const std::string& resource) {
    return "resource \"" + resource +
           "\", which a DeviceClass provides, cannot be judged by DynamicResources yet";
  };
  const Ref<const Pod> stated = world.pod("p").request("example.com/gpu", "1");
  EXPECT_EQ(pre_filter(stated), told("example.com/gpu"));
  const std::string implicit = "deviceclass.resource.kubernetes.io/gpus";
  EXPECT_EQ(pre_filter(world.pod("p").request(implicit, "1")), told(implicit));
  EXPECT_EQ(pre_filter(world.pod("p").request("example.com/gpu", "0")), "");
  EXPECT_EQ(pre_filter(world.pod("p").request("example.com/other", "1")), "");
  EXPECT_EQ(pre_filter(world.pod("p").request("deviceclass.resource.kubernetes.io/x", "1")), "");
  ASSERT_TRUE(fixture.gates.set("DRAExtendedResource=false").has_value());
  EXPECT_EQ(pre_filter(stated), "");
}

TEST_F(DynamicResourcesTest, HasNoClaimsToDeallocateWhenNothingFits) {
  const auto plugin = fixture.make<DynamicResources>();
  const Diagnosis diagnosis;
  Cycle cycle(world.pod("p"), fixture.cluster);
  const auto ask = [&] {
    std::optional<PostFilterResult> result;
    TaskSet tasks;
    tasks.spawn(run_post_filter(*plugin, cycle, diagnosis, result));
    return *result;
  };
  // Another plugin's PreFilter ended the attempt before this one was asked.
  EXPECT_EQ(ask().outcome.code, Code::kError);
  EXPECT_EQ(ask().outcome.message(), "not found");
  EXPECT_EQ(plugin->pre_filter(cycle).outcome.code, Code::kSkip);
  EXPECT_EQ(ask().outcome.code, Code::kUnschedulable);
  EXPECT_EQ(ask().outcome.message(), "no new claims to deallocate");
  EXPECT_FALSE(ask().nominating);
}

TEST_F(DynamicResourcesTest, RegistersForNodesClaimsClassesAndSlices) {
  using enum EventResource;
  EXPECT_EQ(registered_events(*fixture.make<DynamicResources>()),
            (std::vector<std::pair<EventResource, std::uint32_t>>{{kNode, 13},
                                                                  {kResourceClaim, 8189},
                                                                  {kPod, 4096},
                                                                  {kDeviceClass, 8189},
                                                                  {kResourceSlice, 8189}}));
}

TEST_F(DynamicResourcesTest, PodsWithClaimsAreNotSigned) {
  const auto plugin = fixture.make<DynamicResources>();
  std::vector<SignatureFragment> fragments;
  EXPECT_TRUE(plugin->sign(*Ref<const Pod>(world.pod("p")), fragments).ok());
  const Outcome refused = plugin->sign(*claiming(), fragments);
  EXPECT_EQ(refused.code, Code::kUnschedulable);
  EXPECT_EQ(refused.message(), "pods with dra resource claims are not signable");
  EXPECT_TRUE(fragments.empty());
}

}  // namespace
}  // namespace berth::plugins
