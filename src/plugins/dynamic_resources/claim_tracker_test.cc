#include "plugins/dynamic_resources/claim_tracker.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/dynamic_resources/testing/devices_fixture.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

class ClaimTrackerTest : public ::testing::Test {
 protected:
  DevicesFixture fixture;

  Ref<const ResourceClaim> claim(const std::string& name, const std::string& status,
                                 const std::string& version = "1") {
    return object_of<ResourceClaim>(
        fixture.world,
        claim_of(name, exact("r"),
                 {.metadata = "resourceVersion: '" + version + "'", .status = status}));
  }
  void shows(const Ref<const ResourceClaim>& seen) { fixture.cluster.put(seen); }
  ClaimTracker& tracker() {
    fixture.plugin();
    return fixture.tracker();
  }
};

TEST_F(ClaimTrackerTest, FindsTheNewestOfAClaim) {
  shows(claim("c", ""));
  EXPECT_FALSE(tracker().find("default", "c").value()->allocated());
  ASSERT_TRUE(tracker().assume(claim("c", allocation("d1", "n1"), "2")).has_value());
  EXPECT_TRUE(tracker().find("default", "c").value()->allocated());
  tracker().restore(*claim("c", ""));
  EXPECT_FALSE(tracker().find("default", "c").value()->allocated());
  EXPECT_EQ(tracker().find("default", "x").error().message,
            "could not find ResourceClaim \"default/x\"");
}

TEST_F(ClaimTrackerTest, ToldApartWhyAClaimCannotBeAssumed) {
  EXPECT_EQ(tracker().assume(claim("c", "")).error().kind, ErrorKind::kNotFound);
  shows(claim("c", "", "5"));
  EXPECT_NE(tracker().assume(claim("c", "", "4")).error().kind, ErrorKind::kNotFound);
}

TEST_F(ClaimTrackerTest, DevicesAreTakenAsLongAsAnyoneKnowsOfTheAllocation) {
  const std::string free_text = "", d1 = "d1";
  shows(claim("c", ""));
  const Ref<const ResourceClaim> allocated = claim("c", allocation("d1", "n1"), "2");
  EXPECT_EQ(fixture.taken(), free_text);
  ASSERT_TRUE(tracker().begin_pending(allocated));
  EXPECT_EQ(fixture.taken(), d1);
  ASSERT_TRUE(tracker().assume(allocated).has_value());
  EXPECT_EQ(fixture.taken(), d1);
  EXPECT_TRUE(tracker().end_pending("c"));
  EXPECT_EQ(fixture.taken(), d1) << "assumed";
  shows(allocated);
  EXPECT_EQ(fixture.taken(), d1) << "the watch's echo";
  shows(claim("c", allocation("d1", "n1") + ", " + reserved_for({"p"}), "3"));
  EXPECT_EQ(fixture.taken(), d1);
  shows(claim("c", "", "4"));
  EXPECT_EQ(fixture.taken(), free_text);
}

