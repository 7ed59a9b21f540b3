#include "framework/preemption_victims.h"

#include <algorithm>
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

  // Whether the victim can stay. What goes wrong is in error().
  bool can_stay(const PotentialVictim& victim) {
    bool failed = note(what_if_.add(victim.pod, row_));
    for (const VictimUnit::At& other : victim.others)
      failed = note(what_if_.add(other.pod, other.row)) || failed;
    if (failed) return false;
    Result<Status> status =
        search_.framework_.filter_row_with_nominated(search_.cycle_, search_.cluster_, row_);
    if (status && status->ok()) return true;
    deferred_ = deferred_ || (status && status->code == Code::kWait);
    note(what_if_.remove(victim.pod, row_));
    for (const VictimUnit::At& other : victim.others) note(what_if_.remove(other.pod, other.row));
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
    const std::int32_t priority = groups_ ? victim_priority(*pod, cluster_) : pod->priority();
    if (priority >= cycle_.pod().priority()) continue;
    PotentialVictim victim{pod, pod->start_time().value_or(now), priority};
    if (!groups_ || !in_group(*pod) || complete_group(victim))
      potential_.push_back(std::move(victim));
  }
  sort_by_importance(potential_);
  return !potential_.empty();
}

bool VictimSearch::complete_group(PotentialVictim& victim) const {
  const Uid& uid = victim.pod->uid();
  for (const PotentialVictim& known : potential_)
    for (const VictimUnit::At& other : known.others)
      if (other.pod->uid() == uid) return false;
  victim.of_group = true;
  const GroupState* const state = groups_->find(pod_group_of(*victim.pod));
  if (!state || !goes_as_group(*victim.pod, cluster_)) return true;
  for (const auto& [other, member] : state->members) {
    Ref<const Pod> placed = other == uid ? nullptr : cluster_.placed(other);
    if (!placed) continue;
    victim.since = std::min(victim.since, started(*placed));
    victim.others.push_back({std::move(placed), cluster_.row_of(other)});
  }
  return true;
}

// Higher priority first, then (of groups) the larger ones, then those that run for longer. The order of equals decides which of them
// are victims, so it is upstream's.
void VictimSearch::sort_by_importance(std::vector<PotentialVictim>& victims) {
  unstable_sort(std::span(victims), [](const PotentialVictim& a, const PotentialVictim& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.of_group != b.of_group) return a.of_group;
    if (a.others.size() != b.others.size()) return a.others.size() > b.others.size();
    return a.since < b.since;
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
  for (const PotentialVictim& victim : potential_) {
    if (const Outcome removed = what_if.remove(victim.pod, row); !removed.ok())
      return failed(removed.message());
    for (const VictimUnit::At& other : victim.others)
      if (const Outcome removed = what_if.remove(other.pod, other.row); !removed.ok())
        return failed(removed.message());
  }
  const Result<Status> empty = framework_.filter_row_with_nominated(cycle_, cluster_, row);
  if (!empty) return failed(empty.error().message);
  if (!empty->ok()) return rejected(*empty);

  std::vector<PotentialVictim> violating, others;
  budgets_.start_over();
  std::vector<std::int64_t> violations;  // of those that violate a budget: how many of their pods
  for (const PotentialVictim& victim : potential_) {
    std::int64_t count = budgets_.violated_by(*victim.pod) ? 1 : 0;
    for (const VictimUnit::At& other : victim.others)
      count += budgets_.violated_by(*other.pod) ? 1 : 0;
    (count > 0 ? violating : others).push_back(victim);
    if (count > 0) violations.push_back(count);
  }

  Reprieve reprieve(*this, what_if, row);
  NodeVictims found;
  std::vector<PotentialVictim> victims;
  for (std::size_t i = 0; i < violating.size(); ++i) {
    if (reprieve.can_stay(violating[i])) continue;
    victims.push_back(violating[i]);
    found.victims.pdb_violations += violations[i];
  }
  for (const PotentialVictim& victim : others)
    if (!reprieve.can_stay(victim)) victims.push_back(victim);
  if (reprieve.deferred()) return rejected({.code = Code::kWait});
  if (!reprieve.error().empty()) return failed(reprieve.error());
  if (!violating.empty() && !others.empty()) sort_by_importance(victims);
  for (PotentialVictim& victim : victims) {
    found.victims.pods.push_back(std::move(victim.pod));
    for (VictimUnit::At& other : victim.others) found.victims.pods.push_back(std::move(other.pod));
  }
  return found;
}

}  // namespace berth
