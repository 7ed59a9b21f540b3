// What the tests of leader election share: candidates in virtual time, and a server with one Lease.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/task.h"
#include "kube/leader_election.h"
#include "kube/testing/lease_server.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::kube::testing {

// A lease that somebody else holds.
inline constexpr std::string_view kForeign =
    R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1",
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
    callbacks.settle = [this](Duration limit) { return settle(limit); };
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
  Eventual<bool>* settled = nullptr;  // when, and whether; null: at once
  Duration settle_limit{0};

 private:
  Task<bool> settle(Duration limit) {
    settle_limit = limit;
    if (!settled) co_return true;
    const bool answer = co_await *settled;
    co_return answer;
  }
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

}  // namespace berth::kube::testing
