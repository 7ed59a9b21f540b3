// Engine: the whole scheduler. Cluster, queue, profiles, scheduling and binding cycle, on the Loop
// and the ClusterApi that it is given. The simulator, the program and the library are each an
// Engine with a different Loop and a different ClusterApi.
//
//     deltas ──► apply ──► Ingest ──► Cluster, SchedulingQueue
//                                          │ ScheduleOne ► BindingCycle ──► ApiDispatcher
//                                          ▼                                      │
//                                    FailureHandler ──► ApiDispatcher ──► ClusterApi
//
// World thread only, except waiting_pods(). Apply no more deltas while it is destroyed; unfinished
// attempts are destroyed with it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/change_gate.h"
#include "berth/cluster_api.h"
#include "berth/handle.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/observer.h"
#include "berth/plugin_table.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/symbols.h"
#include "berth/task.h"
#include "berth/views.h"
#include "berth/waiting_pods.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "cycle/binding_cycle.h"
#include "cycle/failure_handler.h"
#include "cycle/schedule_one.h"
#include "framework/api_dispatcher.h"
#include "framework/extender.h"
#include "framework/framework.h"
#include "framework/pods_in_pre_bind.h"
#include "ingest/ingest.h"
#include "queue/scheduling_queue.h"
#include "search/node_search.h"

namespace berth {

struct EngineOptions {
  config::Configuration configuration;
  config::FeatureGates gates;
  std::uint64_t seed = 0;  // of the draw among equally good nodes
  std::vector<Extender*> extenders;
  // How long a pod stays unschedulable without an event before it is tried again.
  Duration max_unschedulable = std::chrono::minutes(5);
  // Makes every decision that uses kept results from scratch, too, and compares.
  bool verify_increments = false;
};

class Engine {
 public:
  // What is passed by reference outlives the engine. Errors have upstream's text about profiles and
  // plugins.
  static Result<std::unique_ptr<Engine>> make(Loop& loop, Interner& interner,
                                              const PluginTable& plugins, ClusterApi& api,
                                              Observer& observer, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Applies a change that the watch has shown.
  void apply(Delta delta) { ingest_->apply(std::move(delta)); }
  // Runs `change` in order with the deltas: now, or when the open cycle has ended. For callers that
  // keep more of the objects than the engine does.
  void in_turn(Callback change) { gate_.pass(std::move(change)); }

  // From now on pods are scheduled as they arrive, and the queue's timers run.
  void start();
  // No new attempts; bindings go on.
  void stop() { schedule_one_->stop(); }
  // Stops all writing: waiting calls are dropped, running ones cancelled, later ones refused
  // (ApiDispatcher::stop). For a scheduler that has lost its lease.
  void stop_writes() { writes_.stop(); }
  // Schedules one pod now, if there is one. For callers that run it step by step.
  bool run_one() { return schedule_one_->run_one(); }

  // The resources without a kind of ours that plugins have registered events for, as
  // ClusterEvent::other names them, each with these plugins. Whoever feeds the engine feeds it their
  // objects, too.
  const std::map<std::string, std::set<std::string>>& other_resources() const {
    return other_resources_;
  }

  Cluster& cluster() { return cluster_; }
  SchedulingQueue& queue() { return queue_; }
  WaitingPods& waiting_pods() { return waiting_pods_; }
  // Of the profile of this scheduler name; null: there is none.
  const Framework* framework(std::string_view profile) const;
  // How many attempts are open, waiting or binding.
  std::size_t tasks() const { return tasks_.size(); }
  // How many pods have a call to the API server that is running, waiting, or to be repeated.
  std::size_t pods_being_written() const { return writes_.busy_pods(); }
  // With verify_increments: the first difference, in a decision (whose attempt has failed with it)
  // or between the hints for pods of a class.
  const std::optional<std::string>& increment_difference() const;
  // How many decisions used kept results.
  std::size_t decided_from_kept() const { return search_->decided_from_kept(); }
  // Whether a scheduling cycle is suspended (an extender is being called).
  bool cycle_open() const { return schedule_one_->cycle_open(); }

 private:
  Engine(Loop& loop, Interner& interner, ClusterApi& api, Observer& observer,
         EngineOptions options);
  Result<void> make_frameworks(const PluginTable& plugins);
  std::string check_profile(const config::Profile& newest) const;
  Result<void> assemble();
  void note_other_resources(const QueueProfile& profile);

  Loop& loop_;
  Observer& observer_;
  const EngineOptions options_;
  const std::vector<Extender*> extenders_;
  Random random_;
  Cluster cluster_;
  ApiDispatcher writes_;  // between all members below and the ClusterApi
  SymbolHold symbols_;    // of the profiles' names
  ChangeGate gate_;
  WaitingPods waiting_pods_;
  PodsInPreBind pods_in_pre_bind_;
  SchedulingQueue queue_;
  const std::shared_ptr<SharedParts> shared_ = std::make_shared<SharedParts>();
  std::vector<std::unique_ptr<Framework>> frameworks_;
  TaskSet tasks_;
  std::unique_ptr<FailureHandler> failures_;
  std::unique_ptr<NodeSearch> search_;
  std::unique_ptr<BindingCycle> bindings_;
  std::unique_ptr<ScheduleOne> schedule_one_;
  std::unique_ptr<Ingest> ingest_;
  std::map<std::string, std::set<std::string>> other_resources_;
};

}  // namespace berth
