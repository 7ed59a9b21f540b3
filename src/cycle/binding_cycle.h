// BindingCycle: the steps from Permit to the bound pod, one coroutine per pod (core.md §8).
//
//   preflight ► nominate ► WaitOnPermit ► (events no longer replayed) ► PreBind ► Bind ► PostBind
//        └───────────────────── failure: Unreserve, forget, requeue ──────────────┘
//
// Many are in flight at once. Every step that changes the cluster or the queue passes the gate.
#pragma once

#include <memory>
#include <vector>

#include "base/change_gate.h"
#include "berth/task.h"
#include "berth/views.h"
#include "berth/waiting_pods.h"
#include "cluster/group_states.h"
#include "cycle/attempt.h"
#include "cycle/failure_handler.h"
#include "framework/extender.h"
#include "framework/pods_in_pre_bind.h"
#include "queue/scheduling_queue.h"

namespace berth {

// What the scheduling cycle and the binding cycles work with.
struct CycleCollaborators {
  Loop& loop;
  Cluster& cluster;
  SchedulingQueue& queue;
  WaitingPods& waiting_pods;
  PodsInPreBind& pods_in_pre_bind;
  ClusterApi& api;
  ChangeGate& gate;
  FailureHandler& failures;
  TaskSet& tasks;
  Observer& observer;
  GroupStates* groups = nullptr;  // null: groups are not scheduled as such
};

class BindingCycle {
 public:
  struct Options {
    // Gate NominatedNodeNameForExpectation: nominate a pod whose binding will take a while.
    bool nominates = true;
    // False with the gate SchedulerAsyncAPICalls: PreBind begins before the nomination is written.
    bool waits_for_nomination = true;
  };
  BindingCycle(const CycleCollaborators& with, std::vector<Extender*> extenders, Options options)
      : with_(with),
        extenders_(std::move(extenders)),
        options_(options),
        measured_(with.observer.measuring()) {}

  // Binds an assumed and reserved pod, after its wait on Permit. The coroutine's frame and the
  // attempt are the memory that a waiting pod takes.
  Task<void> run(std::unique_ptr<Attempt> attempt);

 private:
  struct WaitOnPermit;  // awaitable: the end of the pod's wait
  struct Step;          // awaitable: the end of a step

  void count_running(int change);
  // Runs PreBindPreFlight. Returns whether the pod is to be nominated to its node, because its
  // binding will take a while.
  bool pre_bind_pre_flight(Attempt& attempt);
  Task<void> nominate(Ref<const Pod> pod, std::string node);
  void permit_wait_ended(Attempt& attempt, Outcome settlement);
  void measure_no_pre_bind(const Attempt& attempt);
  Task<Outcome> pre_bind(Attempt& attempt);
  Task<Outcome> bind(Attempt& attempt);
  Task<Outcome> bind_with_extenders(Attempt& attempt);
  void post_bind(Attempt& attempt);
  void measure_success(const Attempt& attempt);
  void handle_binding_cycle_error(Attempt& attempt, const Outcome& outcome);

  CycleCollaborators with_;
  std::vector<Extender*> extenders_;
  Options options_;
  Observer* measured_;
  std::int64_t running_ = 0;  // binding cycles that have not ended
};

// The outcome that is reported for a pod that was rejected after Reserve.
Outcome as_fit_error(Outcome rejection);

}  // namespace berth
