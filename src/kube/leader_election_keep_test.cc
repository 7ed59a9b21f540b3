// Keeping a lease, and giving it back: what ends a leadership and what does not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "base/time_text.h"
#include "kube/testing/leader_election_fixture.h"

namespace berth::kube::testing {
namespace {

// ---- keeping it ---------------------------------------------------------------------------------

TEST_F(LeaderElection, AForeignTouchOfTheObjectCostsOneSlowRound) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(3));
  server.put(parse_json(server.json()).value());  // another version, the same holder
  run_for(seconds(2));
  EXPECT_EQ(a.slow_paths(), 1U);
  EXPECT_TRUE(a.elector->leading());
  EXPECT_EQ(rfc3339_micro(*server.lease().acquire_time), "2026-01-01T00:00:00.000000Z");
  EXPECT_THAT(a.log, HasSubstr("\"Failed to update lease optimistically, falling back to slow "
                               "path\" lock=\"kube-system/kube-scheduler\" err=\"Operation"));
  run_for(seconds(2));
  EXPECT_EQ(a.slow_paths(), 1U);
}

TEST_F(LeaderElection, AWriteThatTookEffectUnheardIsFoundAgain) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(3));
  bool once = true;
  a.client.set_fault([&once](const ApiCall& call) {
    return Fault{.answer_lost = call.method == "PUT" && std::exchange(once, false)};
  });
  run_for(seconds(30));
  EXPECT_TRUE(a.elector->leading());
  EXPECT_EQ(a.slow_paths(), 1U);
  EXPECT_TRUE(a.stopped.empty());
}

TEST_F(LeaderElection, ARenewalIsAnotherOneEachTimeSoThatOthersSeeIt) {
  Candidate a(loop, server, "a"), b(loop, server, "b");
  a.start();
  run_for(seconds(3));
  b.start();
  // Written at 4 s, unheard; found at 9 s and written again: b has to see that.
  bool once = true;
  a.client.set_fault([&once](const ApiCall& call) {
    return Fault{.answer_lost = call.method == "PUT" && std::exchange(once, false)};
  });
  run_for(seconds(5));
  const WallTime unheard = *server.lease().renew_time;
  run_for(seconds(2));
  EXPECT_NE(*server.lease().renew_time, unheard);
}

TEST_F(LeaderElection, WithoutAServerLeadershipEndsTwelveSecondsAfterTheLastRenewal) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(20));  // the last renewal is at 20 s
  a.client.set_fault([](const ApiCall&) {
    return Fault{.instead = no_answer("dial tcp 127.0.0.1:6443: connect: connection refused")};
  });
  run_for(milliseconds(11999));
  EXPECT_TRUE(a.elector->leading());
  run_for(milliseconds(1));
  EXPECT_FALSE(a.elector->leading());
  EXPECT_THAT(a.stopped, ElementsAre(at(seconds(32))));
  EXPECT_EQ(a.end, ElectionEnd::kLost);
  EXPECT_EQ(a.master_status(), 0);
  EXPECT_THAT(a.log, HasSubstr("\"Failed to renew lease\" lock=\"kube-system/kube-scheduler\" "
                               "err=\"context deadline exceeded\""));
  EXPECT_THAT(a.log, HasSubstr("\"error retrieving resource lock\" err=\"dial tcp"));
  EXPECT_THAT(a.events, ElementsAre("a became leader", "a stopped leading"));
}

TEST_F(LeaderElection, WritesEndTheRenewDeadlineAfterTheLastRenewalWasSent) {
  Candidate a(loop, server, "a");
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kDrop);
  a.start();
  run_for(seconds(19));
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kSend);
  // The last renewal is sent at 20 s and answered at 21 s.
  a.client.set_fault([this](const ApiCall&) {
    return loop.now() < at(seconds(21)) ? Fault{.back = seconds(1)} : Fault{.request_lost = true};
  });
  run_for(milliseconds(10999));
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kSend);
  run_for(milliseconds(1));
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kWait) << "a try is still under way";
  run_for(seconds(10));
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kDrop);
}

