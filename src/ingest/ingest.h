// Ingest: what the watch shows, applied to the cluster and the queue (core.md §13).
//
// Each delta first changes what is where, then tells the queue what happened, so that pods it may
// help are tried again. A node that goes is the exception: the queue hears of it first.
//
// apply() may be called at any time on the world thread; while a scheduling cycle is open the delta
// waits at the gate.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "api/object.h"
#include "base/change_gate.h"
#include "cluster/assumed_objects.h"
#include "cluster/cluster.h"
#include "framework/api_dispatcher.h"
#include "framework/observer.h"
#include "framework/waiting_pods.h"
#include "queue/scheduling_queue.h"

namespace berth {

class Ingest {
 public:
  // `schedulers` are the names of our profiles; unassigned pods of others are not ours to touch.
  // `writes` is told of every pod that the watch shows; null: nobody writes.
  Ingest(Cluster& cluster, SchedulingQueue& queue, WaitingPods& waiting_pods, ChangeGate& gate,
         std::set<Symbol> schedulers, Observer& observer, ApiDispatcher* writes = nullptr);

  void apply(Delta delta);

 private:
  void apply_now(const Delta& delta);
  // The events that upstream records for a change, with the time since `start`.
  void measure_pod(DeltaType type, const Pod* before, const Pod& pod, TimePoint start);
  void measure_object(DeltaType type, const Object* before, const Object& object, TimePoint start);
  void measure_cluster();
  Ref<const Object> known(const Object& object) const;

  void pod(DeltaType type, const Ref<const Pod>& before, const Ref<const Pod>& pod);
  void pod_added(const Ref<const Pod>& pod);
  void pod_updated(const Ref<const Pod>& before, const Ref<const Pod>& after);
  void unassigned_pod_updated(const Ref<const Pod>& before, const Ref<const Pod>& after);
  void pod_deleted(const Ref<const Pod>& pod);
  void assumed_pod_deleted(const Pod& pod);
  void nomination_gone(const Ref<const Pod>& pod);

  void node(DeltaType type, const Ref<const Object>& object);
  void other(DeltaType type, const Ref<const Object>& object);
  // By the watch, or by a write of our own that the watch has not shown yet.
  void claim_changed(const Ref<const Object>& before, const Ref<const Object>& after);

  bool ours(const Pod& pod) const { return schedulers_.contains(pod.scheduler_name()); }
  void check(const Result<void>& result);

  Cluster& cluster_;
  SchedulingQueue& queue_;
  WaitingPods& waiting_pods_;
  ChangeGate& gate_;
  std::set<Symbol> schedulers_;
  Observer& observer_;
  ApiDispatcher* writes_;
  Measurements* measured_;
  Subscription claims_;
};

}  // namespace berth
