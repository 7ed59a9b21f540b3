#include "plugins/dynamic_resources/kept_verdicts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/devices_fixture.h"

namespace berth::plugins {
namespace {

constexpr const char* kNoDevices = "cannot allocate all claims";

std::string both(std::string_view n1, std::string_view n2) {
  return fmt::format("n1 {}, n2 {}", n1, n2);
}

// A pool of one device for each node.
struct KeptVerdictsTest : ::testing::Test {
  KeptVerdictsTest() {
    fixture.add(slice("s1", on("n1"), "{name: d1}"));
    fixture.add(slice("s2", on("n2"), "{name: d2}", {.pool = "pool2"}));
  }
  // Of one more pod that asks for a device, with a claim of its own.
  std::string judged(std::string_view request = exact("r")) {
    const std::string name = fmt::format("p{}", ++pods);
    fixture.add(claim_of(name, request));
    Attempt attempt(fixture, fixture.pod(name, {name}));
    EXPECT_EQ(attempt.pre_filter(), "ok");
    return attempt.filter();
  }

  DevicesFixture fixture;
  int pods = 0;
};

TEST_F(KeptVerdictsTest, FollowDevicesThatAreTakenAndGivenBack) {
  EXPECT_EQ(judged(), both("ok", "ok"));
  fixture.add(claim_of("c", exact("r")));
  Attempt attempt(fixture, fixture.pod("q", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n2"), "ok");
  EXPECT_EQ(judged(), both("ok", kNoDevices));
  attempt.unreserve("n2");
  EXPECT_EQ(judged(), both("ok", "ok"));
}

TEST_F(KeptVerdictsTest, AreOfOneRequestAlone) {
  EXPECT_EQ(judged(), both("ok", "ok"));
  EXPECT_EQ(judged(exact("r", 2)), both(kNoDevices, kNoDevices));
  EXPECT_EQ(judged(), both("ok", "ok"));
}

TEST_F(KeptVerdictsTest, FollowSlicesAndClasses) {
  EXPECT_EQ(judged(exact("r", 2)), both(kNoDevices, kNoDevices));
  fixture.add(slice("s1", on("n1"), "{name: d1}, {name: d3}"));
  EXPECT_EQ(judged(exact("r", 2)), both("ok", kNoDevices));
  fixture.add(device_class("any", "false"));
  EXPECT_EQ(judged(exact("r", 2)), both(kNoDevices, kNoDevices));
}

TEST_F(KeptVerdictsTest, FollowTheLabelsOfNodes) {
  fixture.add(slice("s3", in_zone("b"), "{name: d3}", {.pool = "pool3"}));
  EXPECT_EQ(judged(exact("r", 2)), both(kNoDevices, "ok"));
  fixture.cluster.update_node(fixture.world.node("n1").label("zone", "b"));
  EXPECT_EQ(judged(exact("r", 2)), both("ok", "ok"));
}

// A pool that several nodes draw from.
TEST_F(KeptVerdictsTest, FollowDevicesOfSeveralNodes) {
  fixture.add(slice("s3", "allNodes: true", "{name: d3}", {.pool = "pool3"}));
  EXPECT_EQ(judged(exact("r", 2)), both("ok", "ok"));
  fixture.add(claim_of("c", exact("r", 2)));
  Attempt attempt(fixture, fixture.pod("q", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(judged(exact("r", 2)), both(kNoDevices, kNoDevices));
}

// Only the node whose device was taken is searched again.
TEST(KeptVerdicts, OneNodeIsForgottenWhenItsDevicesChange) {
  AllocatorFixture fixture;
  fixture.cluster.begin_cycle();
  fixture.add(slice("s1", on("n1"), "{name: d1}"));
  fixture.add(slice("s2", on("n2"), "{name: d2}", {.pool = "pool2"}));
  const Ref<const ResourceClaim> claims[] = {fixture.claim_from(claim("c", exact("r")))};
  const Ref<const ResourceClaim> alike[] = {fixture.claim_from(claim("d", exact("r")))};
  const NodeRow n1 = fixture.cluster.nodes().find(fixture.world.symbol("n1"));
  const NodeRow n2 = fixture.cluster.nodes().find(fixture.world.symbol("n2"));
  KeptVerdicts kept;
  const auto refreshed =
      [&](std::span<const Ref<const ResourceClaim>> asked) -> KeptVerdicts::Shape& {
    fixture.pools.refresh(fixture.cluster);
    kept.refresh(fixture.cluster, fixture.allocated, fixture.pools);
    return kept.of(asked);
  };
  using enum KeptVerdicts::Verdict;
  KeptVerdicts::Shape& shape = refreshed(claims);
  EXPECT_EQ(shape.at(n1), kUnknown);
  shape.keep(n1, kAllocated);
  shape.keep(n2, kImpossible);
  EXPECT_EQ(&refreshed(alike), &shape);
  EXPECT_EQ(shape.at(n1), kAllocated);
  EXPECT_EQ(shape.at(n2), kImpossible);
  fixture.take("drv/pool/d1");
  refreshed(alike);
  EXPECT_EQ(shape.at(n1), kUnknown);
  EXPECT_EQ(shape.at(n2), kImpossible);
  fixture.take("drv/elsewhere/d1");  // no node has it
  refreshed(alike);
  EXPECT_EQ(shape.at(n2), kImpossible);
}

// More changes than are listed.
TEST(KeptVerdicts, AreAllForgottenWhenTooMuchHasChanged) {
  AllocatorFixture fixture;
  fixture.add(slice("s1", on("n1"), "{name: d1}"));
  const Ref<const ResourceClaim> claims[] = {fixture.claim_from(claim("c", exact("r")))};
  const NodeRow n2 = fixture.cluster.nodes().find(fixture.world.symbol("n2"));
  KeptVerdicts kept;
  fixture.pools.refresh(fixture.cluster);
  kept.refresh(fixture.cluster, fixture.allocated, fixture.pools);
  KeptVerdicts::Shape& shape = kept.of(claims);
  shape.keep(n2, KeptVerdicts::Verdict::kImpossible);
  for (int i = 0; i < 10'000; ++i) fixture.take("drv/pool/d1");
  kept.refresh(fixture.cluster, fixture.allocated, fixture.pools);
  EXPECT_EQ(shape.at(n2), KeptVerdicts::Verdict::kUnknown);
}

}  // namespace
}  // namespace berth::plugins
