// DynamicResources: PostFilter, Reserve, Unreserve and PreBind.
#include <gtest/gtest.h>

#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/dynamic_resources/testing/devices_fixture.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

using namespace berth::testing;
using namespace std::chrono_literals;
using Writes = std::vector<std::string>;

const Error kConflict{ErrorKind::kConflict, "the object has been modified"};
const Error kLost{ErrorKind::kTimeout, "no answer"};
const Error kRefused{ErrorKind::kForbidden, "not allowed"};

// Two devices on n1, and a claim "c" for one of them.
class BindingTest : public ::testing::Test {
 protected:
  BindingTest() {
    fixture.add(slice("s", on("n1"), "{name: d1}, {name: d2}"));
    fixture.add(claim_of("c", exact("r")));
  }
  Writes writes() { return fixture.server.take_writes(); }
  std::size_t pending() { return fixture.tracker().pending_count(); }
  // Somebody else changes the claim, in a way that does not matter to us.
  void touch(const std::string& name) {
    fixture.server.put(make_ref<ResourceClaim>(fixture.server.stored(name)));
  }

  DevicesFixture fixture;
  ClaimServer& server = fixture.server;
};

// ---- Reserve and Unreserve

TEST_F(BindingTest, ReserveTakesDevicesAndUnreserveGivesThemBack) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "d1");
  EXPECT_EQ(pending(), 1U);
  EXPECT_EQ(fixture.stored("c"), "free") << "nothing is written yet";
  attempt.unreserve("n1");
  attempt.unreserve("n1");
  EXPECT_EQ(fixture.taken(), "");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(writes(), Writes{});
}

TEST_F(BindingTest, ReserveOnANodeThatWasNotFitIsAnError) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.reserve("n2"), "Error: claim allocation not found for node");
  EXPECT_EQ(attempt.reserve("nowhere"), "Error: claim allocation not found for node");
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(BindingTest, TwoPodsNeverGetTheSameDevice) {
  fixture.add(claim_of("c2", exact("r")));
  fixture.add(claim_of("c3", exact("r")));
  Attempt first(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  Attempt second(fixture, fixture.pod("q", {"c2"}));
  EXPECT_EQ(second.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "d1 d2");
  Attempt third(fixture, fixture.pod("o", {"c3"}));
  EXPECT_EQ(third.reach_reserve("n1"), "n1 cannot allocate all claims");
  EXPECT_EQ(second.pre_bind("n1"), "ok");
  EXPECT_EQ(fixture.stored("c2"), "d2 @n1 for q +f");
  first.unreserve("n1");
  EXPECT_EQ(fixture.taken(), "d2");
}

// ---- PreBind

TEST_F(BindingTest, WritesFinalizerThenAllocationAndReservation) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  const PreBindPreFlight flight = fixture.plugin().pre_bind_pre_flight(attempt.cycle, "n1");
  EXPECT_TRUE(flight.outcome.ok());
  EXPECT_TRUE(flight.allow_parallel);
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), (Writes{"update c", "status c"}));
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
  const ResourceClaim& stored = server.stored("c");
  EXPECT_EQ(stored.status.allocation->allocation_timestamp, fixture.loop.wall_now());
  EXPECT_EQ(stored.symbols.text(stored.status.reserved_for[0].resource), "pods");
  EXPECT_EQ(stored.status.reserved_for[0].name, "p");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(BindingTest, KnowsOfItsOwnWritesBeforeTheWatch) {
  fixture.plugin();
  server.keep_back();
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
  EXPECT_EQ(DevicesFixture::text(**fixture.tracker().find("default", "c")), "d1 @n1 for p +f");
  server.show();
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(BindingTest, TheFinalizerIsNotAddedTwice) {
  fixture.add(claim_of("c", exact("r"),
                       {.metadata = "finalizers: [resource.kubernetes.io/delete-protection]"}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), Writes{"status c"});
}

TEST_F(BindingTest, AnAllocatedClaimIsOnlyReserved) {
  fixture.add(
      claim_of("c", exact("r"), {.status = allocation("d1", "n1") + ", " + reserved_for({"q"})}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), Writes{"status c"});
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for q p");
  EXPECT_TRUE(server.stored("c").status.allocation->allocation_timestamp);
}

TEST_F(BindingTest, WithoutTheGateAllocationsHaveNoTimestamp) {
  ASSERT_TRUE(fixture.gates.set("DRADeviceBindingConditions=false").has_value());
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_FALSE(server.stored("c").status.allocation->allocation_timestamp);
}

TEST_F(BindingTest, AClaimThatIsReservedAlreadyIsLeftAlone) {
  fixture.add(
      claim_of("c", exact("r"), {.status = allocation("d1", "n1") + ", " + reserved_for({"p"})}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), Writes{});
}

TEST_F(BindingTest, AConflictIsTriedAgainWithAFreshClaim) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  touch("c");
  server.before("status", [this] { touch("c"); });
  const TimePoint start = fixture.loop.now();
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), (Writes{"update c", "get c", "update c", "status c", "get c", "status c"}));
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
  EXPECT_GE(fixture.loop.now() - start, 20ms);
  EXPECT_LT(fixture.loop.now() - start, 22ms);
}

