// The scheduler against a real API server: clients, informers, leader election, HTTPS, signals, in
// upstream's order of work (shell.md §1.4, steps 7 to 11), until it is told to stop or loses the
// lease.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/object_sources.h"
#include "app/pod_group_controller.h"
#include "app/scheduler_clients.h"
#include "app/scheduler_election.h"
#include "app/scheduler_metrics.h"
#include "app/scheduler_serving.h"
#include "app/scheduler_setup.h"
#include "base/thread.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "engine/engine.h"
#include "extender/extenders.h"
#include "framework/log_observer.h"
#include "framework/metrics_observer.h"
#include "framework/observers.h"
#include "kube/event_recorder.h"
#include "kube/kube_cluster_api.h"
#include "kube/reflectors.h"
#include "kube/write_gate.h"
#include "live/live_explainer.h"
#include "telemetry/log.h"
#include "ui/endpoints.h"
#include "ui/live_feed.h"

namespace berth::app {

// Everything that lives as long as the scheduler does. World thread. Neither of its loops runs when
// it is destroyed, nor ever after if that was before it has ended: a process that was killed.
class SchedulerProcess {
 public:
  // `interner` is the one that the configuration was read with.
  SchedulerProcess(SchedulerSetup setup, SchedulerHost host, Interner& interner,
                   telemetry::Log log);
  ~SchedulerProcess();

  // Once, before all else.
  Result<void> make();
  // Works until stop(), or until the lease is lost; then `ended` is called on the world thread with
  // the exit code, or with why it failed.
  void start(std::function<void(Result<int>)> ended);
  // Asks it to end in good order.
  void stop();
  // Says what it has in memory, for who wonders.
  void dump();

  // After make(). For tests.
  Engine& engine() { return *engine_; }

 private:
  EngineOptions engine_options();
  kube::TextOptions text_options();
  std::unique_ptr<kube::WriteGate> make_gate();
  SchedulerElection::Callbacks election_callbacks();
  Result<void> serve();
  serve::HealthChecks health_checks();
  serve::ListPods pods_door();
  serve::AnswerUi page_door();
  serve::ExplainPods explain_door();
  void note_sync();
  void begin();
  void synced();
  void start_engine();
  Task<void> finish(Result<int> result);
  bool elects() const { return elects_leader(setup_); }
  bool delays_cache() const { return elects() && setup_.configuration.delay_cache_until_active; }

  const SchedulerSetup setup_;
  SchedulerHost host_;
  Loop& loop_;  // the world's
  Interner& interner_;
  telemetry::Log log_;
  Random random_;

  ProgramMetrics metrics_;
  const std::unique_ptr<kube::WriteGate> gate_;  // none: without leader election all may be written
  SchedulerClients clients_;
  kube::EventRecorder events_;
  kube::KubeClusterApi api_;
  MetricsObserver measured_;
  LogObserver logged_;
  ui::LiveFeed feed_;
  const ui::Endpoints page_;
  Observers observers_;
  std::unique_ptr<extender::Extenders> extenders_;
  std::unique_ptr<Engine> engine_;
  KubeObjects objects_;
  std::unique_ptr<live::LiveExplainer> explainer_;
  std::unique_ptr<kube::Reflectors> reflectors_;
  std::unique_ptr<PodGroupController> pod_groups_;  // none: it was not asked for
  std::optional<SchedulerElection> election_;
  std::function<void(Result<int>)> ended_;  // empty: it has been called
  std::atomic<bool> stopping_ = false;
  Mutex mutex_;
  std::string unsynced_ GUARDED_BY(mutex_) = "handlers are not fully synchronized";
  std::unique_ptr<SchedulerServing> serving_;  // none: no port
  TaskSet tasks_;
};

// Makes the calling thread the world and returns when the scheduler is done: the exit code, or why
// the command failed (shell.md §1.6). `interner` is the one that the configuration was read with.
Result<int> run_scheduler_process(SchedulerSetup setup, RealLoop& loop, Interner& interner,
                                  telemetry::Log log);

}  // namespace berth::app
