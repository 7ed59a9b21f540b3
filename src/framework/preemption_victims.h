// VictimSearch: selects the pods to evict from one node so that a pod fits there (core.md §11.4).
//
//   all pods that are less important go ──► does the pod fit? ──no──► that verdict
//                                                │ yes
//   one by one, most important first, those that a disruption budget protects before the others,
//   they come back as long as the pod still fits ──► who could not come back is a victim
//
// All of it happens in a WhatIf on the node's own row; nothing is copied and nothing stays. With the
// gate GenericWorkload a pod counts by its group's priority, and where its group's disruptionMode is
// `all` the whole group goes with it, also from other nodes.
#pragma once

#include <string>
#include <vector>

#include "berth/loop.h"
#include "framework/disruption_budgets.h"
#include "framework/extender.h"
#include "framework/group_preemption.h"
#include "framework/what_if.h"

namespace berth {

using Victims = ExtenderVictims;

// When the pod started; a pod that has not counts as the latest. (Upstream uses "now", which is
// later than any start.)
WallTime started(const Pod& pod);

class VictimSearch {
 public:
  // What is passed by reference outlives the search; the cycle's PreFilter has run.
  // `groups`: null without the gate.
  VictimSearch(const Framework& framework, Cycle& cycle, Cluster& cluster,
               const GroupStates* groups = nullptr)
      : framework_(framework),
        cycle_(cycle),
        cluster_(cluster),
        groups_(groups),
        budgets_(cluster) {}

  struct NodeVictims {
    Status status;      // Success: `victims` make room. Wait: call again after other work has run
    std::string error;  // with an Error: what went wrong
    Victims victims;
  };
  // Overwrites the cycle's verdict of the row.
  NodeVictims select_victims_on_node(NodeRow row);

 private:
  class Reprieve;
  NodeVictims failed(std::string error) const;
  NodeVictims rejected(const Status& status) const;
  // A pod of lower priority, and since when it runs.
  struct PotentialVictim {
    Ref<const Pod> pod;
    WallTime since;
    std::int32_t priority;
    bool of_group = false;
    std::vector<VictimUnit::At> others{};  // of its group, which go with it
  };
  bool collect(NodeRow row);
  // Completes a victim of a group; false if it goes with one that is known already.
  bool complete_group(PotentialVictim& victim) const;
  static void sort_by_importance(std::vector<PotentialVictim>& victims);

  const Framework& framework_;
  Cycle& cycle_;
  Cluster& cluster_;
  const GroupStates* const groups_;
  DisruptionBudgets budgets_;
  std::vector<PotentialVictim> potential_;  // of the current row
  Status nobody_to_evict_;                  // made when it is first needed
};

}  // namespace berth
