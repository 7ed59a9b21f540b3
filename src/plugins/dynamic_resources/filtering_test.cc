// DynamicResources: PreEnqueue, PreFilter, Filter and Score.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/devices_fixture.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

constexpr const char* kNone = "cannot allocate all claims";

// A device for one pod on n1, one on n2.
void add_one_each(DevicesFixture& fixture) {
  fixture.add(slice("s1", on("n1"), "{name: d1}"));
  fixture.add(slice("s2", on("n2"), "{name: d2}", {.pool = "pool2"}));
}

// ---- which claims a pod has

struct ResolveCase {
  const char* name;
  std::vector<std::string> objects;
  std::string entry;   // of spec.resourceClaims
  std::string status;  // resourceClaimStatuses
  std::string answer;  // of PreEnqueue and PreFilter
};

TEST(DynamicResources, TurnsAPodAwayUntilItsClaimsAreThere) {
  const std::string owner =
      "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]";
  const std::string from_template = "{name: gpu, resourceClaimTemplateName: t}";
  const std::vector<ResolveCase> cases = {
      {"there", {claim_of("c", exact("r"))}, "{name: gpu, resourceClaimName: c}", "", "ok"},
      {"missing",
       {},
       "{name: gpu, resourceClaimName: c}",
       "",
       "could not find ResourceClaim \"default/c\""},
      {"being deleted",
       {claim_of("c", exact("r"), {.metadata = "deletionTimestamp: '2026-01-01T00:00:00Z'"})},
       "{name: gpu, resourceClaimName: c}",
       "",
       "resourceclaim \"c\" is being deleted"},
      {"somebody else's, by name",
       {claim_of("c", exact("r"))},
       "{name: gpu, resourceClaimName: c}",
       "",
       "ok"},
      {"not generated yet",
       {},
       from_template,
       "",
       "pod \"default/p\": ResourceClaim not created yet"},
      {"another entry's is",
       {claim_of("c", exact("r"), {.metadata = owner})},
       from_template,
       "{name: nic, resourceClaimName: c}",
       "pod \"default/p\": ResourceClaim not created yet"},
      {"generated",
       {claim_of("c", exact("r"), {.metadata = owner})},
       from_template,
       "{name: gpu, resourceClaimName: c}",
       "ok"},
      {"generated, but not seen yet",
       {},
       from_template,
       "{name: gpu, resourceClaimName: c}",
       "could not find ResourceClaim \"default/c\""},
      {"generated for somebody else",
       {claim_of("c", exact("r"))},
       from_template,
       "{name: gpu, resourceClaimName: c}",
       "ResourceClaim default/c was not created for Pod default/p (Pod is not owner)"},
      {"none was needed", {}, from_template, "{name: gpu}", "skip"},
      {"of no known kind",
       {},
       "{name: gpu}",
       "",
       "pod \"default/p\", spec.resourceClaim \"gpu\": none of the supported fields are set"},
  };
  for (const ResolveCase& row : cases) {
    SCOPED_TRACE(row.name);
    DevicesFixture fixture;
    for (const std::string& object : row.objects) fixture.add(object);
    const Ref<const Pod> pod =
        pod_of(fixture.world,
               "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, spec: "
               "{containers: [{name: c}], resourceClaims: [" +
                   row.entry + "]}, status: {resourceClaimStatuses: [" + row.status + "]}}");
    EXPECT_EQ(Attempt(fixture, pod).pre_filter(), row.answer);
    EXPECT_EQ(Attempt::text(fixture.plugin().pre_enqueue(*pod)),
              row.answer == "skip" ? "ok" : row.answer);
  }
}

// ---- PreFilter

TEST(DynamicResources, APodWithoutClaimsPasses) {
  DevicesFixture fixture;
  const Ref<const Pod> pod = fixture.pod("p").request("example.com/gpu", "1");
  EXPECT_EQ(Attempt::text(fixture.plugin().pre_enqueue(*pod)), "ok");
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.pre_filter(), "skip");
  EXPECT_EQ(attempt.scores(), "n1 0, n2 0");
  EXPECT_EQ(attempt.reserve("n1"), "ok");
  attempt.unreserve("n1");
  const PreBindPreFlight flight = fixture.plugin().pre_bind_pre_flight(attempt.cycle, "n1");
  EXPECT_EQ(flight.outcome.code, Code::kSkip);
  EXPECT_TRUE(flight.allow_parallel);
  EXPECT_TRUE(fixture.server.take_calls().empty());
}

