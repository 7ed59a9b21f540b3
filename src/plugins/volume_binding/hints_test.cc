// VolumeBinding: events, hints, signature (volumes-dra-gang.md §1.5, §3.9).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/volume_binding/testing/volume_fixture.h"

namespace berth::plugins {
namespace {

constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;
constexpr AnyObject kNothing;

struct VolumeBindingHints : ::testing::Test, VolumeFixture {
  template <typename Built>
  static AnyObject any(const Built& built) {
    return Ref<const Object>(built.build());
  }
  QueueingHint after(EventResource resource, std::uint32_t actions, const Ref<const Pod>& pod,
                     const AnyObject& before, const AnyObject& now) {
    return hint(plugin(), {resource, actions, {}}, pod, before, now);
  }
};

TEST_F(VolumeBindingHints, EventsInOrder) {
  EXPECT_THAT(registered_events(plugin()),
              ElementsAre(Pair(EventResource::kStorageClass, kAddOrUpdate),
                          Pair(EventResource::kPersistentVolumeClaim, kAddOrUpdate),
                          Pair(EventResource::kPersistentVolume, kAddOrUpdate),
                          Pair(EventResource::kNode, action::kAdd | action::kUpdateNodeLabel),
                          Pair(EventResource::kCSINode, kAddOrUpdate),
                          Pair(EventResource::kCSIDriver, action::kUpdate),
                          Pair(EventResource::kCSIStorageCapacity, kAddOrUpdate)));
  const auto registrations = plugin().events_to_register().value();
  EXPECT_FALSE(registrations[2].hint) << "any volume may help";
  EXPECT_FALSE(registrations[3].hint) << "any node may help";
}

TEST_F(VolumeBindingHints, AClassHelpsWhenItComesOrItsTopologiesChange) {
  const auto ask = [&](const AnyObject& before, const AnyObject& now) {
    return after(EventResource::kStorageClass, kAddOrUpdate, pod_with({"c"}), before, now);
  };
  const AnyObject plain = any(storage_class("x"));
  const AnyObject in_a = any(storage_class("x").topology("zone", {"a"}));
  EXPECT_EQ(ask(kNothing, plain), QueueingHint::kQueue);
  EXPECT_EQ(ask(plain, in_a), QueueingHint::kQueue);
  EXPECT_EQ(ask(in_a, any(storage_class("x").topology("zone", {"a"}).provisioner("other"))),
            QueueingHint::kSkip);
}

TEST_F(VolumeBindingHints, AClaimHelpsItsPod) {
  PodBuilder builder = world.pod("p");
  with_claim(builder, "data");
  with_ephemeral(builder, "scratch");
  const Ref<const Pod> pod = builder;
  const auto ask = [&](const ClaimBuilder& now) {
    return after(EventResource::kPersistentVolumeClaim, kAddOrUpdate, pod, kNothing, any(now));
  };
  EXPECT_EQ(ask(claim("data")), QueueingHint::kQueue);
  EXPECT_EQ(ask(claim("p-scratch")), QueueingHint::kQueue);
  EXPECT_EQ(ask(claim("scratch")), QueueingHint::kSkip);
  EXPECT_EQ(ask(claim("data").in("other")), QueueingHint::kSkip);
}

TEST_F(VolumeBindingHints, ACSINodeHelpsWhenItComesOrOtherPluginsAreMigrated) {
  const auto ask = [&](const AnyObject& before, const AnyObject& now) {
    return after(EventResource::kCSINode, kAddOrUpdate, pod_with({"c"}), before, now);
  };
  const auto with = [&](std::string plugins) {
    return AnyObject(Ref<const Object>(csi_node(world, "n", std::move(plugins))));
  };
  EXPECT_EQ(ask(kNothing, with("")), QueueingHint::kQueue);
  EXPECT_EQ(ask(with("a"), with("a,b")), QueueingHint::kQueue);
  EXPECT_EQ(ask(with("a"), with("a")), QueueingHint::kSkip);
}

TEST_F(VolumeBindingHints, ADriverHelpsInlineVolumesWhenItNoLongerCountsSpace) {
  PodBuilder builder = world.pod("p");
  Volume inline_volume;
  inline_volume.source = VolumeSource::kCsi;
  inline_volume.source_name = builder.symbol("d");
  builder.spec().volumes.push_back(inline_volume);
  const Ref<const Pod> inline_pod = builder;
  const auto driver = [&](std::string name, bool counts) {
    return AnyObject(Ref<const Object>(csi_driver(world, std::move(name), counts)));
  };
  const auto ask = [&](const Ref<const Pod>& pod, const AnyObject& before, const AnyObject& now) {
    return after(EventResource::kCSIDriver, action::kUpdate, pod, before, now);
  };
  EXPECT_EQ(ask(inline_pod, driver("d", true), driver("d", false)), QueueingHint::kQueue);
  EXPECT_EQ(ask(inline_pod, driver("d", false), driver("d", false)), QueueingHint::kSkip);
  EXPECT_EQ(ask(inline_pod, driver("d", false), driver("d", true)), QueueingHint::kSkip);
  EXPECT_EQ(ask(inline_pod, driver("e", true), driver("e", false)), QueueingHint::kSkip);
  EXPECT_EQ(ask(pod_with({"c"}), driver("d", true), driver("d", false)), QueueingHint::kSkip);
}

TEST_F(VolumeBindingHints, MoreSpaceHelps) {
  const auto ask = [&](const AnyObject& before, const AnyObject& now) {
    return after(EventResource::kCSIStorageCapacity, kAddOrUpdate, pod_with({"c"}), before, now);
  };
  const auto of = [&](const char* amount) { return any(capacity("x", "c").capacity(amount)); };
  const AnyObject unknown = any(capacity("x", "c"));
  EXPECT_EQ(ask(kNothing, unknown), QueueingHint::kQueue);
  EXPECT_EQ(ask(unknown, of("1")), QueueingHint::kQueue);
  EXPECT_EQ(ask(of("1Gi"), of("2Gi")), QueueingHint::kQueue);
  EXPECT_EQ(ask(of("2Gi"), of("2Gi")), QueueingHint::kSkip);
  EXPECT_EQ(ask(of("2Gi"), of("1Gi")), QueueingHint::kSkip);
  EXPECT_EQ(ask(of("2Gi"), unknown), QueueingHint::kSkip);
  EXPECT_EQ(ask(of("9Gi"), any(capacity("x", "c").capacity("9Gi").maximum("1Gi"))),
            QueueingHint::kSkip);
}

TEST_F(VolumeBindingHints, PodsWithTheSameVolumesAreAlike) {
  const auto signature = [&](const Ref<const Pod>& pod) {
    return berth::testing::signature(plugin(), pod, {"v1.Pod.Spec.Volumes.NonSyntheticSources()"});
  };
  EXPECT_EQ(signature(pod_with({"a", "b"})), signature(pod_with({"b", "a"})));
  EXPECT_NE(signature(pod_with({"a"})), signature(pod_with({"b"})));
  EXPECT_NE(signature(pod_with({"a"})), signature(pod_with({})));
}

}  // namespace
}  // namespace berth::plugins
