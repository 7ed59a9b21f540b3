#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/devices_fixture.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

constexpr ClusterEvent kClaimChange{
    EventResource::kResourceClaim, action::kAdd | action::kUpdate | action::kDelete, {}};
constexpr ClusterEvent kPodChange{
    EventResource::kTargetPod, action::kUpdatePodGeneratedResourceClaim, {}};

TEST(DynamicResourcesHints, RegistersForNodesClaimsClassesAndSlices) {
  using enum EventResource;
  DevicesFixture fixture;
  EXPECT_EQ(registered_events(fixture.plugin()), (RegisteredEvents{{kNode, 13},
                                                                   {kResourceClaim, 32767},
                                                                   {kTargetPod, 16384},
                                                                   {kDeviceClass, 32765},
                                                                   {kResourceSlice, 32765}}));
}

TEST(DynamicResourcesHints, AChangedClaimHelpsWhoUsesItOrWaitsForDevices) {
  struct Case {
    const char* name;
    std::string before, after;  // status of the claim; "-": it is not there
    std::string claim;          // which changes
    std::vector<std::string> others;
    QueueingHint hint;
  };
  using enum QueueingHint;
  const std::string allocated = allocation("d1", "n1");
  const std::string reserved = allocated + ", " + reserved_for({"q"});
  const std::vector<Case> cases = {
      {"created", "-", "", "c", {}, kQueue},
      {"somebody's, created", "-", "", "x", {"c"}, kSkip},
      {"created, another is missing", "-", "", "c", {"-c2"}, kSkip},
      {"status changed", allocated, reserved, "c", {}, kQueue},
      {"somebody's status changed", allocated, reserved, "x", {"c"}, kSkip},
      {"nothing that matters", allocated, allocated, "c", {}, kSkip},
      {"deallocated", allocated, "", "c", {}, kQueue},
      {"somebody's, deallocated", allocated, "", "x", {"c"}, kQueue},
      {"somebody's, deallocated, ours is missing", allocated, "", "x", {}, kSkip},
      {"deleted", "", "-", "c", {}, kSkip},
      {"somebody's, deleted while it was allocated", allocated, "-", "x", {"c"}, kQueue},
      {"deleted, nobody knows how it was", "-", "-", "c", {}, kQueue},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    DevicesFixture fixture;
    std::vector<std::string_view> uses{"c"};
    for (const std::string& other : row.others)
      if (other.starts_with("-"))
        uses.push_back(std::string_view(other).substr(1));
      else
        fixture.add(claim_of(other, exact("r")));
    const auto object = [&](const std::string& status) -> AnyObject {
      if (status == "-") return {};
      return object_of(fixture.world, claim_of(row.claim, exact("r"), {.status = status}));
    };
    const AnyObject before = object(row.before), after = object(row.after);
    if (row.after != "-") fixture.add(claim_of(row.claim, exact("r"), {.status = row.after}));
    PodBuilder pod = fixture.pod("p");
    for (const std::string_view claim : uses)
      pod.spec().resource_claims.push_back({pod.symbol(claim), pod.symbol(claim), {}});
    EXPECT_EQ(fixture.base.hint(fixture.plugin(), kClaimChange, pod, before, after), row.hint);
  }
}

TEST(DynamicResourcesHints, APodIsHelpedByItsGeneratedClaims) {
  DevicesFixture fixture;
  const auto pod = [&](const std::string& uid, const std::string& statuses) {
    return pod_of(
        fixture.world,
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: " + uid +
            "}, spec: {containers: [{name: c}], resourceClaims: [{name: gpu, "
            "resourceClaimTemplateName: t}]}, status: {resourceClaimStatuses: [" +
            statuses + "]}}");
  };
  const Ref<const Pod> before = pod("u", "");
  const auto hint = [&](const Ref<const Pod>& after) {
    return fixture.base.hint(fixture.plugin(), kPodChange, before, before, after);
  };
  const Ref<const Pod> named = pod("u", "{name: gpu, resourceClaimName: c}");
  EXPECT_EQ(hint(named), QueueingHint::kSkip) << "the claim has not been seen yet";
  fixture.add(claim_of("c", exact("r"),
                       {.metadata = "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: "
                                    "u, controller: true}]"}));
  EXPECT_EQ(hint(named), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod("other", "{name: gpu, resourceClaimName: c}")), QueueingHint::kSkip)
      << "the claim is of another pod";
  EXPECT_EQ(hint(pod("u", "{name: gpu}")), QueueingHint::kQueue) << "none is needed";
}

TEST(DynamicResourcesHints, OtherObjectsAreErrors) {
  DevicesFixture fixture;
  const Ref<const Pod> pod = fixture.pod("p");
  const std::vector<EventRegistration> registrations =
      fixture.plugin().events_to_register().value();
  for (const EventRegistration& registration : registrations) {
    if (!registration.hint) continue;
    const bool of_pod = registration.event.resource == EventResource::kTargetPod;
    const AnyObject wrong = of_pod ? object_of(fixture.world, claim_of("c", "")) : AnyObject(pod);
    const Result<QueueingHint> answer = registration.hint(*pod, {}, wrong);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().message,
              of_pod ? "unexpected object in isSchedulableAfterTargetPodUpdate: expected *v1.Pod, "
                       "but got *v1.ResourceClaim"
                     : "unexpected object in isSchedulableAfterClaimChange: expected "
                       "*v1.ResourceClaim, but got *v1.Pod");
  }
}

}  // namespace
}  // namespace berth::plugins
