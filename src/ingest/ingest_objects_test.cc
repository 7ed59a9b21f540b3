// Objects other than nodes and pods, claims among them, and the gate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/devices.h"
#include "base/testing/names.h"
#include "ingest/testing/ingest_fixture.h"

namespace berth {
namespace {

// ---- other objects

TEST_F(IngestTest, OtherObjectsAreKeptAndToldToThoseWhoRegistered) {
  spy();
  auto volume = make_ref<Object>(ObjectKind::kPersistentVolume, q.world.interner.hold());
  volume->name = "pv1";
  const Ref<const Object> shared(volume.get());
  apply(DeltaType::kAdded, shared);
  EXPECT_EQ(cluster.find(ObjectKind::kPersistentVolume, "", "pv1"), shared);
  EXPECT_THAT(heard, ElementsAre("spy: PersistentVolumeAdd - > pv1"));
  apply(DeltaType::kDeleted, shared);
  EXPECT_EQ(cluster.find(ObjectKind::kPersistentVolume, "", "pv1"), nullptr);
  EXPECT_EQ(heard.back(), "spy: PersistentVolumeDelete pv1 > -");
}

TEST_F(IngestTest, AnObjectSeenAgainIsAnUpdate) {
  QueueWorld other;
  std::vector<std::string> names;
  other.registers(
      "Spy", {EventResource::kStorageClass, action::kUpdate, {}},
      [&](const Pod&, const AnyObject& before, const AnyObject& after) -> Result<QueueingHint> {
        names.push_back(name_of(before) + " > " + name_of(after));
        return QueueingHint::kQueue;
      });
  const Ref<const Pod> rejected = other.rejected("p", {"Spy"});
  ChangeGate open;
  WaitingPods nobody(other.loop);
  Ingest to_test(other.cluster, other.queue(), nobody, open, {}, other.log);
  for (int i = 0; i < 2; ++i) {
    auto storage = make_ref<Object>(ObjectKind::kStorageClass, other.world.interner.hold());
    storage->name = "fast";
    to_test.apply({DeltaType::kAdded, Ref<const Object>(storage.get())});
  }
  EXPECT_THAT(names, ElementsAre("fast > fast"));
  EXPECT_EQ(other.place(rejected), QueuePlace::kBackoff);
  EXPECT_EQ(other.log.entered.back(), "backoff p storage.k8s.io/StorageClassUpdate");
}

TEST_F(IngestTest, KindsThatNoPluginCanWaitForMoveNobody) {
  QueueWorld other;
  other.registers("Everything", {EventResource::kWildcard, action::kAll, {}});
  const Ref<const Pod> rejected = other.rejected("p", {"Everything"});
  ChangeGate open;
  WaitingPods nobody(other.loop);
  Ingest to_test(other.cluster, other.queue(), nobody, open, {}, other.log);
  auto service = make_ref<Object>(ObjectKind::kService, other.world.interner.hold());
  service->name = "web";
  to_test.apply({DeltaType::kAdded, Ref<const Object>(service.get())});
  EXPECT_NE(other.cluster.find(ObjectKind::kService, "", "web"), nullptr);
  EXPECT_EQ(other.place(rejected), QueuePlace::kUnschedulable);
}

// ---- device taint rules, which count as changes of the slices that they taint

struct TaintRuleEvents : IngestTest {
  void add_slice(const std::string& name, const std::string& driver) {
    auto slice = make_ref<ResourceSlice>(q.world.interner.hold());
    slice->name = name;
    slice->driver = slice->symbols.intern(driver);
    slice->pool.name = slice->symbols.intern("pool");
    slice->devices.resize(1);
    slice->devices[0].name = slice->symbols.intern("d");
    apply(DeltaType::kAdded, Ref<const Object>(slice.get()));
  }
  // Empty: of any driver.
  Ref<DeviceTaintRule> rule(const std::string& driver) {
    auto rule = make_ref<DeviceTaintRule>(q.world.interner.hold());
    rule->name = "rule";
    rule->selector.emplace();
    if (!driver.empty()) rule->selector->driver = rule->symbols.intern(driver);
    rule->taint.key = rule->symbols.intern("broken");
    rule->taint.effect = rule->symbols.intern("NoSchedule");
    return rule;
  }
  // The events that the change of the rule causes.
  std::vector<std::string> after(DeltaType type, const Ref<DeviceTaintRule>& changed) {
    heard.clear();
    apply(type, Ref<const Object>(changed.get()));
    return heard;
  }
};

TEST_F(TaintRuleEvents, UpdateTheSlicesWhoseTaintsChange) {
  spy();
  add_slice("a", "drv-a");
  add_slice("b", "drv-b");
  constexpr const char* kA = "spy: resource.k8s.io/ResourceSliceUpdate a > a";
  constexpr const char* kB = "spy: resource.k8s.io/ResourceSliceUpdate b > b";
  EXPECT_THAT(after(DeltaType::kAdded, rule("drv-a")), ElementsAre(kA));
  EXPECT_THAT(after(DeltaType::kUpdated, rule("drv-a")), IsEmpty());
  EXPECT_THAT(after(DeltaType::kUpdated, rule("drv-b")), UnorderedElementsAre(kA, kB));
  EXPECT_THAT(after(DeltaType::kUpdated, rule("")), ElementsAre(kA));
  const Ref<DeviceTaintRule> later = rule("");
  later->time_added = WallTime{};
  EXPECT_THAT(after(DeltaType::kUpdated, later), UnorderedElementsAre(kA, kB));
  const Ref<DeviceTaintRule> nothing = rule("");
  nothing->selector.reset();
  EXPECT_THAT(after(DeltaType::kUpdated, nothing), UnorderedElementsAre(kA, kB));
  EXPECT_THAT(after(DeltaType::kDeleted, nothing), IsEmpty());
  EXPECT_THAT(after(DeltaType::kAdded, rule("drv-b")), ElementsAre(kB));
  EXPECT_THAT(after(DeltaType::kDeleted, rule("drv-b")), ElementsAre(kB));
  EXPECT_EQ(cluster.find(ObjectKind::kDeviceTaintRule, "", "rule"), nullptr);
}

// ---- claims, of which the queue hears through the assume cache

struct ClaimEvents : IngestTest {
  // Named after its version.
  Ref<const Object> claim(const std::string& version) {
    auto object = make_ref<ResourceClaim>(q.world.interner.hold());
    object->namespace_name = object->symbols.intern("default");
    object->name = "c";
    object->resource_version = version;
    return object;
  }
};

TEST_F(ClaimEvents, TheWatchIsToldOnce) {
  spy();
  apply(DeltaType::kAdded, claim("1"));
  apply(DeltaType::kUpdated, claim("2"));
  apply(DeltaType::kDeleted, claim("3"));
  EXPECT_THAT(heard, ElementsAre("spy: resource.k8s.io/ResourceClaimAdd - > c",
                                 "spy: resource.k8s.io/ResourceClaimUpdate c > c",
                                 "spy: resource.k8s.io/ResourceClaimDelete c > -"));
}

TEST_F(ClaimEvents, OurOwnWriteIsToldBeforeTheWatchShowsIt) {
  spy();
  apply(DeltaType::kAdded, claim("1"));
  heard.clear();
  ASSERT_TRUE(cluster.assumed_claims().assume(claim("2")));
  EXPECT_THAT(heard, ElementsAre("spy: resource.k8s.io/ResourceClaimUpdate c > c"));
  apply(DeltaType::kUpdated, claim("2"));
  EXPECT_EQ(heard.size(), 1U) << "its echo is no news";
  EXPECT_EQ(cluster.find(ObjectKind::kResourceClaim, "default", "c")->resource_version, "2");
}

TEST_F(ClaimEvents, AWriteDuringACycleIsToldAfterIt) {
  spy();
  apply(DeltaType::kAdded, claim("1"));
  heard.clear();
  gate.close();
  ASSERT_TRUE(cluster.assumed_claims().assume(claim("2")));
  EXPECT_THAT(heard, IsEmpty());
  gate.open();
  EXPECT_THAT(heard, ElementsAre("spy: resource.k8s.io/ResourceClaimUpdate c > c"));
}

// ---- the gate

TEST_F(IngestTest, WhatComesDuringACycleIsAppliedInOrderWhenItCloses) {
  gate.close();
  shows(q.world.node("n1"));
  const Ref<const Pod> queued = shows(pod("p"));
  updates(pod("p", "2").on("n1"));
  EXPECT_EQ(cluster.nodes().node_count(), 0u);
  EXPECT_EQ(cluster.seen_count(), 0u);
  EXPECT_EQ(q.queue().sizes().active, 0u);
  gate.open();
  EXPECT_TRUE(has_node("n1"));
  EXPECT_EQ(cluster.row_of(queued->uid()), row("n1"));
  EXPECT_EQ(q.queue().sizes().active, 0u) << "it came and went";
  EXPECT_THAT(q.log.take(), ElementsAre("active p UnscheduledPodAdd"));
}

TEST_F(IngestTest, ADeltaWithoutAnObjectIsNothing) {
  apply(DeltaType::kAdded, {});
  EXPECT_EQ(cluster.seen_count(), 0u);
}

}  // namespace
}  // namespace berth
