#include "kube/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "base/time_text.h"
#include "kube/testing/leader_election_fixture.h"

namespace berth::kube::testing {
namespace {

// ---- acquiring ----------------------------------------------------------------------------------

TEST_F(LeaderElection, MakesTheLeaseWhenThereIsNone) {
  Candidate a(loop, server, "a");
  EXPECT_EQ(a.master_status(), 0);
  a.start();
  run_for(milliseconds(1));
  EXPECT_TRUE(a.elector->leading());
  EXPECT_EQ(a.master_status(), 1);
  // The first renewal follows at once.
  EXPECT_THAT(a.client.methods(), ElementsAre("GET", "POST", "PUT"));
  EXPECT_EQ(a.client.sent()[0].call.path,
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s");
  EXPECT_EQ(a.client.sent()[1].call.path,
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?timeout=5s");
  EXPECT_EQ(a.client.sent()[0].call.timeout, seconds(5));
  EXPECT_EQ(a.client.sent()[0].call.urgency, Urgency::kHigh);
  EXPECT_THAT(server.json(), HasSubstr(R"("spec":{"holderIdentity":"a","leaseDurationSeconds":15,)"
                                       R"("acquireTime":"2026-01-01T00:00:00.000000Z",)"
                                       R"("renewTime":"2026-01-01T00:00:00.000001Z",)"
                                       R"("leaseTransitions":0})"));
  EXPECT_THAT(a.leaders, ElementsAre("a"));
  EXPECT_THAT(a.events, ElementsAre("a became leader"));
}

TEST_F(LeaderElection, RenewsEveryRetryPeriodByOneWrite) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(6));
  EXPECT_THAT(a.client.methods(), ElementsAre("GET", "POST", "PUT", "PUT", "PUT", "PUT"));
  EXPECT_EQ(a.client.sent().back().when, at(seconds(6)));
  const Lease lease = server.lease();
  EXPECT_EQ(rfc3339_micro(*lease.acquire_time), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(rfc3339_micro(*lease.renew_time), "2026-01-01T00:00:06.000000Z");
  EXPECT_EQ(lease.transitions, 0);
  EXPECT_EQ(a.slow_paths(), 0U);
}

TEST_F(LeaderElection, TakesALeaseThatHasNotChangedForItsDurationWhateverItsTimesSay) {
  server.put(kForeign);
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(15));
  EXPECT_FALSE(a.elector->leading());
  EXPECT_THAT(a.leaders, ElementsAre("other"));
  run_for(milliseconds(4500));  // the longest pause between two tries is 4.4 s
  ASSERT_EQ(a.started.size(), 1U);
  EXPECT_GE(a.started[0], at(seconds(15)));
  const Lease lease = server.lease();
  EXPECT_EQ(lease.holder_identity, "a");
  EXPECT_EQ(lease.transitions, 8);
  EXPECT_EQ(rfc3339_micro(*lease.acquire_time),
            rfc3339_micro(VirtualLoop::kDefaultStart + since_start(a.started[0])));
  EXPECT_THAT(a.leaders, ElementsAre("other", "a"));
  // What others have put there is still there.
  EXPECT_THAT(server.json(), HasSubstr(R"("labels":{"keep":"me"})"));
}

TEST_F(LeaderElection, ALeaseThatKeepsChangingIsNotTaken) {
  Candidate a(loop, server, "a");
  server.put(kForeign);
  a.start();
  for (int i = 0; i < 30; ++i) {
    run_for(seconds(10));
    std::string renewed(kForeign);
    renewed.replace(renewed.find("leaseTransitions\":7"), 19,
                    "leaseTransitions\":" + std::to_string(i + 10));
    server.put(renewed);
  }
  EXPECT_TRUE(a.started.empty());
}

TEST_F(LeaderElection, AChangeOfTheObjectThatIsNotOfTheRecordDoesNotCount) {
  server.put(kForeign);
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(10));
  std::string labelled(kForeign);
  labelled.replace(labelled.find("\"me\""), 4, "\"us\"");
  server.put(labelled);
  run_for(milliseconds(9500));
  EXPECT_EQ(a.started.size(), 1U);
}

TEST_F(LeaderElection, TriesAreJittered) {
  server.put(kForeign);
  Candidate a(loop, server, "a", {.lease_duration = seconds(1000)});
  std::string held(kForeign);
  held.replace(held.find("Seconds\":15"), 11, "Seconds\":999");
  server.put(held);
  a.start();
  run_for(seconds(900));
  const auto& sent = a.client.sent();
  ASSERT_GT(sent.size(), 200U);
  Duration shortest = Duration::max(), longest{0};
  for (std::size_t i = 1; i < sent.size(); ++i) {
    const Duration pause = sent[i].when - sent[i - 1].when;
    shortest = std::min(shortest, pause);
    longest = std::max(longest, pause);
  }
  EXPECT_THAT(shortest, AllOf(Ge(milliseconds(2000)), Le(milliseconds(2100))));
  EXPECT_THAT(longest, AllOf(Ge(milliseconds(4300)), Le(milliseconds(4400))));
}

TEST_F(LeaderElection, AReleasedLeaseIsTakenAtTheNextTry) {
  std::string released(kForeign);
  released.replace(released.find("\"other\""), 7, "\"\"");
  server.put(released);
  Candidate a(loop, server, "a");
  a.start();
  run_for(milliseconds(1));
  EXPECT_TRUE(a.elector->leading());
  EXPECT_EQ(server.lease().transitions, 8);
}

TEST_F(LeaderElection, AWriterWhoWasFasterIsGivenWay) {
  server.put(kForeign);
  Candidate a(loop, server, "a"), b(loop, server, "b");
  // Both see the same version, and b's write arrives later.
  b.client.set_fault([](const ApiCall& call) {
    return Fault{.there = call.method == "PUT" ? milliseconds(50) : milliseconds(0)};
  });
  std::string released(kForeign);
  released.replace(released.find("\"other\""), 7, "\"\"");
  server.put(released);
  a.start();
  b.start();
  run_for(seconds(10));
  EXPECT_TRUE(a.elector->leading());
  EXPECT_FALSE(b.elector->leading());
  EXPECT_THAT(b.log, HasSubstr("\"Failed to update lease\" err=\"Operation cannot be fulfilled"));
}

TEST_F(LeaderElection, TransitionsDoNotOverflow) {
  std::string released(kForeign);
  released.replace(released.find("\"other\""), 7, "\"\"");
  released.replace(released.find("Transitions\":7"), 14, "Transitions\":2147483647");
  server.put(released);
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(1));
  EXPECT_EQ(server.lease().transitions, 2147483647);
}

