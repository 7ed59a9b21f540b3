// Leader election on a loop of its own, beside a world that is busy, stuck or asked to end.
#include "app/scheduler_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/loop_thread.h"
#include "base/thread.h"
#include "kube/testing/lease_server.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::app {
namespace {

using kube::ElectionEnd;
using kube::WritePermit;
using kube::testing::LeaseClient;
using kube::testing::LeaseServer;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

// An election and its world, on whatever loops.
class Beside {
 public:
  Beside(Loop& world, Loop& own)
      : world_(world), client(own, server), host_{.world = world, .election = own, .name = "host"} {
    config::LeaderElection& election = setup_.configuration.leader_election;
    election.leader_elect = true;
    election.resource_namespace = "kube-system";
    election.resource_name = "kube-scheduler";
    election.lease_duration = seconds(15);
    election.renew_deadline = seconds(10);
    election.retry_period = seconds(2);
    SchedulerElection::Callbacks callbacks;
    callbacks.started_leading = [this] { happened.emplace_back("started"); };
    callbacks.stopped_leading = [this] { happened.emplace_back("stopped"); };
    callbacks.settle = [this](Duration) { return settle(); };
    callbacks.event = [this](const ObjectReference& lease, const std::string&) {
      happened.push_back("event on " + lease.name);
    };
    callbacks.ended = [this](ElectionEnd end) {
      happened.emplace_back(end == ElectionEnd::kLost ? "lost" : "ended");
      if (on_end) on_end();
    };
    election_.emplace(setup_, host_, client, Random(1), metrics_, std::move(callbacks),
                      telemetry::Log(output_));
  }

  SchedulerElection& election() { return *election_; }

  std::vector<std::string> happened;  // on the world
  std::function<void()> on_end;
  Duration settles_after{0};
  LeaseServer server;

 private:
  Task<bool> settle() {
    SleepUntil settled(world_, world_.now() + settles_after);
    co_await settled;
    happened.emplace_back("settled");
    co_return true;
  }

  Loop& world_;

 public:
  LeaseClient client;

 private:
  SchedulerSetup setup_;
  SchedulerHost host_;
  std::string log_text_;
  std::shared_ptr<telemetry::LogOutput> output_ = std::make_shared<telemetry::LogOutput>(
      telemetry::LogOptions{.verbosity = 5}, [] { return WallTime{}; },
      std::make_unique<telemetry::StringSink>(log_text_));
  telemetry::Registry registry_;
  telemetry::LeaderElectionMetrics metrics_{registry_};
  std::optional<SchedulerElection> election_;
};

struct SchedulerElectionTest : ::testing::Test {
  VirtualClock clock;
  VirtualLoop world{clock}, own{clock};
  Beside beside{world, own};

  void run_for(Duration duration) { clock.run_until(clock.now() + duration); }
};

TEST_F(SchedulerElectionTest, AWorldThatStandsStillDoesNotLoseTheLease) {
  beside.election().start();
  run_for(seconds(1));
  world.halt();
  run_for(seconds(600));
  EXPECT_TRUE(beside.election().leading());
  EXPECT_EQ(beside.election().write_permit(), WritePermit::kSend);
  world.resume();
  run_for(seconds(1));
  EXPECT_THAT(beside.happened, ElementsAre("event on kube-scheduler", "started"));
}

TEST_F(SchedulerElectionTest, AWorldThatIsStuckIsReported) {
  EXPECT_TRUE(beside.election().healthy());
  beside.election().start();
  run_for(seconds(100));
  EXPECT_TRUE(beside.election().healthy());
  world.halt();
  run_for(seconds(34));
  EXPECT_TRUE(beside.election().healthy());
  run_for(seconds(4));
  EXPECT_FALSE(beside.election().healthy());
  world.resume();
  run_for(seconds(3));
  EXPECT_TRUE(beside.election().healthy());
}

TEST_F(SchedulerElectionTest, AnElectionThatStandsStillEndsWritesInTime) {
  beside.election().start();
  run_for(seconds(1));  // the last renewal is at 0 s
  own.halt();
  run_for(milliseconds(8999));
  EXPECT_EQ(beside.election().write_permit(), WritePermit::kSend);
  run_for(milliseconds(1));
  EXPECT_EQ(beside.election().write_permit(), WritePermit::kWait);
  run_for(seconds(5));
  EXPECT_EQ(beside.election().write_permit(), WritePermit::kDrop);
  EXPECT_FALSE(beside.election().leading());
}

TEST_F(SchedulerElectionTest, TheLeaseIsGivenBackWhenTheWorldHasSettled) {
  beside.settles_after = seconds(3);
  beside.election().start();
  run_for(seconds(1));
  beside.election().stop();
  run_for(milliseconds(2999));
  EXPECT_EQ(beside.election().write_permit(), WritePermit::kDrop);
  EXPECT_NE(beside.server.holder(), "");
  run_for(milliseconds(1));
  EXPECT_EQ(beside.server.holder(), "");
  EXPECT_THAT(beside.happened, ElementsAre("event on kube-scheduler", "started", "stopped",
                                           "settled", "event on kube-scheduler", "ended"));
}

TEST_F(SchedulerElectionTest, AWorldThatDoesNotAnswerKeepsTheLeaseUntilItRunsOut) {
  beside.election().start();
  run_for(seconds(1));
  world.halt();
  beside.election().stop();
  run_for(seconds(13));
  EXPECT_NE(beside.server.holder(), "");
  world.resume();
  run_for(seconds(2));
  EXPECT_EQ(beside.happened.back(), "ended");
}

TEST_F(SchedulerElectionTest, ALostLeaseIsToldToTheWorld) {
  beside.election().start();
  run_for(seconds(1));
  beside.client.set_fault([](const kube::ApiCall&) {
    return kube::testing::Fault{.instead = kube::testing::no_answer("connection refused")};
  });
  run_for(seconds(40));
  EXPECT_THAT(beside.happened, ElementsAre("event on kube-scheduler", "started", "stopped",
                                           "settled", "event on kube-scheduler", "lost"));
}

// The real threads, and others that ask.
TEST(SchedulerElectionConcurrent, WorldElectionAndThoseWhoAskAreDifferentThreads) {
  RealLoop world, own;
  Beside beside(world, own);
  const LoopThread thread("leader-election", own);
  std::atomic<bool> over = false;
  std::atomic<int> led = 0;
  std::vector<Thread> asking;
  for (int i = 0; i < 2; ++i)
    asking.emplace_back("asking", [&] {
      while (!over) {
        if (beside.election().leading() && beside.election().write_permit() == WritePermit::kSend &&
            beside.election().healthy())
          ++led;
      }
    });
  beside.on_end = [&] { world.stop(); };
  beside.election().start();
  std::function<void()> stop_when_leading = [&] {
    if (beside.election().leading() && led > 0) return beside.election().stop();
    world.post([&] { stop_when_leading(); });
  };
  world.post([&] { stop_when_leading(); });
  world.run();
  over = true;
  EXPECT_THAT(beside.happened, ElementsAre("event on kube-scheduler", "started", "stopped",
                                           "settled", "event on kube-scheduler", "ended"));
  EXPECT_FALSE(beside.election().leading());
}

}  // namespace
}  // namespace berth::app
