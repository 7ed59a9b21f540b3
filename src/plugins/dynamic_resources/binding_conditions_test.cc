// DynamicResources: PreBind waits for the binding conditions of devices.
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/binding_fixture.h"

namespace berth::plugins {
namespace {

class BindingConditionsTest : public BindingTest {
 protected:
  BindingConditionsTest() {
    fixture.add(slice("s", on("n1"),
                      "{name: d1, bindsToNode: true, bindingConditions: [Ready], "
                      "bindingFailureConditions: [Failed]}"));
  }
  // The driver reports.
  void reports(const std::string& condition) {
    Ref<ResourceClaim> claim = make_ref<ResourceClaim>(server.stored("c"));
    AllocatedDeviceStatus status;
    status.driver = claim->symbols.intern("drv");
    status.pool = claim->symbols.intern("pool");
    status.device = claim->symbols.intern("d1");
    PodCondition reported;
    reported.type = condition;
    reported.status = "True";
    reported.reason = "Why";
    reported.message = "what happened";
    status.conditions.push_back(std::move(reported));
    claim->status.devices = {status};
    server.put(claim);
  }
};

TEST_F(BindingConditionsTest, PreBindWaitsUntilDevicesAreReady) {
  AttemptInPreBind attempt(fixture, fixture.pod("p", {"c"}), "n1");
  fixture.run_for(100s);
  EXPECT_EQ(attempt.bound(), "…");
  ASSERT_EQ(server.events.size(), 1U);
  EXPECT_EQ(server.events[0].type, EventType::kNormal);
  EXPECT_EQ(server.events[0].reason, "BindingConditionsPending");
  EXPECT_EQ(server.events[0].action, "Scheduling");
  EXPECT_EQ(server.events[0].note, "waiting for binding conditions for device on node n1");
  EXPECT_EQ(server.events[0].reporting_controller, "default-scheduler");
  EXPECT_EQ(pending(), 1U) << "until they are ready";
  reports("SomethingElse");
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "…");
  reports("Ready");
  fixture.run_for(0s);
  EXPECT_EQ(attempt.bound(), "ok");
  EXPECT_EQ(pending(), 0U);
}

TEST_F(BindingConditionsTest, AFailureConditionEndsTheWaitAndTheClaimIsReleased) {
  AttemptInPreBind attempt(fixture, fixture.pod("p", {"c"}), "n1");
  reports("Failed");
  fixture.run_for(0s);
  EXPECT_EQ(attempt.bound(),
            "Error: device binding failed: claim=c, reason=Why, message=\"what happened\"");
  attempt.unreserve("n1");
  fixture.run_for(0s);
  Attempt next(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(next.pre_filter(), "ok");
  EXPECT_EQ(next.filter("n1"), "n1 resourceclaim not available on the node");
  EXPECT_EQ(next.post_filter(), "Unschedulable: deallocation of ResourceClaim completed");
  EXPECT_EQ(fixture.stored("c"), "free +f");
  EXPECT_TRUE(server.stored("c").status.devices.empty());
}

TEST_F(BindingConditionsTest, TheWaitHasATimeout) {
  fixture.arguments = config::DynamicResourcesArgs{.filter_timeout = {}, .binding_timeout = 60s};
  AttemptInPreBind attempt(fixture, fixture.pod("p", {"c"}), "n1");
  fixture.run_for(59s);
  EXPECT_EQ(attempt.bound(), "…");
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "Error: device binding timeout: context deadline exceeded");
}

TEST_F(BindingConditionsTest, AnOlderAllocationTimesOutEarlier) {
  AttemptInPreBind first(fixture, fixture.pod("p", {"c"}), "n1");
  fixture.run_for(598s);
  // Another pod that uses the claim: two seconds are left, to be noticed after five.
  AttemptInPreBind second(fixture, fixture.pod("q", {"c"}), "n1");
  fixture.run_for(4s);
  EXPECT_EQ(first.bound(), "Error: device binding timeout: context deadline exceeded");
  EXPECT_EQ(second.bound(), "…");
  fixture.run_for(1s);
  EXPECT_EQ(second.bound(), "Error: device binding timeout: claim=c");
}

TEST_F(BindingConditionsTest, TheWaitCanBeCancelled) {
  AttemptInPreBind attempt(fixture, fixture.pod("p", {"c"}), "n1");
  attempt.cancel.cancel("preempted");
  fixture.run_for(0s);
  EXPECT_EQ(attempt.bound(), "Error: context canceled");
}

TEST_F(BindingConditionsTest, AClaimThatIsDeletedEndsTheWait) {
  AttemptInPreBind attempt(fixture, fixture.pod("p", {"c"}), "n1");
  server.drop("c");
  fixture.run_for(0s);
  EXPECT_EQ(attempt.bound(), "Error: could not find ResourceClaim \"default/c\"");
}

TEST_F(BindingConditionsTest, WithoutTheGateSuchDevicesAreNotUsed) {
  ASSERT_TRUE(fixture.gates.set("DRADeviceBindingConditions=false").has_value());
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "n1 cannot allocate all claims");
}

}  // namespace
}  // namespace berth::plugins