TEST_F(LeaderElection, ALateRenewalLetsWritesGoOn) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(20));
  a.client.set_fault([this](const ApiCall&) {
    return loop.now() < at(seconds(30))
               ? Fault{.instead = no_answer("dial tcp: connect: connection refused")}
               : Fault{.back = milliseconds(500)};
  });
  run_for(milliseconds(10400));
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kWait);
  run_for(milliseconds(100));
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kSend);
}

TEST_F(LeaderElection, AForeignHolderStopsWritesAsSoonAsItIsSeen) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(milliseconds(20500));
  server.put(kForeign);
  run_for(milliseconds(1500));
  EXPECT_EQ(a.elector->write_permit(), WritePermit::kWait);
}

TEST_F(LeaderElection, ASilentServerCostsLeadershipAtTheSameMoment) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(20));
  a.client.set_fault([](const ApiCall&) { return Fault{.request_lost = true}; });
  run_for(seconds(12));
  EXPECT_THAT(a.stopped, ElementsAre(at(seconds(32))));
  run_for(seconds(10));
  EXPECT_EQ(a.end, ElectionEnd::kLost);
}

TEST_F(LeaderElection, ALeaderCountsFromWhenItAskedNotFromWhenItWasAnswered) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(19));
  // The renewal of 20 s arrives at once and is answered late; after it there is nobody.
  a.client.set_fault([this](const ApiCall&) {
    return loop.now() < at(seconds(21)) ? Fault{.back = milliseconds(4900)}
                                        : Fault{.request_lost = true};
  });
  run_for(milliseconds(15999));
  EXPECT_TRUE(a.elector->leading());
  run_for(milliseconds(1));
  EXPECT_FALSE(a.elector->leading());
  EXPECT_THAT(a.stopped, ElementsAre(at(seconds(35))));
}

TEST_F(LeaderElection, AForeignHolderEndsTheOldLeaderWithinTwelveSeconds) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(milliseconds(20500));
  server.put(kForeign);
  run_for(seconds(12));
  EXPECT_THAT(a.stopped, ElementsAre(at(seconds(32))));
  EXPECT_EQ(a.end, ElectionEnd::kLost);
  // The lease is not its own any more: it is left alone.
  EXPECT_EQ(server.holder(), "other");
  EXPECT_THAT(a.leaders, ElementsAre("a", "other"));
  EXPECT_THAT(a.log, HasSubstr("\"Lease is held by and has not yet expired\" "
                               "lock=\"kube-system/kube-scheduler\" holder=\"other\""));
}

TEST_F(LeaderElection, ADeletedLeaseIsMadeAnew) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(3));
  server.remove();
  run_for(seconds(2));
  EXPECT_TRUE(a.elector->leading());
  EXPECT_EQ(server.holder(), "a");
}

TEST_F(LeaderElection, AJumpOfTheWallClockChangesNothingButWhatIsWritten) {
  Candidate a(loop, server, "a"), b(loop, server, "b");
  a.start();
  run_for(seconds(5));
  b.start();
  for (const Duration jump : {Duration(seconds(3600)), Duration(seconds(-7200))}) {
    run_for(seconds(30));
    loop.jump_wall_clock(jump);
  }
  run_for(seconds(60));
  EXPECT_TRUE(a.stopped.empty());
  EXPECT_TRUE(b.started.empty());
}

TEST_F(LeaderElection, AnAnswerThatIsNoLeaseIsAFailure) {
  Candidate a(loop, server, "a");
  server.put(kForeign);
  a.client.set_fault(
      [](const ApiCall&) { return Fault{.instead = testing::answered("<html>proxy</html>")}; });
  a.start();
  run_for(seconds(10));
  EXPECT_FALSE(a.elector->leading());
  EXPECT_THAT(a.log, HasSubstr("\"Error retrieving lease lock\" err="));
}

// ---- going --------------------------------------------------------------------------------------

