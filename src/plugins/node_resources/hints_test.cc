#include <gtest/gtest.h>

#include "api/devices.h"
#include "base/testing/names.h"
#include "plugins/node_resources/fit.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr ClusterEvent kDeleteEvent{EventResource::kAssignedPod, action::kDelete, {}};
constexpr ClusterEvent kScaleDownEvent{
    EventResource::kAssignedPod, action::kUpdatePodScaleDown, {}};
constexpr ClusterEvent kOwnScaleDownEvent{
    EventResource::kTargetPod, action::kUpdatePodScaleDown, {}};
constexpr ClusterEvent kNodeEvent{
    EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable, {}};
constexpr ClusterEvent kClassEvent{EventResource::kDeviceClass, action::kAdd | action::kUpdate, {}};

struct HintRow {
  const char* why;
  Ref<const Pod> rejected;
  AnyObject before, after;
  QueueingHint hint;
};

class NodeResourcesFitHints : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const AnyObject nothing;

  Ref<const Object> node(const testing::Amounts& allocatable) {
    return Ref<const Node>(world.node("n").allocatable(allocatable));
  }
  Ref<const Object> device_class(std::string name, std::string_view extended) {
    auto object = make_ref<DeviceClass>(world.interner.hold());
    object->name = std::move(name);
    object->extended_resource_name = object->symbols.intern(extended);
    return object;
  }
  void check(const Plugin& plugin, const ClusterEvent& event, const std::vector<HintRow>& table) {
    for (const HintRow& row : table)
      EXPECT_EQ(fixture.hint(plugin, event, row.rejected, row.before, row.after), row.hint)
          << row.why;
  }
};

TEST_F(NodeResourcesFitHints, RegistersPodsNodesAndDeviceClasses) {
  EXPECT_EQ(registered_events(*fixture.make<NodeResourcesFit>()),
            (RegisteredEvents{{EventResource::kAssignedPod, 2},
                              {EventResource::kNode, 5},
                              {EventResource::kDeviceClass, 32765},
                              {EventResource::kAssignedPod, 1024},
                              {EventResource::kTargetPod, 1024}}));
  fixture.gates.emulate({"1.36", 36}, {"1.35", 35});  // today it is locked
  ASSERT_TRUE(fixture.gates.set("DRAExtendedResource=false").has_value());
  EXPECT_EQ(registered_events(*fixture.make<NodeResourcesFit>()),
            (RegisteredEvents{{EventResource::kAssignedPod, 2},
                              {EventResource::kNode, 5},
                              {EventResource::kAssignedPod, 1024},
                              {EventResource::kTargetPod, 1024}}));
}

TEST_F(NodeResourcesFitHints, ADeletedPodHelpsIfItHeldAPlace) {
  const Ref<const Pod> pod = world.pod("p").cpu("1");
  const Ref<const Pod> placed = world.pod("q").cpu("1").on("n");
  const Ref<const Pod> nominated = world.pod("q").cpu("1").nominated("n");
  const Ref<const Pod> pending = world.pod("q").cpu("1");
  check(*fixture.make<NodeResourcesFit>(), kDeleteEvent,
        {
            {"placed", pod, placed, nothing, QueueingHint::kQueue},
            {"nominated", pod, nominated, nothing, QueueingHint::kQueue},
            {"neither", pod, pending, nothing, QueueingHint::kSkip},
        });
}