TEST_F(BindingTest, FiveConflictsAreEnough) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  for (int i = 0; i < 6; ++i) server.fails("update", kConflict);
  EXPECT_EQ(attempt.pre_bind("n1"),
            "Error: add finalizer to claim default/c: the object has been modified");
  EXPECT_EQ(writes().size(), 9U) << "five updates, a get between two of them";
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(BindingTest, SaysWhatWentWrong) {
  struct Case {
    const char* name;
    std::function<void()> given;  // before PreBind
    std::string error;
    bool allocated = false;
  };
  const auto change = [this](auto how) {
    Ref<ResourceClaim> claim = make_ref<ResourceClaim>(server.stored("c"));
    how(*claim);
    server.put(claim);
  };
  const auto conflict_then = [&](auto how) { server.before("update", [=] { change(how); }); };
  const std::vector<Case> cases = {
      {"finalizer refused", [&] { server.fails("update", kRefused); },
       "add finalizer to claim default/c: not allowed"},
      {"status refused", [&] { server.fails("status", kRefused); },
       "add allocation and reservation to claim default/c: not allowed"},
      {"reservation refused", [&] { server.fails("status", kRefused); },
       "add reservation to claim default/c: not allowed", true},
      {"gone",
       [&] {
         touch("c");
         server.fails("get", {ErrorKind::kNotFound, "not found"});
       },
       "get updated claim default/c after conflict: not found"},
      {"being deleted",
       [&] {
         conflict_then([this](ResourceClaim& c) { c.deletion_time = fixture.loop.wall_now(); });
       },
       "claim default/c got deleted in the meantime"},
      {"allocated by somebody else",
       [&] { conflict_then([](ResourceClaim& c) { c.status.allocation = AllocationResult{}; }); },
       "claim default/c got allocated elsewhere in the meantime"},
      {"deallocated by somebody else",
       [&] { server.before("status", [=] { change([](ResourceClaim& c) { c.status = {}; }); }); },
       "claim default/c got deallocated elsewhere in the meantime", true},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    fixture.add(claim_of("c", exact("r"), {.status = row.allocated ? allocation("d1", "n1") : ""}));
    Attempt attempt(fixture, fixture.pod("p", {"c"}));
    EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
    row.given();
    EXPECT_EQ(attempt.pre_bind("n1"), "Error: " + row.error);
    EXPECT_EQ(pending(), 0U);
    attempt.unreserve("n1");
  }
}

TEST_F(BindingTest, AWriteWhoseAnswerIsLostIsLookedInto) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("status", kLost, /*applied=*/true);
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), (Writes{"update c", "status c", "get c"}));
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(BindingTest, ADeviceIsNotFreeBeforeItIsKnownWhatBecameOfTheWrite) {
  fixture.plugin();
  server.keep_back();
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("status", kLost, /*applied=*/true);
  server.fails("get", kLost);
  server.hold("get");
  attempt.begin_pre_bind("n1");
  EXPECT_EQ(attempt.bound(), "…");
  EXPECT_EQ(fixture.taken(), "d1");
  server.release("get");
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "ok") << "the second look shows it";
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(BindingTest, AWriteThatWasNotCarriedOutFails) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("status", kLost);
  EXPECT_EQ(attempt.pre_bind("n1"),
            "Error: add allocation and reservation to claim default/c: no answer");
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(BindingTest, DevicesDoNotBecomeFreeWhileASchedulingCycleIsOpen) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  fixture.gate.close();
  server.fails("update", kRefused);
  attempt.begin_pre_bind("n1");
  fixture.run_for(1s);
  EXPECT_EQ(fixture.taken(), "d1") << "somebody may be in the middle of a search";
  fixture.gate.open();
  EXPECT_EQ(fixture.taken(), "");
  EXPECT_NE(attempt.bound(), "…");
}