TEST_F(ClaimTrackerTest, AnAllocationUnderTwoUidsCountsOnce) {
  // A claim that was in memory under one uid, and is created under another.
  tracker().hold_pending(claim("in-memory", allocation("d1", "n1")));
  shows(claim("created", allocation("d1", "n1"), "2"));
  EXPECT_TRUE(tracker().end_pending("in-memory"));
  EXPECT_EQ(fixture.taken(), "d1");
  fixture.cluster.remove(ObjectKind::kResourceClaim, "default", "created");
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(ClaimTrackerTest, KnowsWhatWasThereBeforeIt) {
  shows(claim("c", allocation("d2", "n1")));
  EXPECT_EQ(fixture.taken(), "d2");
  // Deleted and made anew between two looks, with another device.
  shows(claim("c", allocation("d3", "n1"), "7"));
  EXPECT_EQ(fixture.taken(), "d3");
}

TEST_F(ClaimTrackerTest, DevicesForAdminAccessAreNotTaken) {
  shows(claim("c", allocation("d1", "n1", "adminAccess: true")));
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(ClaimTrackerTest, SharesOfADeviceAddUp) {
  const auto share = [](const std::string& id, const std::string& memory) {
    return allocation("d1", "n1",
                      "shareID: " + id + ", consumedCapacity: {memory: " + memory + "}");
  };
  SymbolHold hold(fixture.world.interner.symbols());
  const DeviceId device{hold.intern("drv"), hold.intern("pool"), hold.intern("d1")};
  const auto consumed = [&] {
    const ResourceList* amounts = tracker().allocated().consumed(device);
    return amounts ? amounts->find(hold.intern("memory"))->to_string() : "nothing";
  };
  shows(claim("a", share("a1a1a1a1-0000-4000-8000-000000000001", "1Gi")));
  tracker().hold_pending(claim("b", share("a1a1a1a1-0000-4000-8000-000000000002", "2Gi")));
  EXPECT_EQ(consumed(), "3Gi");
  EXPECT_FALSE(tracker().allocated().exclusive(device));
  shows(claim("b", share("a1a1a1a1-0000-4000-8000-000000000002", "2Gi"), "2"));
  EXPECT_EQ(consumed(), "3Gi") << "known twice, counted once";
  tracker().end_pending("b");
  EXPECT_EQ(consumed(), "3Gi");
  fixture.cluster.remove(ObjectKind::kResourceClaim, "default", "b");
  EXPECT_EQ(consumed(), "1Gi");
}

TEST_F(ClaimTrackerTest, APendingAllocationEndsWithTheLastWhoSharesIt) {
  shows(claim("c", ""));
  EXPECT_EQ(tracker().pending("c"), nullptr);
  ASSERT_TRUE(tracker().begin_pending(claim("c", allocation("d1", "n1"))));
  ASSERT_TRUE(tracker().begin_pending(claim("c", allocation("d2", "n1"))));
  EXPECT_EQ(fixture.taken(), "d1") << "the first allocation counts";
  ASSERT_NE(tracker().pending("c"), nullptr);
  EXPECT_EQ(tracker().pending("c")->results.size(), 1U);
  EXPECT_FALSE(tracker().end_pending("c"));
  EXPECT_EQ(tracker().pending_count(), 1U);
  EXPECT_TRUE(tracker().end_pending("c"));
  EXPECT_FALSE(tracker().end_pending("c"));
  EXPECT_EQ(fixture.taken(), "");

  ASSERT_TRUE(tracker().begin_pending(claim("c", allocation("d1", "n1"))));
  ASSERT_TRUE(tracker().begin_pending(claim("c", allocation("d1", "n1"))));
  EXPECT_TRUE(tracker().end_pending("c", /*force=*/true));
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(ClaimTrackerTest, AnAllocationIsPendingOnlyForAClaimThatIsThereWithoutOne) {
  const Ref<const ResourceClaim> allocated = claim("c", allocation("d1", "n1"), "2");
  EXPECT_EQ(tracker().begin_pending(allocated).error().message,
            "look up assumed claim default/c, UID=c: could not find ResourceClaim \"default/c\"");
  EXPECT_EQ(tracker().pending_count(), 0U);

  shows(claim("c", allocation("d2", "n1"), "3"));
  EXPECT_TRUE(tracker().begin_pending(allocated));
  EXPECT_EQ(tracker().pending_count(), 0U);
  EXPECT_EQ(fixture.taken(), "d2");
}

TEST_F(ClaimTrackerTest, RemembersWhatTheTrackerOfAnEqualClusterDoes) {
  shows(claim("c", ""));
  AssumeCache claims("ResourceClaim");
  claims.put(claim("c", ""));
  ClaimTracker copied(claims, true);
  ASSERT_TRUE(tracker().begin_pending(claim("c", allocation("d1", "n1"), "2")));
  copied.remember_as(tracker());
  copied.remember_as(tracker());
  SymbolHold hold(fixture.world.interner.symbols());
  const DeviceId device{hold.intern("drv"), hold.intern("pool"), hold.intern("d1")};
  EXPECT_TRUE(copied.allocated().exclusive(device));
  EXPECT_NE(copied.pending("c"), nullptr);
  tracker().end_pending("c");
  copied.remember_as(tracker());
  EXPECT_FALSE(copied.allocated().exclusive(device));
  EXPECT_EQ(copied.pending("c"), nullptr);
}

TEST_F(ClaimTrackerTest, WhatIsReservedForAPodIsForgottenForAWhile) {
  shows(claim("c", ""));
  shows(claim("d", ""));
  ASSERT_TRUE(tracker().begin_pending(claim("c", allocation("d1", "n1"), "2")));
  ASSERT_TRUE(tracker().begin_pending(claim("d", allocation("d2", "n1"), "2")));
  const Ref<const Pod> pod = fixture.pod("p", {"c"});
  Callback remember = fixture.plugin().forget(*pod);
  EXPECT_EQ(fixture.taken(), "d2");
  remember();
  EXPECT_EQ(fixture.taken(), "d1 d2");
  EXPECT_NE(tracker().pending("c"), nullptr);
}

TEST_F(ClaimTrackerTest, AReservationThatIsTakenBackDoesNotCount) {
  const std::string reserved = allocation("d1", "n1") + ", " + reserved_for({"p", "q"});
  const Ref<const ResourceClaim> seen = claim("c", reserved);
  shows(seen);
  EXPECT_TRUE(tracker().is_reserved(*seen, "p"));
  EXPECT_FALSE(tracker().is_reserved(*seen, "r"));
  tracker().take_back(*seen, "p");
  EXPECT_FALSE(tracker().is_reserved(*seen, "p"));
  EXPECT_TRUE(tracker().is_reserved(*seen, "q"));
  shows(claim("c", reserved, "2"));
  EXPECT_FALSE(tracker().is_reserved(*seen, "p")) << "the watch is behind";
  shows(claim("c", allocation("d1", "n1") + ", " + reserved_for({"q"}), "3"));
  shows(claim("c", reserved, "4"));
  EXPECT_TRUE(tracker().is_reserved(*seen, "p")) << "it happened, and somebody reserved it anew";
  tracker().take_back(*seen, "p");
  tracker().reserved(*seen, "p");
  EXPECT_TRUE(tracker().is_reserved(*seen, "p")) << "we have";
}

TEST_F(ClaimTrackerTest, FindsTheClaimForAPodsExtendedResources) {
  const auto made_for = [&](const std::string& name, const std::string& annotation,
                            const std::string& owner, const std::string& uid) {
    fixture.cluster.put(object_of<ResourceClaim>(
        fixture.world,
        claim_of(name, "",
                 {.metadata = "annotations: {resource.kubernetes.io/"
                              "extended-resource-claim: '" +
                              annotation +
                              "'}, ownerReferences: [{apiVersion: v1, kind: Pod, name: " + owner +
                              ", uid: " + uid + ", controller: true}]"})));
  };
  const Ref<const Pod> pod = fixture.pod("p");
  made_for("a", "false", "p", "p");
  made_for("b", "true", "other", "other");
  EXPECT_EQ(tracker().extended_resource_claim_of(*pod), nullptr);
  made_for("c", "true", "namesake", "p");
  EXPECT_EQ(tracker().extended_resource_claim_of(*pod), nullptr);
  fixture.cluster.remove(ObjectKind::kResourceClaim, "default", "c");
  made_for("d", "true", "p", "p");
  ASSERT_NE(tracker().extended_resource_claim_of(*pod), nullptr);
  EXPECT_EQ(tracker().extended_resource_claim_of(*pod)->name, "d");
  fixture.cluster.remove(ObjectKind::kResourceClaim, "default", "d");
  EXPECT_EQ(tracker().extended_resource_claim_of(*pod), nullptr);
}

}  // namespace
}  // namespace berth::plugins
