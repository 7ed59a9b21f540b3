#include "kube/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/time_text.h"
#include "kube/testing/lease_server.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Fault;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using testing::LeaseClient;
using testing::LeaseServer;
using ::testing::MatchesRegex;
using testing::no_answer;
using ::testing::Not;
using testing::refused;

constexpr std::string_view kForeign = R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1",
  "metadata":{"name":"kube-scheduler","namespace":"kube-system","labels":{"keep":"me"}},
  "spec":{"holderIdentity":"other","leaseDurationSeconds":15,
          "acquireTime":"2020-01-01T00:00:00.000000Z","renewTime":"2020-01-01T00:00:00.000000Z",
          "leaseTransitions":7}})";

// One elector, its client and what became of it.
class Candidate {
 public:
  Candidate(VirtualLoop& loop, LeaseServer& server, std::string identity,
            LeaderElectionOptions options = {}, BodyFormat format = BodyFormat::kJson)
      : client(loop, server, format), loop_(loop) {
    options.identity = identity;
    options.metrics = &metrics_;
    LeaderCallbacks callbacks;
    callbacks.on_started_leading = [this] { started.push_back(loop_.now()); };
    callbacks.on_stopped_leading = [this] {
      EXPECT_FALSE(elector->leading());
      stopped.push_back(loop_.now());
    };
    callbacks.on_new_leader = [this](const std::string& leader) { leaders.push_back(leader); };
    callbacks.on_event = [this](const ObjectReference& lease, const std::string& message) {
      EXPECT_EQ(lease.uid, "lease-uid");
      EXPECT_EQ(lease.kind, "Lease");
      EXPECT_EQ(lease.api_version, "coordination.k8s.io/v1");
      events.push_back(message);
    };
    const auto output = std::make_shared<telemetry::LogOutput>(
        telemetry::LogOptions{.verbosity = 6, .utc = true}, [this] { return loop_.wall_now(); },
        std::make_unique<telemetry::StringSink>(log));
    elector = std::make_unique<LeaderElector>(loop, client, Random(7), std::move(options),
                                              std::move(callbacks), telemetry::Log(output));
  }

  void start() { tasks_.spawn(run()); }
  void stop() { stop_.cancel("context canceled"); }
  double master_status() { return metrics_.master_status.gauge({"kube-scheduler"}).value(); }
  std::uint64_t slow_paths() { return metrics_.slowpath.counter({"kube-scheduler"}).value(); }

  LeaseClient client;
  std::unique_ptr<LeaderElector> elector;
  std::vector<TimePoint> started, stopped;
  std::vector<std::string> leaders, events;
  std::optional<ElectionEnd> end;
  std::string log;

 private:
  Task<void> run() {
    Task<ElectionEnd> running = elector->run(stop_.token());
    end = co_await running;
  }

  VirtualLoop& loop_;
  telemetry::Registry registry_;
  telemetry::LeaderElectionMetrics metrics_{registry_};
  CancelSource stop_;
  TaskSet tasks_;
};

class LeaderElection : public ::testing::Test {
 protected:
  void run_for(Duration duration) { loop.run_until(loop.now() + duration); }
  static TimePoint at(Duration since_start) { return {since_start}; }
  static Duration since_start(TimePoint time) { return time.since_start; }

  VirtualLoop loop;
  LeaseServer server;
};

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
}  // namespace berth::kube