TEST(DynamicResources, EveryClassThatIsAskedForMustBeThere) {
  const std::vector<std::array<std::string, 2>> cases = {
      {exact("r", 1, "deviceClassName: x"), "request r: device class x does not exist"},
      {exact("a") + ", " + exact("r", 1, "deviceClassName: x"),
       "request r: device class x does not exist"},
      {"{name: r, exactly: {allocationMode: ExactCount, count: 1}}",
       "Error: request r: unsupported request type"},
      {first_available("r", sub("a") + ", " + sub("b", 1, "deviceClassName: x")),
       "request r/b: device class x does not exist"},
      {"{name: r}", "resource claim default/c, request r: unknown request type"},
      {exact("r"), "ok"},
  };
  for (const auto& [requests, answer] : cases) {
    SCOPED_TRACE(requests);
    DevicesFixture fixture;
    fixture.add(claim_of("c", requests));
    Attempt attempt(fixture, fixture.pod("p", {"c"}));
    EXPECT_EQ(attempt.pre_filter(), answer);
    // What it has been turned away with leaves nothing to release.
    if (answer == "ok") continue;
    EXPECT_EQ(attempt.post_filter(), "Unschedulable: ");
  }
  DevicesFixture fixture;
  fixture.gates.emulate({"1.36", 36}, {"1.35", 35});  // today it is locked
  ASSERT_TRUE(fixture.gates.set("DRAPrioritizedList=false").has_value());
  fixture.add(claim_of("c", first_available("r", sub("a"))));
  EXPECT_EQ(Attempt(fixture, fixture.pod("p", {"c"})).pre_filter(),
            "resource claim default/c, request r: has subrequests, but the DRAPrioritizedList "
            "feature is disabled");
}

TEST(DynamicResources, AnAllocationWithABrokenNodeSelectorIsAnError) {
  DevicesFixture fixture;
  fixture.add(claim_of(
      "c", exact("r"),
      {.status = "allocation: {devices: {results: []}, nodeSelector: {nodeSelectorTerms: "
                 "[{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}]}}"}));
  EXPECT_EQ(Attempt(fixture, fixture.pod("p", {"c"})).pre_filter(),
            "Error: nodeSelectorTerms[0].matchFields[0].values: Invalid value: [\"a\",\"b\"]: must "
            "have one element");
}