TEST_F(BindingTest, CancelledBetweenTwoWritesItStops) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.before("update", [&] { attempt.cancel.cancel("preempted"); });
  EXPECT_EQ(attempt.pre_bind("n1"), "Error: context canceled");
  EXPECT_EQ(writes(), Writes{"update c"});
  EXPECT_EQ(pending(), 0U);
}

TEST_F(BindingTest, TheFirstClaimThatFailsEndsIt) {
  fixture.add(claim_of("c2", exact("r")));
  Attempt attempt(fixture, fixture.pod("p", {"c", "c2"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("update", kRefused);
  EXPECT_EQ(attempt.pre_bind("n1"), "Error: add finalizer to claim default/c: not allowed");
  EXPECT_EQ(writes(), Writes{"update c"});
  EXPECT_EQ(fixture.taken(), "d2") << "until Unreserve";
  attempt.unreserve("n1");
  EXPECT_EQ(fixture.taken(), "");
}

// ---- Unreserve after PreBind

TEST_F(BindingTest, UnreserveTakesThePodOutOfTheClaimAndLeavesTheAllocation) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  writes();
  attempt.unreserve("n1");
  EXPECT_EQ(writes(), Writes{"unreserve c"});
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 +f");
  attempt.unreserve("n1");
  EXPECT_EQ(writes(), Writes{});

  Attempt again(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(again.reach_reserve("n1"), "ok");
  EXPECT_EQ(again.pre_bind("n1"), "ok");
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
}

TEST_F(BindingTest, ANewReservationWaitsUntilTheOldOneIsTakenBack) {
  Attempt first(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  EXPECT_EQ(first.pre_bind("n1"), "ok");
  server.hold("unreserve");
  first.unreserve("n1");
  Attempt second(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(second.reach_reserve("n1"), "ok");
  writes();
  second.begin_pre_bind("n1");
  EXPECT_EQ(second.bound(), "…");
  EXPECT_EQ(writes(), Writes{});
  server.release("unreserve");
  fixture.run_for(1s);
  EXPECT_EQ(second.bound(), "ok");
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
}

TEST_F(BindingTest, AReservationThatCouldNotBeTakenBackIsUsedAgain) {
  Attempt first(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  EXPECT_EQ(first.pre_bind("n1"), "ok");
  server.fails("unreserve", kLost);
  first.unreserve("n1");
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
  Attempt second(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(second.reach_reserve("n1"), "ok");
  EXPECT_EQ(second.pre_bind("n1"), "ok");
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f") << "and is not there twice";
}

// ---- PostFilter

TEST_F(BindingTest, AClaimThatNobodyElseUsesIsReleasedWhenNoNodeIsLeft) {
  struct Case {
    const char* name;
    std::string consumers;
    std::string answer;
    std::string then;
  };
  const std::vector<Case> cases = {
      {"nobody's", "", "Unschedulable: deallocation of ResourceClaim completed", "free"},
      {"the pod's own", reserved_for({"p"}),
       "Unschedulable: deallocation of ResourceClaim completed", "free"},
      {"somebody's", reserved_for({"q"}), "Unschedulable: still not schedulable", "d9 @gone for q"},
      {"shared", reserved_for({"p", "q"}), "Unschedulable: still not schedulable",
       "d9 @gone for p q"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    fixture.add(claim_of("c", exact("r"),
                         {.status = allocation("d9", "gone") + (row.consumers.empty() ? "" : ", ") +
                                    row.consumers}));
    Attempt attempt(fixture, fixture.pod("p", {"c"}));
    EXPECT_EQ(attempt.pre_filter(), "ok");
    EXPECT_EQ(attempt.filter(),
              "n1 resourceclaim not available on the node, n2 resourceclaim not "
              "available on the node");
    EXPECT_EQ(attempt.post_filter(), row.answer);
    EXPECT_EQ(fixture.stored("c"), row.then);
  }
}

TEST_F(BindingTest, AnAllocationThatDidNotGoAwayIsAnError) {
  fixture.add(claim_of("c", exact("r"), {.status = allocation("d9", "gone")}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  attempt.filter();
  server.fails("status", kRefused);
  EXPECT_EQ(attempt.post_filter(), "Error: not allowed");
}

TEST_F(BindingTest, NothingIsReleasedWhereDevicesAreWhatIsMissing) {
  fixture.add(claim_of("c", exact("r", 3)));
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  attempt.filter();
  EXPECT_EQ(attempt.post_filter(), "Unschedulable: still not schedulable");
  EXPECT_EQ(writes(), Writes{});
}

TEST_F(BindingTest, AClaimIsNotReleasedWhereThatWouldNotHelp) {
  fixture.add(claim_of("away", exact("r"), {.status = allocation("d9", "gone")}));
  fixture.add(claim_of("c", exact("r", 3)));
  Attempt attempt(fixture, fixture.pod("p", {"away", "c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter("n1"), "n1 cannot allocate all claims");
  EXPECT_EQ(attempt.post_filter(), "Unschedulable: still not schedulable");
  EXPECT_EQ(fixture.stored("away"), "d9 @gone");
}

// ---- binding conditions

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
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
  fixture.run_for(100s);
  EXPECT_EQ(attempt.bound(), "…");
  ASSERT_EQ(server.events.size(), 1U);
  EXPECT_EQ(server.events[0].type, EventType::kNormal);
  EXPECT_EQ(server.events[0].reason, "BindingConditionsPending");
  EXPECT_EQ(server.events[0].action, "Scheduling");
  EXPECT_EQ(server.events[0].note, "waiting for binding conditions for device on node n1");
  EXPECT_EQ(server.events[0].reporting_controller, "default-scheduler");
  reports("SomethingElse");
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "…");
  reports("Ready");
  fixture.run_for(0s);
  EXPECT_EQ(attempt.bound(), "ok");
}

TEST_F(BindingConditionsTest, AFailureConditionEndsTheWaitAndTheClaimIsReleased) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
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
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
  fixture.run_for(59s);
  EXPECT_EQ(attempt.bound(), "…");
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "Error: device binding timeout: context deadline exceeded");
}

TEST_F(BindingConditionsTest, AnOlderAllocationTimesOutEarlier) {
  Attempt first(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  first.begin_pre_bind("n1");
  fixture.run_for(598s);
  // Another pod that uses the claim: two seconds are left, to be noticed after five.
  Attempt second(fixture, fixture.pod("q", {"c"}));
  EXPECT_EQ(second.reach_reserve("n1"), "ok");
  second.begin_pre_bind("n1");
  fixture.run_for(4s);
  EXPECT_EQ(first.bound(), "Error: device binding timeout: context deadline exceeded");
  EXPECT_EQ(second.bound(), "…");
  fixture.run_for(1s);
  EXPECT_EQ(second.bound(), "Error: device binding timeout: claim=c");
}

TEST_F(BindingConditionsTest, TheWaitCanBeCancelled) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
  attempt.cancel.cancel("preempted");
  fixture.run_for(0s);
  EXPECT_EQ(attempt.bound(), "Error: context canceled");
}

TEST_F(BindingConditionsTest, AClaimThatIsDeletedEndsTheWait) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
  server.drop("c");
  fixture.run_for(0s);
  EXPECT_EQ(attempt.bound(), "Error: could not find ResourceClaim \"default/c\"");
}

TEST_F(BindingConditionsTest, WithoutTheGateSuchDevicesAreNotUsed) {
  ASSERT_TRUE(fixture.gates.set("DRADeviceBindingConditions=false").has_value());
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "n1 cannot allocate all claims");
}

// ---- extended resources

class ExtendedBindingTest : public BindingTest {
 protected:
  ExtendedBindingTest() {
    fixture.add(device_class("gpus", "", "extendedResourceName: example.com/gpu"));
    PodBuilder builder = fixture.pod("p");
    builder.container({{"example.com/gpu", "1"}});
    builder.spec().containers[0].name = builder.symbol("main");
    pod = builder;
  }
  static constexpr const char* kCreated = "p-extended-resources-1";
  Ref<const Pod> pod;
};

TEST_F(ExtendedBindingTest, TheClaimIsCreatedAllocatedAndToldInThePodsStatus) {
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "d1");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), (Writes{"create p-extended-resources-", std::string("update ") + kCreated,
                              std::string("status ") + kCreated, "patch p"}));
  EXPECT_EQ(fixture.stored(kCreated), "d1 @n1 for p +f");
  const ResourceClaim& stored = server.stored(kCreated);
  ASSERT_EQ(stored.spec.requests.size(), 1U);
  EXPECT_EQ(stored.symbols.text(stored.spec.requests[0].name), "container-0-request-0");
  ASSERT_EQ(server.patches.size(), 1U);
  EXPECT_EQ(server.patches[0].extended_resource_claim,
            (PodExtendedResourceClaimStatus{{{"main", "example.com/gpu", "container-0-request-0"}},
                                            kCreated}));
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(ExtendedBindingTest, DevicesStayTakenUntilTheWatchShowsTheClaim) {
  fixture.plugin();
  server.keep_back();
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
  fixture.run_for(60s);
  EXPECT_EQ(attempt.bound(), "…");
  EXPECT_EQ(pending(), 1U);
  EXPECT_EQ(fixture.taken(), "d1");
  server.show();
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "ok");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(ExtendedBindingTest, DevicesStayTakenAlsoWhenNobodyWaitsForTheClaimAnyMore) {
  fixture.plugin();
  server.keep_back();
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
  attempt.cancel.cancel("preempted");
  fixture.run_for(1s);
  EXPECT_NE(attempt.bound(), "…");
  EXPECT_EQ(fixture.taken(), "d1") << "the claim is written, the watch has yet to show it";
  server.show();
  fixture.run_for(1s);
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(ExtendedBindingTest, AClaimThatNeverShowsUpIsNoReasonToFail) {
  fixture.plugin();
  server.keep_back();
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  attempt.begin_pre_bind("n1");
  fixture.run_for(120s);
  EXPECT_EQ(attempt.bound(), "ok");
}

TEST_F(ExtendedBindingTest, WhatFailsIsUndoneAndTheClaimDeleted) {
  struct Case {
    std::string verb;
    std::string error;
    bool created;
  };
  const std::vector<Case> cases = {
      {"create", "create claim for extended resources default/: not allowed", false},
      {"update", "add finalizer to claim default/{}: not allowed", true},
      {"status", "add allocation and reservation to claim default/{}: not allowed", true},
      {"patch", "update pod default/p ExtendedResourceClaimStatus: not allowed", true},
  };
  int number = 0;
  for (const Case& row : cases) {
    SCOPED_TRACE(row.verb);
    Attempt attempt(fixture, pod);
    EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
    server.fails(row.verb, kRefused);
    std::string error = row.error;
    const std::string name = "p-extended-resources-" + std::to_string(number += row.created);
    if (const std::size_t place = error.find("{}"); place != std::string::npos)
      error.replace(place, 2, name);
    EXPECT_EQ(attempt.pre_bind("n1"), "Error: " + error);
    EXPECT_EQ(pending(), 0U);
    EXPECT_EQ(server.has(name), row.created);
    attempt.unreserve("n1");
    fixture.run_for(1s);
    EXPECT_FALSE(server.has(name));
    EXPECT_EQ(fixture.taken(), "");
  }
}

TEST_F(ExtendedBindingTest, AnAttemptThatComesTooSoonWaitsForTheDeletion) {
  Attempt first(fixture, pod);
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  EXPECT_EQ(first.pre_bind("n1"), "ok");
  server.hold("delete");
  first.unreserve("n1");
  Attempt second(fixture, pod);
  EXPECT_EQ(second.pre_filter(), "ok");
  EXPECT_EQ(second.filter("n1"), "n1 cannot schedule extended resource claim");
  writes();
  EXPECT_EQ(second.post_filter(), "…");
  EXPECT_EQ(writes(), Writes{}) << "it is not deleted twice";
  server.release("delete");
  EXPECT_EQ(second.post_filter(), "Unschedulable: deletion of ResourceClaim completed");
  EXPECT_EQ(writes(), Writes{});
  Attempt third(fixture, pod);
  EXPECT_EQ(third.reach_reserve("n1"), "ok");
}

TEST_F(ExtendedBindingTest, WhereADevicePluginServesThereIsNothingToDo) {
  fixture.cluster.update_node(fixture.world.node("n1").allocatable({{"example.com/gpu", "1"}}));
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), Writes{});
  attempt.unreserve("n1");
  EXPECT_EQ(writes(), Writes{});
}

TEST_F(ExtendedBindingTest, BesideClaimsOfItsOwnWhatADevicePluginServesFails) {
  fixture.cluster.update_node(fixture.world.node("n1").allocatable({{"example.com/gpu", "1"}}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}).container({{"example.com/gpu", "1"}}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"),
            "Error: nil or empty request mappings, no update of pod default/p "
            "ExtendedResourceClaimStatus");
  attempt.unreserve("n1");
  EXPECT_FALSE(server.has(kCreated));
}

TEST_F(ExtendedBindingTest, BesideClaimsOfItsOwnBothAreAllocated) {
  PodBuilder builder = fixture.pod("p", {"c"});
  builder.container({{"example.com/gpu", "1"}});
  Attempt attempt(fixture, builder);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "d1 d2");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
  EXPECT_EQ(fixture.stored(kCreated), "d2 @n1 for p +f");
}

}  // namespace
}  // namespace berth::plugins