TEST_F(LeaderElection, StoppedWhileItWaitsItEndsAtOnce) {
  server.put(kForeign);
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(1));
  a.stop();
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
  EXPECT_TRUE(a.started.empty());
  EXPECT_TRUE(a.stopped.empty());
  EXPECT_EQ(server.holder(), "other");
  EXPECT_THAT(a.events, ElementsAre());
}

TEST_F(LeaderElection, StoppedWhileItsNameIsOnItsWayItTakesItOffAgain) {
  Candidate a(loop, server, "a");
  a.client.set_fault([](const ApiCall& call) {
    return Fault{.back = call.method == "POST" ? seconds(2) : seconds(0)};
  });
  a.start();
  run_for(seconds(1));
  ASSERT_EQ(server.holder(), "a");
  a.stop();
  run_for(seconds(3));
  EXPECT_EQ(a.end, ElectionEnd::kCancelled);
  EXPECT_EQ(server.holder(), "");
  EXPECT_TRUE(a.started.empty());
}

// ---- the rest -----------------------------------------------------------------------------------

TEST_F(LeaderElection, LogsWhatUpstreamLogs) {
  Candidate a(loop, server, "a");
  a.start();
  run_for(seconds(2));
  a.stop();
  run_for(seconds(1));
  std::vector<std::string> messages;
  std::string_view rest = a.log;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    messages.emplace_back(line.substr(line.find("] ") + 2));
    rest.remove_prefix(line.size() + 1);
  }
  EXPECT_THAT(messages,
              ElementsAre("\"Attempting to acquire leader lease...\" "
                          "lock=\"kube-system/kube-scheduler\"",
                          "\"Successfully acquired lease\" lock=\"kube-system/kube-scheduler\"",
                          "\"Successfully renewed lease\" lock=\"kube-system/kube-scheduler\"",
                          "\"Successfully renewed lease\" lock=\"kube-system/kube-scheduler\""));
}