TEST_F(NodeResourcesFitHints, AScaledDownPodHelpsIfItGivesBackWhatIsWanted) {
  const auto there = [&](const testing::Amounts& amounts) -> Ref<const Pod> {
    return world.pod("q").container(amounts).on("n");
  };
  const Ref<const Pod> wants_cpu = world.pod("p").cpu("1");
  const Ref<const Pod> wants_memory = world.pod("p").memory("1Gi");
  const Ref<const Pod> wants_storage = world.pod("p").request("ephemeral-storage", "1Gi");
  const Ref<const Pod> wants_gpu = world.pod("p").request("x.com/gpu", "1");
  const Ref<const Pod> wants_nothing = world.pod("p").cpu("0");
  const Ref<const Pod> unplaced_before = world.pod("q").cpu("2");
  const Ref<const Pod> unplaced_after = world.pod("q").cpu("1");
  const Ref<const Pod> pod_level_before = world.pod("q").cpu("1").pod_level({{"cpu", "4"}}).on("n");
  const Ref<const Pod> pod_level_after = world.pod("q").cpu("1").pod_level({{"cpu", "2"}}).on("n");
  check(*fixture.make<NodeResourcesFit>(), kScaleDownEvent,
        {
            {"an unassigned pod", wants_cpu, unplaced_before, unplaced_after, QueueingHint::kSkip},
            {"cpu", wants_cpu, there({{"cpu", "2"}}), there({{"cpu", "1"}}), QueueingHint::kQueue},
            {"more cpu", wants_cpu, there({{"cpu", "1"}}), there({{"cpu", "2"}}),
             QueueingHint::kSkip},
            {"something else", wants_cpu, there({{"cpu", "2"}, {"memory", "2Gi"}}),
             there({{"cpu", "2"}, {"memory", "1Gi"}}), QueueingHint::kSkip},
            {"memory", wants_memory, there({{"memory", "2Gi"}}), there({{"memory", "1Gi"}}),
             QueueingHint::kQueue},
            {"storage", wants_storage, there({{"ephemeral-storage", "2"}}),
             there({{"ephemeral-storage", "1"}}), QueueingHint::kQueue},
            {"a scalar", wants_gpu, there({{"x.com/gpu", "2"}}), there({{"x.com/gpu", "1"}}),
             QueueingHint::kQueue},
            {"another scalar", wants_gpu, there({{"x.com/fpga", "2"}}),
             there({{"x.com/fpga", "1"}}), QueueingHint::kSkip},
            {"wants nothing", wants_nothing, there({{"cpu", "2"}}), there({{"cpu", "1"}}),
             QueueingHint::kSkip},
            {"pod-level", wants_cpu, pod_level_before, pod_level_after, QueueingHint::kQueue},
        });
}

TEST_F(NodeResourcesFitHints, ASmallerRequestOfItsOwnHelpsThePod) {
  const Ref<const Pod> before = world.pod("p").cpu("2");
  const Ref<const Pod> after = world.pod("p").cpu("1");
  EXPECT_EQ(
      fixture.hint(*fixture.make<NodeResourcesFit>(), kOwnScaleDownEvent, after, before, after),
      QueueingHint::kQueue);
}

TEST_F(NodeResourcesFitHints, WithoutInPlaceScalingNoUpdateHelps) {
  fixture.gates.emulate({"1.34", 34}, {"1.33", 33});  // today it is locked
  ASSERT_TRUE(fixture.gates.set("InPlacePodVerticalScaling=false").has_value());
  EXPECT_EQ(registered_events(*fixture.make<NodeResourcesFit>()),
            (RegisteredEvents{{EventResource::kAssignedPod, 2}, {EventResource::kNode, 5}}));
}

TEST_F(NodeResourcesFitHints, ANodeHelpsIfThePodWouldFitItEmptyAndItGrew) {
  const Ref<const Pod> wants_cpu = world.pod("p").cpu("2");
  const Ref<const Pod> wants_gpu = world.pod("p").request("x.com/gpu", "2");
  const Ref<const Pod> wants_storage = world.pod("p").request("ephemeral-storage", "2");
  const Ref<const Pod> wants_nothing = world.pod("p");
  check(
      *fixture.make<NodeResourcesFit>(), kNodeEvent,
      {
          {"added, fits", wants_cpu, nothing, node({{"cpu", "2"}}), QueueingHint::kQueue},
          {"added, too small", wants_cpu, nothing, node({{"cpu", "1"}}), QueueingHint::kSkip},
          {"added, takes no pods", wants_nothing, nothing, node({{"pods", "0"}}),
           QueueingHint::kSkip},
          {"added, lacks the scalar", wants_gpu, nothing, node({}), QueueingHint::kSkip},
          {"grew", wants_cpu, node({{"cpu", "2"}}), node({{"cpu", "4"}}), QueueingHint::kQueue},
          {"grew, still too small", wants_cpu, node({{"cpu", "0"}}), node({{"cpu", "1"}}),
           QueueingHint::kSkip},
          {"shrank", wants_cpu, node({{"cpu", "4"}}), node({{"cpu", "2"}}), QueueingHint::kSkip},
          {"grew in something else", wants_cpu, node({{"memory", "1Gi"}}),
           node({{"memory", "2Gi"}}), QueueingHint::kSkip},
          {"takes more pods", wants_cpu, node({{"pods", "1"}}), node({{"pods", "2"}}),
           QueueingHint::kQueue},
          {"got the scalar", wants_gpu, node({}), node({{"x.com/gpu", "2"}}), QueueingHint::kQueue},
          {"storage grew", wants_storage, node({{"ephemeral-storage", "2"}}),
           node({{"ephemeral-storage", "3"}}), QueueingHint::kQueue},
          {"wants nothing: only the number of pods helps", wants_nothing, node({{"cpu", "2"}}),
           node({{"cpu", "4"}}), QueueingHint::kSkip},
          {"wants nothing, takes more pods", wants_nothing, node({{"pods", "1"}}),
           node({{"pods", "2"}}), QueueingHint::kQueue},
      });
}

