// DisruptionBudgets: the cluster's PodDisruptionBudgets, as preemption counts against them.
//
// Preemption may violate a budget, but avoids it: the victims on a node are split into those that
// the budgets still allow and those that violate one. Made once per preemption.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/labels.h"
#include "berth/pod.h"
#include "berth/views.h"

namespace berth {

class DisruptionBudgets {
 public:
  explicit DisruptionBudgets(const Cluster& cluster);

  // Takes from all budgets' allowance anew, pod by pod: the pods of one node in their order.
  void start_over();
  // Charges the pod to its budgets, in the order of their names, up to the first that does not
  // allow it. True: there is such a one.
  // Parity: the later ones then keep what they have. (Upstream's order is that of a Go map.)
  bool violated_by(const Pod& pod);

 private:
  struct Budget {
    Symbol namespace_name;
    Selector selector;
    std::int64_t allowed;  // status.disruptionsAllowed
    std::int64_t left;
    Ref<const Object> object;  // a PodDisruptionBudget
  };
  std::vector<Budget> budgets_;
};

}  // namespace berth
