// Ingest: applies the changes that the watch shows to the cluster and the queue (core.md §13).
//
// Each delta first changes the cluster, then is passed to the queue as an event, so that pods that
// it may help are tried again. A deleted node is the exception: the queue gets the event first.
//
// apply() may be called at any time on the world thread; while a scheduling cycle is open the delta
// waits at the gate.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/change_gate.h"
#include "berth/object.h"
#include "berth/observer.h"
#include "berth/views.h"
#include "berth/waiting_pods.h"
#include "cluster/assumed_objects.h"
#include "cluster/group_states.h"
#include "framework/api_dispatcher.h"
#include "queue/scheduling_queue.h"

namespace berth {

class Ingest {
 public:
  // `schedulers` are the names of our profiles; unassigned pods of other schedulers are ignored.
  // `writes`, unless null, is told of every pod that the watch shows (ApiDispatcher::sync).
  // `groups`, unless null, is told which pods each PodGroup has (GenericWorkload).
  // `device_taint_rules`: whether DeviceTaintRules are looked at (DRADeviceTaintRules).
  Ingest(Cluster& cluster, SchedulingQueue& queue, WaitingPods& waiting_pods, ChangeGate& gate,
         std::set<Symbol> schedulers, Observer& observer, ApiDispatcher* writes = nullptr,
         bool device_taint_rules = true, GroupStates* groups = nullptr);

  void apply(Delta delta);

 private:
  void apply_now(const Delta& delta);
  // Measure the events that upstream records for a change, with the time since `start`.
  void measure_pod(DeltaType type, const Pod* before, const Pod& pod, TimePoint start);
  void measure_object(DeltaType type, const Object* before, const Object& object, TimePoint start);
  void measure_cluster();
  Ref<const Object> stored_object(const Object& object) const;
  std::string_view other_resource(const Object& object);

  void apply_pod(DeltaType type, const Ref<const Pod>& before, const Ref<const Pod>& pod);
  void pod_added(const Ref<const Pod>& pod);
  void pod_updated(const Ref<const Pod>& before, const Ref<const Pod>& after);
  void unassigned_pod_updated(const Ref<const Pod>& before, const Ref<const Pod>& after);
  void pod_deleted(const Ref<const Pod>& pod);
  void assumed_pod_deleted(const Pod& pod);
  void nomination_gone(const Ref<const Pod>& pod);

  void apply_node(DeltaType type, const Ref<const Object>& object);
  void apply_object(DeltaType type, const Ref<const Object>& object);
  // A rule has changed: the slices whose devices' taints it changes count as updated.
  void taint_rule_changed(const Object* before, const Object* after);
  // Changed by the watch, or by our own write that the watch has not shown yet.
  void claim_changed(const Ref<const Object>& before, const Ref<const Object>& after);

  bool responsible_for_pod(const Pod& pod) const {
    return schedulers_.contains(pod.scheduler_name());
  }
  void see_in_group(const Ref<const Pod>& pod) {
    if (groups_ && in_group(*pod)) groups_->see(pod);
  }
  // A PodGroup as the queue is to know it.
  void group_changed(DeltaType type, const Ref<const Object>& object);
  void report_failure(const Result<void>& result);

  Cluster& cluster_;
  SchedulingQueue& queue_;
  WaitingPods& waiting_pods_;
  ChangeGate& gate_;
  std::set<Symbol> schedulers_;
  Observer& observer_;
  ApiDispatcher* writes_;
  bool device_taint_rules_;
  GroupStates* groups_;
  std::set<std::string> other_resources_;  // that events name: as many as are watched
  Observer* measured_;
  Subscription claims_;
};

}  // namespace berth