TEST(DynamicResources, AClaimThatIsBeingAllocatedIsWaitedFor) {
  DevicesFixture fixture;
  add_one_each(fixture);
  fixture.add(claim_of("c", exact("r")));
  Attempt first(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  EXPECT_EQ(Attempt(fixture, fixture.pod("q", {"c"})).pre_filter(),
            "resource claim default/c is in the process of being allocated");
  EXPECT_EQ(first.pre_bind("n1"), "ok");
  Attempt second(fixture, fixture.pod("q", {"c"}));
  EXPECT_EQ(second.pre_filter(), "ok");
  EXPECT_EQ(second.filter(), "n1 ok, n2 resourceclaim not available on the node");
}

// ---- Filter

TEST(DynamicResources, WhatNodesAreToLeaveOutNeedsNodesThatCan) {
  DevicesFixture fixture;
  fixture.cluster.update_node(
      fixture.world.node("n2").feature("Other").feature("DRAOptionalNodeOperations"));
  fixture.add(
      claim_of("c", exact("r"),
               {.status = allocation("d1", "", "skipNodeOperations: [NodePrepareResources]")}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter(), "n1 resourceclaim not available on the node, n2 ok");
}

TEST(DynamicResources, NodesAreJudgedByTheirDevices) {
  struct Case {
    const char* name;
    std::vector<std::string> objects;
    std::string answer;
  };
  const std::string none_on_2 = std::string("n1 ok, n2 ") + kNone;
  const std::string elsewhere = "resourceclaim not available on the node";
  const std::vector<Case> cases = {
      {"one device", {slice("s", on("n1"), "{name: d1}"), claim_of("c", exact("r"))}, none_on_2},
      {"two of one",
       {slice("s", on("n1"), "{name: d1}"), claim_of("c", exact("r", 2))},
       std::string("n1 ") + kNone + ", n2 " + kNone},
      {"for all nodes",
       {slice("s", "allNodes: true", "{name: d1}"), claim_of("c", exact("r"))},
       "n1 ok, n2 ok"},
      {"somebody has it",
       {slice("s", on("n1"), "{name: d1}"), claim_of("c", exact("r")),
        claim_of("other", exact("r"), {.status = allocation("d1", "n1")})},
       std::string("n1 ") + kNone + ", n2 " + kNone},
      {"somebody administrates it",
       {slice("s", on("n1"), "{name: d1}"), claim_of("c", exact("r")),
        claim_of("other", exact("r"), {.status = allocation("d1", "n1", "adminAccess: true")})},
       none_on_2},
      {"allocated before",
       {claim_of("c", exact("r"), {.status = allocation("d1", "n2")})},
       "n1 " + elsewhere + ", n2 ok"},
      {"allocated before, for everywhere",
       {claim_of("c", exact("r"), {.status = allocation("d1", "")})},
       "n1 ok, n2 ok"},
      {"allocated before, with something that nodes are to leave out",
       {claim_of("c", exact("r"), {.status = allocation("d1", "", "skipNodeOperations: [\"*\"]")})},
       "n1 " + elsewhere + ", n2 " + elsewhere},
      {"a pool that is not valid",
       {slice("s", on("n1"), "{name: d1}, {name: d1}"), claim_of("c", exact("r"))},
       std::string("n1 invalid resource pools were encountered, n2 ") + kNone},
      {"an error ends it",
       {slice("s", on("n1"), "{name: d1}"), claim_of("c", exact("r", 33))},
       "n1 Error: claim default/c, request r: adding 33 devices exceeds the claim limit of 32, "
       "with 0 already accounted for, n2 ok"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    DevicesFixture fixture;
    for (const std::string& object : row.objects) fixture.add(object);
    Attempt attempt(fixture, fixture.pod("p", {"c"}));
    EXPECT_EQ(attempt.pre_filter(), "ok");
    EXPECT_EQ(attempt.filter(), row.answer);
  }
}

TEST(DynamicResources, AllClaimsOfAPodMustFitTogether) {
  DevicesFixture fixture;
  fixture.add(slice("s", on("n1"), "{name: d1}, {name: d2}"));
  fixture.add(claim_of("a", exact("r")));
  fixture.add(claim_of("b", exact("r")));
  fixture.add(claim_of("c", exact("r")));
  fixture.add(claim_of("away", exact("r"), {.status = allocation("d9", "n2")}));
  const auto judged = [&](std::initializer_list<std::string_view> claims) {
    Attempt attempt(fixture, fixture.pod("p", claims));
    EXPECT_EQ(attempt.pre_filter(), "ok");
    return attempt.filter("n1");
  };
  EXPECT_EQ(judged({"a", "b"}), "n1 ok");
  EXPECT_EQ(judged({"a", "b", "c"}), std::string("n1 ") + kNone);
  EXPECT_EQ(judged({"a", "away"}), "n1 resourceclaim not available on the node");
  EXPECT_EQ(judged({"a", "b", "c", "away"}), std::string("n1 ") + kNone)
      << "what can be allocated is looked at all the same";
}

TEST(DynamicResources, AClaimThatIsNamedTwiceIsAllocatedTwice) {
  DevicesFixture fixture;
  const std::string sized = "attributes: {size: {string: ";
  fixture.add(
      slice("s", on("n1"), "{name: d1, " + sized + "big}}}, {name: d2, " + sized + "small}}}"));
  fixture.add(claim_of("c", exact("r"), {.spec = "constraints: [{matchAttribute: drv/size}]"}));
  Attempt attempt(fixture, fixture.pod("p", {"c", "c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter("n1"), "n1 ok") << "constraints are each one's own";
}

TEST(DynamicResources, AnAttemptWithoutPreFilterIsAnError) {
  DevicesFixture fixture;
  Attempt attempt(fixture, fixture.pod("p"));
  EXPECT_EQ(attempt.filter("n1"), "n1 Error: not found");
  EXPECT_EQ(attempt.post_filter(), "Error: not found");
  EXPECT_EQ(attempt.reserve("n1"), "Error: not found");
  EXPECT_EQ(attempt.pre_bind("n1"), "Error: not found");
  attempt.unreserve("n1");
}

// ---- devices that have to be prepared

TEST(DynamicResources, AClaimWhoseDevicesFailedOrTookTooLongIsNotAvailable) {
  struct Case {
    const char* name;
    std::string conditions;  // of the device's status; "-": it has none
    std::string allocated_at;
    bool available;
  };
  const std::string recent = "2025-12-31T23:55:00Z", long_ago = "2025-12-31T23:49:59Z";
  const std::vector<Case> cases = {
      {"no status yet", "-", recent, true},
      {"no status for too long", "-", long_ago, false},
      {"no timestamp", "-", "", true},
      {"ready", "{type: Ready, status: 'True'}", long_ago, true},
      {"not ready", "{type: Ready, status: 'False'}", recent, true},
      {"not ready for too long", "{type: Ready, status: 'False'}", long_ago, false},
      {"failed", "{type: Failed, status: 'True'}", recent, false},
      {"failed and ready", "{type: Failed, status: 'True'}, {type: Ready, status: 'True'}", recent,
       false},
      {"not failed", "{type: Failed, status: 'False'}, {type: Ready, status: 'True'}", recent,
       true},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    for (const bool gate : {true, false}) {
      DevicesFixture fixture;  // it is 2026-01-01T00:00:00Z
      const std::string setting =
          std::string("DRADeviceBindingConditions=") + (gate ? "true" : "false");
      ASSERT_TRUE(fixture.gates.set(setting).has_value());
      std::string status =
          allocation("d1", "n1", "bindingConditions: [Ready], bindingFailureConditions: [Failed]");
      if (!row.allocated_at.empty())
        status.insert(status.size() - 1, ", allocationTimestamp: '" + row.allocated_at + "'");
      if (row.conditions != "-")
        status += ", devices: [{driver: drv, pool: pool, device: d1, conditions: [" +
                  row.conditions + "]}]";
      fixture.add(claim_of("c", exact("r"), {.status = status}));
      Attempt attempt(fixture, fixture.pod("p", {"c"}));
      EXPECT_EQ(attempt.pre_filter(), "ok");
      EXPECT_EQ(attempt.filter("n1"),
                row.available || !gate ? "n1 ok" : "n1 resourceclaim not available on the node");
    }
  }
}

// ---- extended resources

constexpr const char* kGpuResource = "example.com/gpu";

TEST(DynamicResources, ExtendedResourcesCanBeDevices) {
  struct Case {
    const char* name;
    Amounts n1, n2;  // allocatable
    Amounts requests;
    std::string answer;
  };
  const std::string implicit = "deviceclass.resource.kubernetes.io/gpus";
  const std::string none_on_2 = std::string("n1 ok, n2 ") + kNone;
  const std::vector<Case> cases = {
      {"devices", {}, {}, {{kGpuResource, "1"}}, none_on_2},
      {"under the class's own name", {}, {}, {{implicit, "1"}}, none_on_2},
      {"more than there are",
       {},
       {},
       {{kGpuResource, "3"}},
       std::string("n1 ") + kNone + ", n2 " + kNone},
      {"of both names", {}, {}, {{kGpuResource, "1"}, {implicit, "1"}}, none_on_2},
      {"a device plugin has it", {}, {{kGpuResource, "5"}}, {{kGpuResource, "1"}}, "n1 ok, n2 ok"},
      {"a device plugin had it", {}, {{kGpuResource, "0"}}, {{kGpuResource, "1"}}, none_on_2},
      {"one of each kind",
       {{"example.com/nic", "1"}},
       {},
       {{kGpuResource, "1"}, {"example.com/nic", "1"}},
       "n1 ok, n2 cannot fit resource"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    DevicesFixture fixture;
    fixture.cluster.update_node(fixture.world.node("n1").allocatable(row.n1));
    fixture.cluster.update_node(fixture.world.node("n2").allocatable(row.n2));
    fixture.add(device_class("gpus", "", std::string("extendedResourceName: ") + kGpuResource));
    fixture.add(slice("s", on("n1"), "{name: d1}, {name: d2}"));
    Attempt attempt(fixture, fixture.pod("p").container(row.requests));
    EXPECT_EQ(attempt.pre_filter(), "ok");
    EXPECT_EQ(attempt.filter(), row.answer);
  }
}

TEST(DynamicResources, OtherExtendedResourcesAreNoneOfItsBusiness) {
  DevicesFixture fixture;
  fixture.add(device_class("gpus", "", std::string("extendedResourceName: ") + kGpuResource));
  EXPECT_EQ(Attempt(fixture, fixture.pod("p").request("example.com/nic", "1")).pre_filter(),
            "skip");
  EXPECT_EQ(Attempt(fixture, fixture.pod("p").request(kGpuResource, "0")).pre_filter(), "skip");
  EXPECT_EQ(Attempt(fixture, fixture.pod("p").request(kGpuResource, "1")).pre_filter(), "ok");
  DevicesFixture without;
  without.gates.emulate({"1.36", 36}, {"1.35", 35});  // today it is locked
  ASSERT_TRUE(without.gates.set("DRAExtendedResource=false").has_value());
  without.add(device_class("gpus", "", std::string("extendedResourceName: ") + kGpuResource));
  EXPECT_EQ(Attempt(without, without.pod("p").request(kGpuResource, "1")).pre_filter(), "skip");
}

TEST(DynamicResources, AClaimThatAnEarlierAttemptMadeIsInTheWay) {
  DevicesFixture fixture;
  fixture.add(device_class("gpus", "", std::string("extendedResourceName: ") + kGpuResource));
  fixture.add(slice("s", on("n1"), "{name: d1}"));
  fixture.add(claim_of(
      "left", exact("r"),
      {.metadata = "annotations: {resource.kubernetes.io/extended-resource-claim: 'true'}, "
                   "finalizers: [resource.kubernetes.io/delete-protection], "
                   "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: p, controller: "
                   "true}]",
       .status = allocation("d1", "n1")}));
  Attempt attempt(fixture, fixture.pod("p").request(kGpuResource, "1"));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter("n1"), "n1 cannot schedule extended resource claim");
  EXPECT_EQ(attempt.post_filter(), "Unschedulable: deletion of ResourceClaim completed");
  EXPECT_EQ(fixture.server.take_calls(), (std::vector<std::string>{"update left", "delete left"}));
  EXPECT_FALSE(fixture.server.has("left"));
  EXPECT_EQ(fixture.taken(), "");
}

// ---- Score

TEST(DynamicResources, PrefersNodesWithTheAlternativesThatComeFirst) {
  DevicesFixture fixture;
  fixture.add(device_class("big", "device.attributes[\"drv\"].size == \"big\""));
  fixture.add(slice("s1", on("n1"), "{name: d1, attributes: {size: {string: small}}}"));
  fixture.add(
      slice("s2", on("n2"), "{name: d2, attributes: {size: {string: big}}}", {.pool = "pool2"}));
  const std::string list =
      first_available("r", sub("big", 1, "deviceClassName: big") + ", " + sub("any"));
  fixture.add(claim_of("c", list));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter(), "n1 ok, n2 ok");
  EXPECT_EQ(attempt.scores(), "n1 87, n2 100") << "7 of 8, in percent";

  // A claim that is allocated already counts alike on both, but it counts.
  std::string status = allocation("d9", "");
  status.replace(status.find("request: r"), 10, "request: r/any");
  fixture.add(claim_of("before", list, {.status = status}));
  Attempt both(fixture, fixture.pod("q", {"before", "c"}));
  EXPECT_EQ(both.pre_filter(), "ok");
  EXPECT_EQ(both.filter(), "n1 ok, n2 ok");
  EXPECT_EQ(both.scores(), "n1 93, n2 100") << "14 of 15";

  Attempt allocated(fixture, fixture.pod("q", {"before"}));
  EXPECT_EQ(allocated.pre_filter(), "ok");
  EXPECT_EQ(allocated.filter(), "n1 ok, n2 ok");
  EXPECT_EQ(allocated.scores(), "n1 0, n2 0") << "nothing is left to be decided";
}

// ---- searches that take long

// Pairs of devices of the same "a", where eight different ones are asked for and eight of one "id":
// no claim can have that, and it takes ages to find out.
std::string pairs_of_devices() {
  std::string devices;
  for (int i = 0; i < 32; ++i)
    devices += fmt::format("{}{{name: d{}, attributes: {{a: {{int: {}}}, id: {{int: {}}}}}}}",
                           i == 0 ? "" : ", ", i, i / 2, i);
  return devices;
}
const ClaimParts kNotToBeHad{.spec =
                                 "constraints: [{distinctAttribute: drv/a}, {requests: [q], "
                                 "matchAttribute: drv/id}]"};

TEST(DynamicResources, ALongSearchIsPutOffAndGoesOnInTheNextTurn) {
  DevicesFixture fixture;
  fixture.arguments = config::DynamicResourcesArgs{.filter_timeout = std::chrono::milliseconds(22),
                                                   .binding_timeout = std::chrono::minutes(10)};
  fixture.add(slice("s1", on("n1"), pairs_of_devices()));
  fixture.add(slice("s2", on("n2"), "{name: e1}", {.pool = "other"}));
  fixture.add(claim_of("c", exact("r", 8) + ", " + exact("q", 8), kNotToBeHad));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  attempt.cycle.may_suspend = true;
  EXPECT_EQ(attempt.pre_filter(), "ok");
  for (int turn = 0; turn < 4; ++turn) {
    EXPECT_EQ(attempt.filter(), "n1 put off, n2 put off") << turn;
    EXPECT_EQ(attempt.filter("n2"), "n2 put off") << "this turn is over";
    ++attempt.cycle.turn;
  }
  EXPECT_EQ(attempt.filter("n1"), "n1 Error: node n1: timed out trying to allocate devices");
  EXPECT_EQ(attempt.filter("n1"), "n1 Error: node n1: timed out trying to allocate devices")
      << "without a new search";
}

TEST(DynamicResources, WhereASearchMayNotBePutOffItIsDoneAtOnce) {
  DevicesFixture fixture;
  fixture.arguments = config::DynamicResourcesArgs{.filter_timeout = std::chrono::milliseconds(22),
                                                   .binding_timeout = std::chrono::minutes(10)};
  fixture.add(slice("s1", on("n1"), pairs_of_devices()));
  fixture.add(claim_of("c", exact("r", 8) + ", " + exact("q", 8), kNotToBeHad));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter("n1"), "n1 Error: node n1: timed out trying to allocate devices");
}

TEST(DynamicResources, ReserveDoesNotDependOnWhatIsLeftOfTheTurn) {
  DevicesFixture fixture;
  std::string devices;  // that will do
  for (int i = 1; i <= 16; ++i)
    devices += fmt::format("{}{{name: d{}, attributes: {{a: {{int: {}}}, id: {{int: {}}}}}}}",
                           i == 1 ? "" : ", ", i, i, i <= 8 ? i : 9);
  fixture.add(slice("s1", on("n1"), devices));
  fixture.add(slice("s2", on("n2"), pairs_of_devices(), {.pool = "other"}));
  fixture.add(claim_of("c", exact("r", 8) + ", " + exact("q", 8), kNotToBeHad));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  attempt.cycle.may_suspend = true;
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter(), "n1 ok, n2 put off");
  EXPECT_EQ(attempt.reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "d1 d2 d3 d4");
}

// ---- signatures

TEST(DynamicResources, PodsWithClaimsAreNotSigned) {
  DevicesFixture fixture;
  std::vector<SignatureFragment> fragments;
  EXPECT_EQ(Attempt::text(fixture.plugin().sign(*fixture.pod("p").build(), fragments)), "ok");
  EXPECT_EQ(Attempt::text(fixture.plugin().sign(*fixture.pod("p", {"c"}).build(), fragments)),
            "Unschedulable: pods with dra resource claims are not signable");
  EXPECT_TRUE(fragments.empty());
}

}  // namespace
}  // namespace berth::plugins
