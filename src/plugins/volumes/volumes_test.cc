#include "plugins/volumes/volumes.h"

#include <gtest/gtest.h>

#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

using testing::PluginFixture;
using testing::registered_events;
using enum VolumeSource;
using Events = std::vector<std::pair<EventResource, std::uint32_t>>;

constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;

class VolumesTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const std::unique_ptr<VolumeRestrictions> restrictions = fixture.make<VolumeRestrictions>();
  const std::unique_ptr<NodeVolumeLimits> limits = fixture.make<NodeVolumeLimits>();
  const std::unique_ptr<VolumeBinding> binding = fixture.make<VolumeBinding>();
  const std::unique_ptr<VolumeZone> zone = fixture.make<VolumeZone>();

  Ref<const Pod> pod(const std::vector<VolumeSource>& sources) {
    testing::PodBuilder builder = world.pod("p");
    for (const VolumeSource source : sources)
      builder.spec().volumes.push_back(
          {builder.symbol("data"), source, builder.symbol("x"), false});
    return builder;
  }

  // What PreFilter says, "" for Skip.
  std::string pre_filter(const VolumePlugin& plugin, const Ref<const Pod>& asked) {
    Cycle cycle(asked, fixture.cluster);
    const Outcome outcome = plugin.pre_filter(cycle).outcome;
    if (outcome.code == Code::kSkip) return "";
    EXPECT_EQ(outcome.code, Code::kUnschedulableAndUnresolvable);
    return outcome.message();
  }
};

TEST_F(VolumesTest, APodWithoutVolumesToJudgePasses) {
  const Ref<const Pod> fine[] = {world.pod("p"), pod({kConfigMap, kSecret, kOther, kImage, kCsi})};
  for (const Ref<const Pod>& one : fine)
    for (const VolumePlugin* plugin : std::initializer_list<const VolumePlugin*>{
             restrictions.get(), limits.get(), binding.get(), zone.get()})
      EXPECT_EQ(pre_filter(*plugin, one), "") << plugin->name();
}

TEST_F(VolumesTest, APodWithAVolumeToJudgeIsToldThatItCannotBe) {
  struct Row {
    VolumeSource source;
    bool restrictions, limits, binding, zone;
  };
  const Row table[] = {
      {kPersistentVolumeClaim, true, true, true, true},
      {kEphemeral, false, true, true, false},
      {kGcePersistentDisk, true, true, false, false},
      {kAwsElasticBlockStore, true, true, false, false},
      {kRbd, true, false, false, false},
      {kIscsi, true, false, false, false},
      {kCinder, false, true, false, false},
      {kAzureDisk, false, true, false, false},
      {kAzureFile, false, true, false, false},
      {kVsphereVolume, false, true, false, false},
      {kPortworxVolume, false, true, false, false},
  };
  const auto told = [](bool judged, const char* by) {
    return judged ? "volume \"data\" cannot be judged by " + std::string(by) + " yet" : "";
  };
  for (const Row& row : table) {
    const Ref<const Pod> one = pod({kSecret, row.source});
    const int source = static_cast<int>(row.source);
    EXPECT_EQ(pre_filter(*restrictions, one), told(row.restrictions, "VolumeRestrictions"))
        << source;
    EXPECT_EQ(pre_filter(*limits, one), told(row.limits, "NodeVolumeLimits")) << source;
    EXPECT_EQ(pre_filter(*binding, one), told(row.binding, "VolumeBinding")) << source;
    EXPECT_EQ(pre_filter(*zone, one), told(row.zone, "VolumeZone")) << source;
  }
}

TEST_F(VolumesTest, CapacityIsScoredOnlyWithTheGate) {
  fixture.add_node(world.node("n"));
  EXPECT_EQ(fixture.score(*binding, world.pod("p")), std::nullopt);
  ASSERT_TRUE(fixture.gates.set("StorageCapacityScoring=true").has_value());
  EXPECT_EQ(fixture.score(*fixture.make<VolumeBinding>(), world.pod("p")),
            (std::map<std::string, Score>{{"n", 0}}));
}

TEST_F(VolumesTest, APodWithoutClaimsHasNothingToBind) {
  Cycle cycle(world.pod("p"), fixture.cluster);
  EXPECT_TRUE(binding->reserve(cycle, "n").ok());
  const PreBindPreFlight flight = binding->pre_bind_pre_flight(cycle, "n");
  EXPECT_EQ(flight.outcome.code, Code::kSkip);
  EXPECT_TRUE(flight.allow_parallel);
  binding->unreserve(cycle, "n");
}

TEST_F(VolumesTest, ArgumentsOfAnotherPluginAreAnError) {
  const auto made = VolumeBinding::create(config::NodeResourcesFitArgs{}, fixture.handle());
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message,
            "want args to be of type VolumeBindingArgs, got *config.NodeResourcesFitArgs");
}

TEST_F(VolumesTest, EachRegistersForWhatMattersToIt) {
  using enum EventResource;
  EXPECT_EQ(registered_events(*restrictions),
            (Events{{kPod, 2}, {kNode, 1}, {EventResource::kPersistentVolumeClaim, 1}}));
  EXPECT_EQ(registered_events(*limits), (Events{{kCSINode, 1},
                                                {kCSINode, action::kUpdate},
                                                {kPod, 2},
                                                {EventResource::kPersistentVolumeClaim, 1},
                                                {kVolumeAttachment, 2}}));
  EXPECT_EQ(registered_events(*binding),
            (Events{{kStorageClass, kAddOrUpdate},
                    {EventResource::kPersistentVolumeClaim, kAddOrUpdate},
                    {kPersistentVolume, kAddOrUpdate},
                    {kNode, 9},
                    {kCSINode, kAddOrUpdate},
                    {kCSIDriver, action::kUpdate},
                    {kCSIStorageCapacity, kAddOrUpdate}}));
  EXPECT_EQ(registered_events(*zone), (Events{{kStorageClass, 1},
                                              {kNode, 9},
                                              {EventResource::kPersistentVolumeClaim, kAddOrUpdate},
                                              {kPersistentVolume, kAddOrUpdate}}));
}

TEST_F(VolumesTest, SignsSourcesButNotConfigMapsAndSecrets) {
  const auto signature = [&](const Ref<const Pod>& asked) {
    std::vector<SignatureFragment> fragments;
    EXPECT_TRUE(zone->sign(*asked, fragments).ok());
    EXPECT_EQ(fragments.size(), 1u);
    EXPECT_EQ(fragments[0].key, "v1.Pod.Spec.Volumes.NonSyntheticSources()");
    return fragments[0].value;
  };
  EXPECT_EQ(signature(pod({kConfigMap, kSecret})), signature(world.pod("p")));
  EXPECT_EQ(signature(pod({kOther, kCsi})), signature(pod({kCsi, kOther})));
  EXPECT_NE(signature(pod({kCsi})), signature(world.pod("p")));
  EXPECT_NE(signature(pod({kCsi})), signature(pod({kIscsi})));
}

}  // namespace
}  // namespace berth::plugins
