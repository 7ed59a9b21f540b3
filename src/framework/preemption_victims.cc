#include "framework/preemption_victims.h"

#include <span>
#include <utility>

#include "base/unstable_sort.h"

namespace berth {

WallTime started(const Pod& pod) { return pod.start_time().value_or(WallTime{Duration::max()}); }

// Lets pods come back, one by one, where that does not cost the preemptor its place.
class VictimSearch::Reprieve {
 public:
  Reprieve(VictimSearch& search, WhatIf& what_if, NodeRow row)
      : search_(search), what_if_(what_if), row_(row) {}

  // Whether the pod can stay. What goes wrong is in error().
  bool can_stay(const Ref<const Pod>& pod) {
    if (note(what_if_.add(pod, row_))) return false;
    Result<Status> status =
        search_.framework_.filter_row_with_nominated(search_.cycle_, search_.cluster_, row_);
    if (status && status->ok()) return true;
    deferred_ = deferred_ || (status && status->code == Code::kWait);
    note(what_if_.remove(pod, row_));
    return false;
  }
  const std::string& error() const { return error_; }
  // Whether some filter has put the row off: nothing is known of it yet.
  bool deferred() const { return deferred_; }

 private:
  bool note(const Outcome& outcome) {
    if (outcome.ok()) return false;
    if (error_.empty()) error_ = outcome.message();
    return true;
  }

  VictimSearch& search_;
  WhatIf& what_if_;
  NodeRow row_;
  std::string error_;
  bool deferred_ = false;
};

VictimSearch::NodeVictims VictimSearch::failed(std::string error) const {
  NodeVictims found;
  found.status.code = Code::kError;
  found.error = std::move(error);
  return found;
}

VictimSearch::NodeVictims VictimSearch::rejected(const Status& status) const {
  if (!is_rejected(status.code) && status.code != Code::kWait)
    return failed(framework_.explain(cycle_, status).message());
  NodeVictims found;
  found.status = status;
  return found;
}

// The row's less important pods, most important first. False: there is none.
bool VictimSearch::collect(NodeRow row) {
  potential_.clear();
  const std::span<const Ref<const Pod>> pods = cluster_.nodes().pods(row);
  // Parity: upstream asks the clock once for each pod that does not run, in the node's order, so
  // each of them counts as a little younger than the one before.
  WallTime now{Duration::max() - Duration(pods.size())};
  for (const Ref<const Pod>& pod : pods) {
    now = now + Duration(1);
    if (pod->priority() < cycle_.pod().priority())
      potential_.push_back({pod, pod->start_time().value_or(now)});
  }
  sort_by_importance(potential_);
  return !potential_.empty();
}

// Higher priority first, then those that run for longer. The order of equals decides which of them
// are victims, so it is upstream's.
void VictimSearch::sort_by_importance(std::vector<PotentialVictim>& victims) {
  unstable_sort(std::span(victims), [](const PotentialVictim& a, const PotentialVictim& b) {
    const std::int32_t of_a = a.pod->priority(), of_b = b.pod->priority();
    return of_a != of_b ? of_a > of_b : a.since < b.since;
  });
}

VictimSearch::NodeVictims VictimSearch::select_victims_on_node(NodeRow row) {
  if (!collect(row)) {
    if (nobody_to_evict_.ok())
      nobody_to_evict_ = {Code::kUnschedulableAndUnresolvable, Status::kListed, Status::kNoPlugin,
                          cycle_.list_reasons({"No preemption victims found for incoming pod"})};
    return rejected(nobody_to_evict_);
  }
  WhatIf what_if(framework_, cycle_, cluster_);
  for (const PotentialVictim& victim : potential_)
    if (const Outcome removed = what_if.remove(victim.pod, row); !removed.ok())
      return failed(removed.message());
  const Result<Status> empty = framework_.filter_row_with_nominated(cycle_, cluster_, row);
  if (!empty) return failed(empty.error().message);
  if (!empty->ok()) return rejected(*empty);

  std::vector<PotentialVictim> violating, others;
  budgets_.start_over();
  for (const PotentialVictim& victim : potential_)
    (budgets_.violated_by(*victim.pod) ? violating : others).push_back(victim);

  Reprieve reprieve(*this, what_if, row);
  NodeVictims found;
  std::vector<PotentialVictim> victims;
  for (const PotentialVictim& victim : violating)
    if (!reprieve.can_stay(victim.pod)) victims.push_back(victim);
  found.victims.pdb_violations = static_cast<std::int64_t>(victims.size());
  for (const PotentialVictim& victim : others)
    if (!reprieve.can_stay(victim.pod)) victims.push_back(victim);
  if (reprieve.deferred()) return rejected({.code = Code::kWait});
  if (!reprieve.error().empty()) return failed(reprieve.error());
  if (!violating.empty() && !others.empty()) sort_by_importance(victims);
  for (PotentialVictim& victim : victims) found.victims.pods.push_back(std::move(victim.pod));
  return found;
}

}  // namespace berth
