// DisruptionBudgets: the cluster's PodDisruptionBudgets, as preemption counts against them.
//
// Preemption may break a budget but would rather not: victims on one node are told apart into those
// that fit into what the budgets still allow and those that do not. Made once per preemption.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/labels.h"
#include "api/pod.h"
#include "cluster/cluster.h"

namespace berth {

class DisruptionBudgets {
 public:
  explicit DisruptionBudgets(const Cluster& cluster);

  bool empty() const { return budgets_.empty(); }

  // Takes from all budgets' allowance anew, pod by pod: the pods of one node in their order.
  void start_over();
  // Takes the pod out of every budget that it is under. True: one of them does not allow it.
  bool violated_by(const Pod& pod);

 private:
  struct Budget {
    Symbol namespace_name;
    Selector selector;
    std::int64_t allowed;  // what status.disruptionsAllowed says
    std::int64_t left;
    Ref<const Object> object;  // a PodDisruptionBudget
  };
  std::vector<Budget> budgets_;
};

}  // namespace berth
