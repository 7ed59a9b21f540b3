// GroupCycle: the cycle of a PodGroup. Its members are tried together, and placed together or not at
// all.
//
//   validate ► for each member: search ► assume ► Reserve ─┬─ enough of them ──► Permit, bindings
//                                                          └─ not: all are undone, PodGroupPostFilter
//
// The members take their places in the cluster itself while the cycle is open, so that all that is
// kept about it sees them; the gate is closed, and an infeasible group leaves no trace. A group that
// fits is committed in the same turn: nothing is decided twice.
//
// One at a time; called by ScheduleOne. World thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/task.h"
#include "cycle/attempt.h"
#include "cycle/binding_cycle.h"
#include "cycle/group_conditions.h"
#include "cycle/group_run.h"
#include "cycle/schedule_profile.h"
#include "framework/group_plugins.h"
#include "queue/group_queue.h"
#include "search/node_search.h"

namespace berth {

class GroupCycle {
 public:
  struct Options {
    bool placements = false;         // TopologyAwareWorkloadScheduling
    bool preemption_policy = false;  // PodGroupPreemptionPolicy: a group has one
  };
  // What is passed by reference outlives it.
  GroupCycle(const CycleCollaborators& with, const std::vector<ScheduleProfile>& profiles,
             NodeSearch& search, std::shared_ptr<GroupStates> states, Options options);
  GroupCycle(const GroupCycle&) = delete;
  GroupCycle& operator=(const GroupCycle&) = delete;

  // The attempts whose bindings are to begin.
  using Attempts = std::vector<std::unique_ptr<Attempt>>;
  Task<Attempts> run(QueuedGroup popped);

 private:
  std::string find_fault(const QueuedGroup& popped) const;
  std::unique_ptr<Attempt> begin(QueuedPod member, const ScheduleProfile& profile);
  bool skips(const Pod& pod, const ScheduleProfile& profile);
  void fail_all(QueuedGroup& popped, const Outcome& outcome);
  void submit(GroupRun& group, const Outcome& verdict, const Outcome& before_post_filter,
              Attempts& to_bind);
  bool permit(GroupRun& group, GroupRun::Member& member);
  void report(const GroupRun::Member& member, const Outcome& outcome);
  void fail(Attempt& attempt, const Outcome& outcome, const std::optional<Nominating>& nominating);

  CycleCollaborators with_;
  const std::vector<ScheduleProfile>& profiles_;
  NodeSearch& search_;
  std::shared_ptr<GroupStates> states_;
  const Options options_;
  GroupConditions conditions_;
};

}  // namespace berth