TEST_F(LeaderElection, SpeaksProtobuf) {
  Candidate a(loop, server, "a", {}, BodyFormat::kProtobuf);
  server.put(kForeign);
  a.client.answer_in_protobuf();
  a.start();
  run_for(seconds(30));
  EXPECT_TRUE(a.elector->leading());
  EXPECT_EQ(a.client.sent().back().call.content_type, kProtoContentType);
  EXPECT_THAT(server.json(), HasSubstr(R"("labels":{"keep":"me"})"));
  EXPECT_EQ(server.lease().transitions, 8);
}

TEST_F(LeaderElection, AStuckLeaderIsSickTwentySecondsAfterItsLeaseRanOut) {
  Candidate a(loop, server, "a");
  EXPECT_TRUE(a.elector->healthy(at(seconds(1000))));
  a.start();
  run_for(seconds(10));
  EXPECT_TRUE(a.elector->healthy(at(seconds(45))));
  const Result<void> sick = a.elector->healthy(at(milliseconds(45001)));
  ASSERT_FALSE(sick);
  EXPECT_EQ(sick.error().message, "failed election to renew leadership on lease kube-scheduler");
  a.stop();
  EXPECT_TRUE(a.elector->healthy(at(seconds(1000))));
}

TEST_F(LeaderElection, RequestsMayTakeHalfTheRenewDeadlineButAtLeastASecond) {
  EXPECT_EQ(LeaderElector::request_timeout(seconds(10)), seconds(5));
  EXPECT_EQ(LeaderElector::request_timeout(seconds(3)), milliseconds(1500));
  EXPECT_EQ(LeaderElector::request_timeout(milliseconds(500)), seconds(1));
}

TEST(ElectionIdentity, IsTheHostAndARandomUuid) {
  const std::string one = election_identity("node-1", Random(1));
  EXPECT_THAT(one, MatchesRegex("node-1_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                "[0-9a-f]{12}"));
  EXPECT_NE(one, election_identity("node-1", Random(2)));
}

// ---- coordinated --------------------------------------------------------------------------------

constexpr std::string_view kGiven = R"({"metadata":{"name":"kube-scheduler"},
  "spec":{"holderIdentity":"a","leaseDurationSeconds":15,"strategy":"OldestEmulationVersion",
          "renewTime":"2026-01-01T00:00:00.000000Z","leaseTransitions":3}})";

TEST_F(LeaderElection, CoordinatedItNeitherMakesNorTakesALease) {
  Candidate a(loop, server, "a", {.coordinated = true});
  a.start();
  run_for(seconds(10));
  server.put(kForeign);
  run_for(seconds(100));
  std::string released(kForeign);
  released.replace(released.find("\"other\""), 7, "\"\"");
  server.put(released);
  run_for(seconds(100));
  EXPECT_TRUE(a.started.empty());
  EXPECT_THAT(a.client.methods(), ::testing::Each("GET"));
  EXPECT_THAT(a.log, HasSubstr("\"Lease lock not found\""));
  EXPECT_THAT(a.log, HasSubstr("\"Lease has expired\""));
}

TEST_F(LeaderElection, CoordinatedItLeadsWhenTheLeaseIsGivenToItUntilTheEndOfTerm) {
  Candidate a(loop, server, "a", {.coordinated = true});
  a.start();
  run_for(seconds(10));
  server.put(kGiven);
  run_for(seconds(60));
  ASSERT_TRUE(a.elector->leading());
  EXPECT_EQ(server.lease().strategy, "OldestEmulationVersion");
  EXPECT_EQ(server.lease().transitions, 3);
  EXPECT_GT(a.slow_paths(), 20U);

  JsonValue ending = parse_json(server.json()).value();
  LeaseServer::set(LeaseServer::member(ending, "spec"), "preferredHolder", "b");
  server.put(ending);
  run_for(seconds(13));
  EXPECT_EQ(a.end, ElectionEnd::kLost);
  EXPECT_THAT(a.log, HasSubstr("\"Lease is marked as 'end of term'\""));
}

}  // namespace
}  // namespace berth::kube::testing
