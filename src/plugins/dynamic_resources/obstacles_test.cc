// DynamicResources: what it says keeps a pod off a node. That every verdict is covered is checked by
// Attempt, and so by all tests of Filter.
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/devices_fixture.h"

namespace berth::plugins {
namespace {

TEST(DynamicResourcesObstacles, SaysWhichRequestThereAreTooFewDevicesFor) {
  struct Row {
    const char* why;
    std::vector<std::string> objects;
    std::string claim;
    Texts on_n1;
  };
  const std::string two = slice("s", on("n1"), "{name: d1}, {name: d2}");
  const std::string picky = device_class("picky", "device.driver == \"other\"");
  const Row table[] = {
      {"no devices",
       {},
       claim_of("c", exact("r")),
       {"NoDevices request r of claim default/c: request r of claim default/c: needs 1 device of "
        "class any, the node has none at all"}},
      {"too few",
       {two},
       claim_of("c", exact("r", 3)),
       {"TooFewDevices request r of claim default/c: request r of claim default/c: needs 3 devices "
        "of class any, the node has 2"}},
      {"none selected",
       {two, picky},
       claim_of("c", exact("r", 1, "deviceClassName: picky")),
       {"DeviceSelectorMismatch request r of claim default/c: request r of claim default/c: needs "
        "1 "
        "device of class picky, 0 of 2 here are selected"}},
      {"in use",
       {two, claim_of("other", exact("r"), {.status = allocation("d1", "n1")})},
       claim_of("c", exact("r", 2)),
       {"DevicesInUse request r of claim default/c: request r of claim default/c: needs 2 devices "
        "of "
        "class any, 1 free of 2, 1 in use"}},
      {"tainted",
       {slice("s", on("n1"), "{name: d1, taints: [{key: bad, value: 'yes', effect: NoSchedule}]}")},
       claim_of("c", exact("r")),
       {"DeviceTainted request r of claim default/c: request r of claim default/c: needs 1 device "
        "of "
        "class any, 0 free of 1, 1 tainted"}},
      {"each request by itself",
       {two},
       claim_of("c", exact("r", 2) + ", " + exact("q")),
       {"DeviceCombinationImpossible default/c: claim default/c gets no devices: there are enough "
        "for each request, but not for all together"}},
      {"alternatives",
       {two},
       claim_of("c", first_available("r", sub("a", 5) + ", " + sub("b", 3))),
       {"TooFewDevices request r/b of claim default/c: request r/b of claim default/c: needs 3 "
        "devices of class any, the node has 2 (the nearest of 2 alternatives)"}},
  };
  for (const Row& row : table) {
    SCOPED_TRACE(row.why);
    DevicesFixture fixture;
    for (const std::string& object : row.objects) fixture.add(object);
    fixture.add(row.claim);
    Attempt attempt(fixture, fixture.pod("p", {"c"}));
    EXPECT_EQ(attempt.pre_filter(), "ok");
    attempt.filter();
    EXPECT_EQ(attempt.obstacles("n1"), row.on_n1);
  }
}

TEST(DynamicResourcesObstacles, OfSeveralClaimsTheFirstThatIsTooMuchIsNamed) {
  DevicesFixture fixture;
  fixture.add(slice("s", on("n1"), "{name: d1}, {name: d2}"));
  for (const char* name : {"a", "b", "c"}) fixture.add(claim_of(name, exact("r")));
  Attempt attempt(fixture, fixture.pod("p", {"a", "b", "c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  attempt.filter();
  EXPECT_EQ(attempt.obstacles("n1"),
            (Texts{"DeviceCombinationImpossible default/c: claim default/c gets no devices: there "
                   "are enough for each request, but not for all together"}));
}

TEST(DynamicResourcesObstacles, AnAllocatedClaimSaysWhereItsDevicesAre) {
  DevicesFixture fixture;
  fixture.add(claim_of("c", exact("r"), {.status = allocation("d1", "n2")}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  attempt.filter();
  EXPECT_EQ(
      attempt.obstacles("n1"),
      (Texts{"ClaimAllocatedElsewhere default/c: claim default/c is allocated elsewhere: needs "
             "field metadata.name in [n2], the node is n1"}));
  EXPECT_EQ(attempt.obstacles("n2"), Texts{});
}

TEST(DynamicResourcesObstacles, SaysWhyThePodHasNoClaim) {
  DevicesFixture fixture;
  Attempt missing(fixture, fixture.pod("p", {"gone"}));
  missing.pre_filter();
  EXPECT_EQ(missing.obstacles(""),
            (Texts{"ClaimNotFound gone: claim default/gone does not exist"}));
  fixture.add(claim_of("c", exact("r", 1, "deviceClassName: x")));
  Attempt classless(fixture, fixture.pod("p", {"c"}));
  classless.pre_filter();
  EXPECT_EQ(
      classless.obstacles(""),
      (Texts{"DeviceClassNotFound default/c: claim default/c asks for devices of class x, which "
             "does not exist"}));
}

TEST(DynamicResourcesObstacles, ExtendedResourcesAreCalledByTheirNames) {
  DevicesFixture fixture;
  fixture.add(device_class("gpu", "", "extendedResourceName: example.com/gpu"));
  fixture.add(slice("s", on("n1"), "{name: d1}"));
  Attempt attempt(fixture, fixture.pod("p").request("example.com/gpu", "2"));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  attempt.filter();
  EXPECT_EQ(attempt.obstacles("n1"),
            (Texts{"TooFewDevices extended resource example.com/gpu: extended resource "
                   "example.com/gpu: needs 2 devices of class gpu, the node has 1"}));
}

}  // namespace
}  // namespace berth::plugins
