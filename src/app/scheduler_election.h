// Leader election beside the world. Elector and candidate live on a loop of their own, in
// production on a thread of its own, so that a world that is busy does not lose the lease; what
// concerns the world is posted to it.
//
//        the election's loop                                the world
//   LeaderElector, LeaseCandidate ── started, stopped, ended ──► SchedulerProcess
//                ◄── start(), stop(), "nothing can arrive any more" ──┘
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/requests.h"
#include "app/scheduler_setup.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/leader_election.h"
#include "kube/lease_candidate.h"
#include "kube/write_gate.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::app {

bool elects_leader(const SchedulerSetup& setup);
// The API server chooses the leader.
bool coordinated_election(const SchedulerSetup& setup);

class SchedulerElection {
 public:
  // Called on the world.
  struct Callbacks {
    std::function<void()> started_leading;
    std::function<void()> stopped_leading;
    // kube::LeaderCallbacks::settle.
    std::function<Task<bool>(Duration limit)> settle;
    std::function<void(ObjectReference lease, std::string message)> event;
    // Once, at the end.
    std::function<void(kube::ElectionEnd)> ended;
  };

  // `client` is the election's own and on its loop. What is referred to outlives this; when this
  // ends, neither loop runs any more.
  SchedulerElection(const SchedulerSetup& setup, const SchedulerHost& host, kube::ApiClient& client,
                    Random random, telemetry::LeaderElectionMetrics& metrics, Callbacks callbacks,
                    telemetry::Log log);
  SchedulerElection(const SchedulerElection&) = delete;
  SchedulerElection& operator=(const SchedulerElection&) = delete;

  // World thread.
  void start();
  bool started() const { return started_; }
  // Gives the lease back; then `ended` is called.
  void stop();

  // Any thread.
  bool leading() const { return elector_->leading(); }
  kube::WritePermit write_permit() const { return elector_->write_permit(); }
  // The check `leaderElection`: the lease is renewed, and the world takes its turns. A world that
  // is stuck keeps the lease; whoever looks at the check restarts it.
  Result<void> healthy() const;
  // What the server has of our candidate is known, if there is to be one.
  bool candidate_known() const { return !candidate_ || candidate_->synced(); }

 private:
  kube::LeaderCallbacks elector_callbacks();
  Task<void> run();
  void ask_world();
  Task<bool> settle(Duration limit);
  Task<void> settle_on_world(std::shared_ptr<Eventual<bool>> answer, Duration limit);

  Loop& world_;
  Loop& loop_;  // the election's
  const Callbacks callbacks_;
  const Duration retry_period_;
  const Duration world_patience_;
  bool started_ = false;
  TaskSet world_tasks_;

  std::atomic<TimePoint> world_answered_{};  // by the election's loop
  std::atomic<bool> world_asked_ = false;

  // On the election's loop.
  std::optional<kube::LeaderElector> elector_;
  std::optional<kube::LeaseCandidate> candidate_;
  CancelSource stop_;
  TaskSet tasks_;
};

}  // namespace berth::app
