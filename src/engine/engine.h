// Engine: the scheduler put together. Cluster, queue, profiles, scheduling and binding cycle, on a
// Loop and a door to the cluster that somebody else provides. The simulator, the program and the
// library are each an Engine with a different Loop and a different door.
//
//     deltas ──► apply ──► Ingest ──► Cluster, SchedulingQueue
//                                          │ ScheduleOne ► BindingCycle ──► ApiDispatcher
//                                          ▼                                      │
//                                    FailureHandler ──► ApiDispatcher ──► ClusterApi
//
// World thread only, except waiting_pods(). Stop feeding it before it goes; unfinished attempts end
// with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/interner.h"
#include "api/object.h"
#include "base/loop.h"
#include "base/result.h"
#include "cluster/cluster.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "framework/cluster_api.h"
#include "framework/extender.h"
#include "framework/observer.h"
#include "framework/plugin_table.h"
#include "framework/waiting_pods.h"
#include "queue/scheduling_queue.h"

namespace berth {

struct EngineOptions {
  config::Configuration configuration;
  config::FeatureGates gates;
  std::uint64_t seed = 0;  // of the draw among equally good nodes
  std::vector<Extender*> extenders;
  // How long a pod stays unschedulable before it is tried again unasked.
  Duration max_unschedulable = std::chrono::minutes(5);
  // Every decision made from what is kept between pods is also made from scratch, and compared.
  bool verify_increments = false;
};

class Engine {
 public:
  // What is passed by reference outlives the engine. Errors are upstream's sentences about profiles
  // and plugins.
  static Result<std::unique_ptr<Engine>> make(Loop& loop, Interner& interner,
                                              const PluginTable& plugins, ClusterApi& api,
                                              Observer& observer, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The watch shows something.
  void apply(Delta delta);
  // In turn with the deltas: now, or when the cycle that is open has ended. For those who keep more
  // of the objects than the engine does.
  void in_turn(Callback change);

  // From now on pods are scheduled as they come; the queue's flushes run.
  void start();
  // No new attempts; bindings go on.
  void stop();
  // Nothing is written any more: what waits is dropped, what is under way is cancelled, later calls
  // are refused (ApiDispatcher::stop). For a scheduler that has lost its lease.
  void stop_writes();
  // Schedules one pod now, if there is one. For those who drive it step by step.
  bool run_one();

  Cluster& cluster();
  SchedulingQueue& queue();
  WaitingPods& waiting_pods();
  // Attempts that are open, waiting or binding.
  std::size_t tasks() const;
  // Pods about which a call to the API server is under way, waits, or is to be tried again.
  std::size_t pods_being_written() const;
  // With verify_increments: the first difference, in a decision (the pod at hand has failed with
  // it) or between the hints for pods of a class.
  const std::optional<std::string>& increment_difference() const;
  // How many decisions were made from what is kept between pods.
  std::size_t decided_from_kept() const;
  // Whether a scheduling cycle is suspended in the middle (an extender is asked).
  bool cycle_open() const;

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth
