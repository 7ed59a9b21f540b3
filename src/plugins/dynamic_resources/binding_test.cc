// DynamicResources: PostFilter, Reserve, Unreserve and PreBind.
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/binding_fixture.h"

namespace berth::plugins {
namespace {

using Writes = std::vector<std::string>;

const Error kConflict{ErrorKind::kConflict, "the object has been modified"};
const Error kLost{ErrorKind::kTimeout, "no answer"};
const Error kRefused{ErrorKind::kForbidden, "not allowed"};

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

TEST_F(BindingTest, ReserveFailsForAClaimThatIsGone) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter("n1"), "n1 ok");
  server.drop("c");
  EXPECT_EQ(attempt.reserve("n1"),
            "Error: internal error, couldn't signal allocation for claim c: look up assumed claim "
            "default/c, UID=c: could not find ResourceClaim \"default/c\"");
  attempt.unreserve("n1");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(BindingTest, AClaimThatWasAllocatedSinceIsNotInFlight) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter("n1"), "n1 ok");
  fixture.add(claim_of("c", exact("r"), {.status = allocation("d2", "n1")}));
  EXPECT_EQ(attempt.reserve("n1"), "ok");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d2");
  EXPECT_EQ(attempt.pre_bind("n1"),
            "Error: claim default/c got allocated elsewhere in the meantime");
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

TEST_F(BindingTest, UnreserveLeavesWhatAnotherPodHasInFlight) {
  Attempt earlier(fixture, fixture.pod("o", {"c"}));
  EXPECT_EQ(earlier.reach_reserve("n1"), "ok");
  EXPECT_EQ(earlier.pre_bind("n1"), "ok");
  Attempt second(fixture, fixture.pod("q", {"c"}));
  EXPECT_EQ(second.reach_reserve("n1"), "ok") << "it shares what is allocated";
  // Somebody deallocates the claim, and another pod allocates it anew.
  fixture.add(claim_of("c", exact("r")));
  Attempt first(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  EXPECT_EQ(pending(), 1U);
  second.unreserve("n1");
  EXPECT_EQ(pending(), 1U);
  EXPECT_EQ(fixture.taken(), "d1");
  earlier.unreserve("n1");
  EXPECT_EQ(pending(), 1U) << "also one that had the claim in flight itself, and wrote it";
  EXPECT_EQ(fixture.taken(), "d1");
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
  EXPECT_EQ(fixture.taken(), "d1") << "until Unreserve";
  attempt.unreserve("n1");
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
    EXPECT_EQ(pending(), row.allocated ? 0U : 1U);
    attempt.unreserve("n1");
    EXPECT_EQ(pending(), 0U);
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

TEST_F(BindingTest, AWriteThatArrivesTwiceAndMeetsItselfIsDone) {
  server.keep_back();
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("status", kConflict, /*applied=*/true);
  server.fails("get", kLost);
  attempt.begin_pre_bind("n1");
  EXPECT_EQ(fixture.taken(), "d1");
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "ok");
  EXPECT_EQ(writes(), (Writes{"update c", "status c", "get c", "get c"}));
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(BindingTest, AWriteThatWasNotCarriedOutFails) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("status", kLost);
  EXPECT_EQ(attempt.pre_bind("n1"),
            "Error: add allocation and reservation to claim default/c: no answer");
  attempt.unreserve("n1");
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(BindingTest, ClaimsDoNotChangeWhileASchedulingCycleIsOpen) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  fixture.gate.close();
  attempt.begin_pre_bind("n1");
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "…");
  EXPECT_EQ(pending(), 1U) << "somebody may be in the middle of a search";
  fixture.gate.open();
  EXPECT_EQ(attempt.bound(), "ok");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(BindingTest, CancelledBetweenTwoWritesItStops) {
  Attempt attempt(fixture, fixture.pod("p", {"c"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.before("update", [&] { attempt.cancel.cancel("preempted"); });
  EXPECT_EQ(attempt.pre_bind("n1"), "Error: context canceled");
  EXPECT_EQ(writes(), Writes{"update c"});
  EXPECT_EQ(fixture.stored("c"), "free +f");
}

TEST_F(BindingTest, TheFirstClaimThatFailsEndsIt) {
  fixture.add(claim_of("c2", exact("r")));
  Attempt attempt(fixture, fixture.pod("p", {"c", "c2"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("update", kRefused);
  EXPECT_EQ(attempt.pre_bind("n1"), "Error: add finalizer to claim default/c: not allowed");
  EXPECT_EQ(writes(), Writes{"update c"});
  EXPECT_EQ(fixture.taken(), "d1 d2") << "until Unreserve";
  attempt.unreserve("n1");
  EXPECT_EQ(fixture.taken(), "");
}

TEST_F(BindingTest, AllocationsAreInFlightUntilAllClaimsAreWritten) {
  fixture.plugin();
  fixture.add(claim_of("c2", exact("r")));
  server.keep_back();
  Attempt attempt(fixture, fixture.pod("p", {"c", "c2"}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  server.fails("status", kRefused);
  EXPECT_EQ(attempt.pre_bind("n1"),
            "Error: add allocation and reservation to claim default/c: not allowed");
  EXPECT_EQ(pending(), 2U);
  attempt.unreserve("n1");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "");

  Attempt again(fixture, fixture.pod("p", {"c", "c2"}));
  EXPECT_EQ(again.reach_reserve("n1"), "ok");
  server.before("status", [this] { server.fails("update", kRefused); });
  EXPECT_EQ(again.pre_bind("n1"), "Error: add finalizer to claim default/c2: not allowed");
  EXPECT_EQ(pending(), 2U) << "also of the claim that is written";
  again.unreserve("n1");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1") << "which stays as it was written";
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
      {"somebody's", reserved_for({"q"}), "Unschedulable: ", "d9 @gone for q"},
      {"shared", reserved_for({"p", "q"}), "Unschedulable: ", "d9 @gone for p q"},
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
  EXPECT_EQ(attempt.post_filter(), "Unschedulable: ");
  EXPECT_EQ(writes(), Writes{});
}

TEST_F(BindingTest, AClaimIsNotReleasedWhereThatWouldNotHelp) {
  fixture.add(claim_of("away", exact("r"), {.status = allocation("d9", "gone")}));
  fixture.add(claim_of("c", exact("r", 3)));
  Attempt attempt(fixture, fixture.pod("p", {"away", "c"}));
  EXPECT_EQ(attempt.pre_filter(), "ok");
  EXPECT_EQ(attempt.filter("n1"), "n1 cannot allocate all claims");
  EXPECT_EQ(attempt.post_filter(), "Unschedulable: ");
  EXPECT_EQ(fixture.stored("away"), "d9 @gone");
}

}  // namespace
}  // namespace berth::plugins