TEST_F(LeaderElection, ItsNameIsTakenOffWhenItGoes) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(milliseconds(4500));
  a.stop();
  EXPECT_THAT(a.stopped, ElementsAre(at(milliseconds(4500))));
  run_for(milliseconds(1));
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
  EXPECT_EQ(a.master_status(), 0);
  EXPECT_THAT(server.json(), HasSubstr(R"("spec":{"holderIdentity":"","leaseDurationSeconds":1,)"
                                       R"("acquireTime":"2026-01-01T00:00:04.500000Z",)"
                                       R"("renewTime":"2026-01-01T00:00:04.500000Z",)"
                                       R"("leaseTransitions":0})"));
  EXPECT_THAT(a.log, Not(HasSubstr("Failed to renew lease")));
}

TEST_F(LeaderElection, TheLeaseIsReleasedWhenNothingOfOursCanArriveAnyMore) {
  Candidate a(loop, server, "a");
  Eventual<bool> settled;
  a.settled = &settled;
  a.start();
  run_for(milliseconds(4500));
  a.stop();
  run_for(seconds(3));
  EXPECT_EQ(server.holder(), "a");
  EXPECT_EQ(a.settle_limit, milliseconds(14500)) << "until the lease runs out by itself";
  settled.set(true);
  run_for(milliseconds(1));
  EXPECT_EQ(server.holder(), "");
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
}

TEST_F(LeaderElection, ALeaseUnderWhichSomethingMayStillArriveRunsOut) {
  Candidate a(loop, server, "a"), b(loop, server, "b");
  Eventual<bool> settled;
  a.settled = &settled;
  a.start();
  b.start();
  run_for(milliseconds(4500));
  a.stop();
  settled.set(false);
  run_for(milliseconds(1));
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
  EXPECT_EQ(server.holder(), "a");
  run_for(seconds(14));
  EXPECT_FALSE(b.elector->leading());
  run_for(seconds(6));
  EXPECT_TRUE(b.elector->leading());
}

TEST_F(LeaderElection, AStandbyTakesAReleasedLeaseAtItsNextTry) {
  Candidate a(loop, server, "a"), b(loop, server, "b");
  a.start();
  b.start();
  run_for(seconds(30));
  ASSERT_TRUE(a.elector->leading());
  a.stop();
  run_for(milliseconds(4400));
  EXPECT_TRUE(b.elector->leading());
  EXPECT_EQ(server.lease().transitions, 1);
}

TEST_F(LeaderElection, ASuccessorsLeaseIsLeftAlone) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(4));
  server.put(kForeign);
  a.stop();
  run_for(seconds(1));
  EXPECT_EQ(server.holder(), "other");
  EXPECT_EQ(server.lease().transitions, 7);
}

TEST_F(LeaderElection, ARenewalThatArrivesWhileItGoesDoesNotKeepTheLease) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(3));
  // The renewal of 4 s is under way when it is told to go; it arrives between look and release.
  int requests = 0;
  a.client.set_fault([&requests](const ApiCall& call) {
    ++requests;
    if (requests == 1) return Fault{.there = milliseconds(1100)};
    return Fault{.there = call.method == "PUT" ? milliseconds(400) : milliseconds(0)};
  });
  run_for(seconds(2));
  a.stop();
  run_for(seconds(2));
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
  EXPECT_EQ(server.holder(), "");
}

TEST_F(LeaderElection, NotReleasedWhenNotWanted) {
  Candidate a(loop, server, "a", {.release_on_cancel = false});
  a.start();
  run_for(seconds(3));
  a.stop();
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
  EXPECT_EQ(server.holder(), "a");
}

TEST_F(LeaderElection, AGoneServerDoesNotHoldUpTheEndForLongerThanTheRenewDeadline) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(3));
  a.client.set_fault([](const ApiCall&) { return Fault{.request_lost = true}; });
  a.stop();
  run_for(seconds(10));
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
}

}  // namespace
}  // namespace berth::kube::testing
