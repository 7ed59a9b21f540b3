#include "framework/preemption_victims.h"

#include <algorithm>
#include <utility>

namespace berth {

WallTime started(const Pod& pod) { return pod.start_time().value_or(WallTime{Duration::max()}); }

bool more_important(const RankedPod& a, const RankedPod& b) {
  if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
  if (started(*a.pod) != started(*b.pod)) return started(*a.pod) < started(*b.pod);
  // Parity: upstream asks the clock for each pod that has not started, the first of a pair first,
  // so that of two such pods either is "earlier": its sort then turns their order round.
  return a.pod->start_time() ? a.place < b.place : a.place > b.place;
}

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
    note(what_if_.remove(pod, row_));
    return false;
  }
  const std::string& error() const { return error_; }

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
};

VictimSearch::Found VictimSearch::failed(std::string error) const {
  Found found;
  found.status.code = Code::kError;
  found.error = std::move(error);
  return found;
}

VictimSearch::Found VictimSearch::rejected(const Status& status) const {
  if (!is_rejected(status.code)) return failed(framework_.explain(cycle_, status).message());
  Found found;
  found.status = status;
  return found;
}

// The row's less important pods, most important first. False: there is none.
bool VictimSearch::collect(NodeRow row) {
  potential_.clear();
  for (const Ref<const Pod>& pod : cluster_.nodes().pods(row))
    if (pod->priority() < cycle_.pod().priority())
      potential_.push_back({pod, static_cast<std::uint32_t>(potential_.size())});
  std::ranges::sort(potential_, more_important);
  return !potential_.empty();
}

VictimSearch::Found VictimSearch::on(NodeRow row) {
  if (!collect(row)) {
    if (nobody_to_evict_.ok())
      nobody_to_evict_ = {Code::kUnschedulableAndUnresolvable, Status::kListed, Status::kNoPlugin,
                          cycle_.list_reasons({"No preemption victims found for incoming pod"})};
    return rejected(nobody_to_evict_);
  }
  WhatIf what_if(framework_, cycle_, cluster_);
  for (const RankedPod& ranked : potential_)
    if (const Outcome removed = what_if.remove(ranked.pod, row); !removed.ok())
      return failed(removed.message());
  const Result<Status> empty = framework_.filter_row_with_nominated(cycle_, cluster_, row);
  if (!empty) return failed(empty.error().message);
  if (!empty->ok()) return rejected(*empty);

  std::vector<const RankedPod*> violating, others;
  budgets_.start_over();
  for (const RankedPod& ranked : potential_)
    (budgets_.violated_by(*ranked.pod) ? violating : others).push_back(&ranked);

  Reprieve reprieve(*this, what_if, row);
  std::vector<const RankedPod*> victims;
  Found found;
  for (const RankedPod* ranked : violating) {
    if (reprieve.can_stay(ranked->pod)) continue;
    victims.push_back(ranked);
    ++found.victims.pdb_violations;
  }
  for (const RankedPod* ranked : others)
    if (!reprieve.can_stay(ranked->pod)) victims.push_back(ranked);
  if (!reprieve.error().empty()) return failed(reprieve.error());

  if (!violating.empty() && !others.empty())
    std::ranges::sort(
        victims, [](const RankedPod* a, const RankedPod* b) { return more_important(*a, *b); });
  found.victims.pods.reserve(victims.size());
  for (const RankedPod* victim : victims) found.victims.pods.push_back(victim->pod);
  return found;
}

}  // namespace berth
