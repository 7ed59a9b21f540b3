#include "framework/preemption_victims.h"

#include <span>
#include <utility>

#include "base/unstable_sort.h"

namespace berth {

WallTime started(const Pod& pod) { return pod.start_time().value_or(WallTime{Duration::max()}); }

bool more_important(const Pod& a, const Pod& b) {
  if (a.priority() != b.priority()) return a.priority() > b.priority();
  return started(a) < started(b) || (!a.start_time() && !b.start_time());
}

namespace {

// Most important first. The order of equals decides which of them are victims, so it is upstream's.
void sort_by_importance(std::vector<Ref<const Pod>>& pods) {
  unstable_sort(std::span(pods), [](const Ref<const Pod>& a, const Ref<const Pod>& b) {
    return more_important(*a, *b);
  });
}

}  // namespace

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
  for (const Ref<const Pod>& pod : cluster_.nodes().pods(row))
    if (pod->priority() < cycle_.pod().priority()) potential_.push_back(pod);
  sort_by_importance(potential_);
  return !potential_.empty();
}

VictimSearch::NodeVictims VictimSearch::select_victims_on_node(NodeRow row) {
  if (!collect(row)) {
    if (nobody_to_evict_.ok())
      nobody_to_evict_ = {Code::kUnschedulableAndUnresolvable, Status::kListed, Status::kNoPlugin,
                          cycle_.list_reasons({"No preemption victims found for incoming pod"})};
    return rejected(nobody_to_evict_);
  }
  WhatIf what_if(framework_, cycle_, cluster_);
  for (const Ref<const Pod>& pod : potential_)
    if (const Outcome removed = what_if.remove(pod, row); !removed.ok())
      return failed(removed.message());
  const Result<Status> empty = framework_.filter_row_with_nominated(cycle_, cluster_, row);
  if (!empty) return failed(empty.error().message);
  if (!empty->ok()) return rejected(*empty);

  std::vector<Ref<const Pod>> violating, others;
  budgets_.start_over();
  for (const Ref<const Pod>& pod : potential_)
    (budgets_.violated_by(*pod) ? violating : others).push_back(pod);

  Reprieve reprieve(*this, what_if, row);
  NodeVictims found;
  std::vector<Ref<const Pod>>& victims = found.victims.pods;
  for (const Ref<const Pod>& pod : violating)
    if (!reprieve.can_stay(pod)) victims.push_back(pod);
  found.victims.pdb_violations = static_cast<std::int64_t>(victims.size());
  for (const Ref<const Pod>& pod : others)
    if (!reprieve.can_stay(pod)) victims.push_back(pod);
  if (reprieve.deferred()) return rejected({.code = Code::kWait});
  if (!reprieve.error().empty()) return failed(reprieve.error());
  if (!violating.empty() && !others.empty()) sort_by_importance(victims);
  return found;
}

}  // namespace berth