TEST_F(NodeResourcesFitHints, ANodeHintDoesNotKnowIgnoredResources) {
  config::NodeResourcesFitArgs args;
  args.ignored_resources = {"x.com/gpu"};
  const auto plugin = fixture.make<NodeResourcesFit>(args);
  const Ref<const Pod> pod = world.pod("p").request("x.com/gpu", "1");
  EXPECT_EQ(fixture.hint(*plugin, kNodeEvent, pod, nothing, node({})), QueueingHint::kSkip);
}

TEST_F(NodeResourcesFitHints, ADeviceClassHelpsIfItBacksWhatIsWanted) {
  const Ref<const Pod> by_class =
      world.pod("p").request("deviceclass.resource.kubernetes.io/gpu", "1");
  const Ref<const Pod> by_name = world.pod("p").request("x.com/gpu", "1");
  const Ref<const Object> plain = device_class("gpu", "");
  const Ref<const Object> named = device_class("gpu", "x.com/gpu");
  const Ref<const Object> other = device_class("fpga", "x.com/fpga");
  check(*fixture.make<NodeResourcesFit>(), kClassEvent,
        {
            {"added, by the class's own name", by_class, nothing, plain, QueueingHint::kQueue},
            {"added, another class", by_class, nothing, other, QueueingHint::kSkip},
            {"added, by the stated name", by_name, nothing, named, QueueingHint::kQueue},
            {"added, another name", by_name, nothing, other, QueueingHint::kSkip},
            {"name stated later", by_name, plain, named, QueueingHint::kQueue},
            {"the same name as before", by_name, named, named, QueueingHint::kSkip},
            {"name withdrawn", by_name, named, plain, QueueingHint::kSkip},
            {"an update does not look at the class's own name", by_class, plain, named,
             QueueingHint::kSkip},
        });
}

TEST(NodeResourcesFitDeviceHints, ANodeMayHaveDevicesInsteadOfTheResource) {
  PluginFixture fixture;
  const Ref<const Pod> pod = fixture.world.pod("p").request("example.com/gpu", "1");
  const ClusterEvent registered{
      EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable, {}};
  const auto node = [&](const char* cpu) {
    const Ref<const Node> built = fixture.world.node("n").cpu(cpu);
    return AnyObject(Ref<const Object>(built));
  };
  const auto hint = [&](const AnyObject& before, const AnyObject& after) {
    return fixture.hint(*fixture.make<NodeResourcesFit>(), registered, pod, before, after);
  };
  EXPECT_EQ(hint({}, node("1")), QueueingHint::kSkip);
  EXPECT_EQ(hint(node("1"), node("2")), QueueingHint::kSkip);
  DeviceClass device_class(fixture.world.interner.hold());
  device_class.name = "gpus";
  device_class.extended_resource_name = device_class.symbols.intern("example.com/gpu");
  fixture.cluster.put(make_ref<DeviceClass>(device_class));
  EXPECT_EQ(hint({}, node("1")), QueueingHint::kQueue);
  EXPECT_EQ(hint(node("1"), node("2")), QueueingHint::kQueue);
}

}  // namespace
}  // namespace berth::plugins
