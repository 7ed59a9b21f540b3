#include "framework/group_preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"
#include "config/feature_gates.h"
#include "framework/disruption_budgets.h"
#include "framework/framework.h"
#include "framework/preemption_victims.h"

namespace berth {
namespace {

Ref<const PodGroup> known_group(const Pod& pod, const Cluster& cluster) {
  if (!in_group(pod)) return nullptr;
  const Ref<const Object> found = cluster.find(ObjectKind::kPodGroup, pod.namespace_name(),
                                               pod.text(pod.spec().scheduling_group));
  return Ref<const PodGroup>(static_cast<const PodGroup*>(found.get()));
}

// Parity: a pod of a group ranks above a single one, also where it goes by itself.
bool is_more_important(const VictimUnit& a, const VictimUnit& b) {
  const auto rank = [](const VictimUnit& unit) {
    return std::make_tuple(-std::int64_t{unit.priority}, !unit.of_group,
                           -static_cast<std::int64_t>(unit.pods.size()), unit.since.since_epoch);
  };
  return rank(a) < rank(b);
}

bool goes_for_preemption(const Pod& pod) {
  const PodCondition* condition = pod.condition("DisruptionTarget");
  return pod.terminating() && condition && condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

// The units below `priority`, most important first.
std::vector<VictimUnit> potential_victims(const Cluster& cluster, std::int32_t priority) {
  std::vector<VictimUnit> units;
  std::map<GroupKey, std::size_t> by_group;
  for (const NodeRow row : cluster.nodes().order()) {
    if (!cluster.nodes().has_node(row)) continue;
    for (const Ref<const Pod>& pod : cluster.nodes().pods(row)) {
      const Ref<const PodGroup> group = known_group(*pod, cluster);
      const std::int32_t own = group ? group->effective_priority() : pod->priority();
      if (own >= priority) continue;
      std::size_t at = units.size();
      if (group && group->disruption_mode == DisruptionMode::kAll)
        at = by_group.emplace(pod_group_of(*pod), at).first->second;
      if (at == units.size()) units.push_back({{}, own, in_group(*pod), started(*pod)});
      units[at].pods.push_back({pod, row});
      units[at].since = std::min(units[at].since, started(*pod));
    }
  }
  sort_stably(units, is_more_important);
  return units;
}

}  // namespace

std::int32_t victim_priority(const Pod& pod, const Cluster& cluster) {
  const Ref<const PodGroup> group = known_group(pod, cluster);
  return group ? group->effective_priority() : pod.priority();
}

bool goes_as_group(const Pod& pod, const Cluster& cluster) {
  const Ref<const PodGroup> group = known_group(pod, cluster);
  return group && group->disruption_mode == DisruptionMode::kAll;
}

// One search, with the pods that it has taken out of the cluster.
class GroupPreemption::Search {
 public:
  Search(UnplacedGroup& group, Cluster& cluster) : group_(group), cluster_(cluster) {}
  ~Search() {
    for (auto& [uid, gone] : gone_) put_back(gone);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  void remove(const VictimUnit& unit) {
    for (const VictimUnit::At& at : unit.pods) {
      Gone gone{at, cluster_.is_assumed(at.pod->uid())};
      const Result<void> went =
          gone.assumed ? cluster_.forget(*at.pod) : cluster_.remove_pod(*at.pod);
      if (went) gone_.emplace(at.pod->uid(), std::move(gone));
    }
  }
  void restore(const VictimUnit& unit) {
    for (const VictimUnit::At& at : unit.pods) {
      const auto gone = gone_.find(at.pod->uid());
      if (gone == gone_.end()) continue;
      put_back(gone->second);
      gone_.erase(gone);
    }
  }

  // Where the group was placed: from now on this is what has to stay possible.
  void keep_placement() {
    for (const GroupMember& member : group_.members())
      if (member.row != kNoRow) placed_.push_back(member);
  }
  const std::vector<GroupMember>& placed() const { return placed_; }

  // Whether the unit can stay; if not, it has gone again. An error stands in error().
  Task<bool> can_stay(const VictimUnit& unit) {
    restore(unit);
    Task<bool> placing = members_fit();
    if (co_await placing) co_return true;
    remove(unit);
    co_return false;
  }
  const std::string& error() const { return error_; }

 private:
  struct Gone {
    VictimUnit::At at;
    bool assumed;
  };
  void put_back(const Gone& gone) {
    const Result<void> back =
        gone.assumed ? cluster_.assume(gone.at.pod, gone.at.row) : cluster_.add_pod(gone.at.pod);
    if (!back && error_.empty()) error_ = back.error().message;
  }
  // Whether the member fits on its node in the cluster as it is now. What plugins found out when
  // the group was placed is not used: pods have come back since, and members have gone.
  Task<bool> fits_now(Cycle& cycle, const GroupMember& member) {
    const Framework& framework = group_.framework();
    const NodeRow row = member.row;
    const PreFilterRun pre = framework.run_pre_filter(cycle);
    // Parity: a plugin that had nothing to do on the emptied cluster stays out of it, so that
    // anti-affinity of pods that come back may be overlooked.
    for (const Placed<FilterPlugin>& placed : framework.plugins().filter)
      if (member.cycle->skip_filter.test(placed.index)) cycle.skip_filter.set(placed.index);
    if (pre.outcome.code == Code::kError && error_.empty()) error_ = pre.outcome.message();
    if (!pre.outcome.ok() ||
        (pre.nodes && !std::ranges::binary_search(*pre.nodes, cluster_.nodes().name(row))))
      co_return false;
    Result<Status> status = framework.filter_row_with_nominated(cycle, cluster_, row);
    while (status && status->code == Code::kWait) {
      Task<void> giving = framework.give_turn(cycle);
      co_await giving;
      status = framework.filter_row_with_nominated(cycle, cluster_, row);
    }
    if (!status && error_.empty()) error_ = status.error().message;
    co_return status && status->ok();
  }

  // Whether all members fit on their nodes, one after the other.
  Task<bool> members_fit() {
    const Framework& framework = group_.framework();
    std::vector<std::unique_ptr<Cycle>> assumed;  // of the members so far
    bool fits = true;
    for (const GroupMember& member : placed_) {
      auto cycle = std::make_unique<Cycle>(member.pod, cluster_);
      cycle->lend(member.cycle->scratch());
      cycle->may_suspend = true;
      Task<bool> looking = fits_now(*cycle, member);
      fits = co_await looking;
      if (!fits || !cluster_.assume(member.pod, member.row)) {
        fits = false;
        break;
      }
      assumed.push_back(std::move(cycle));
      fits = framework.run_reserve(*assumed.back(), cluster_.nodes().name_text(member.row)).ok();
      if (!fits) break;
    }
    while (!assumed.empty()) {
      const GroupMember& member = placed_[assumed.size() - 1];
      framework.run_unreserve(*assumed.back(), cluster_.nodes().name_text(member.row));
      static_cast<void>(cluster_.forget(*member.pod));
      assumed.pop_back();
    }
    co_return fits;
  }

  UnplacedGroup& group_;
  Cluster& cluster_;
  std::map<Uid, Gone> gone_;
  std::vector<GroupMember> placed_;
  std::string error_;
};

std::string GroupPreemption::not_eligible(const UnplacedGroup& group) const {
  const auto never = [](const GroupMember& member) {
    return member.pod->spec().preemption_policy == PreemptionPolicy::kNever;
  };
  const bool says_never = handle_.gates.enabled("PodGroupPreemptionPolicy")
                              ? group.group().preemption_policy == PreemptionPolicy::kNever
                              : std::ranges::any_of(group.members(), never);
  return says_never ? "not eligible due to preemptionPolicy=Never." : "";
}

// Victims of an earlier preemption are still going.
bool GroupPreemption::is_ongoing(const UnplacedGroup& group) const {
  const Cluster& cluster = handle_.cluster;
  for (const GroupMember& member : group.members()) {
    const NodeRow row = cluster.nodes().find(member.pod->nominated_node());
    if (member.pod->nominated_node().empty() || row == kNoRow) continue;
    for (const Ref<const Pod>& pod : cluster.nodes().pods(row))
      if (goes_for_preemption(*pod) &&
          victim_priority(*pod, cluster) < group.group().effective_priority())
        return true;
  }
  return false;
}

Task<GroupPreemption::Choice> GroupPreemption::choose(UnplacedGroup& group) const {
  Choice choice;
  if (!handle_.trial_cluster) {
    choice.outcome = Outcome::failure("there is no cluster to try things on");
    co_return choice;
  }
  if (std::string why = not_eligible(group); !why.empty()) {
    choice.outcome = Outcome::unschedulable(std::move(why));
    co_return choice;
  }
  if (is_ongoing(group)) {
    for (const GroupMember& member : group.members())
      if (!member.pod->nominated_node().empty())
        choice.nominations.emplace(member.pod->uid(), member.pod->nominated_node_name());
    choice.outcome = Outcome::of(Code::kSuccess, "ongoing preemption on nominated nodes");
    co_return choice;
  }
  const std::vector<VictimUnit> units =
      potential_victims(handle_.cluster, group.group().effective_priority());
  if (units.empty()) {
    choice.outcome = Outcome::of(Code::kUnschedulableAndUnresolvable,
                                 "No preemption victims found for incoming preemptor");
    co_return choice;
  }

  Search search(group, *handle_.trial_cluster);
  for (const VictimUnit& unit : units) search.remove(unit);
  Task<Outcome> placing = group.schedule();
  choice.outcome = co_await placing;
  if (!choice.outcome.ok()) co_return choice;
  search.keep_placement();

  std::vector<const VictimUnit*> violating, others, victims;
  DisruptionBudgets budgets(handle_.cluster);
  budgets.start_over();
  for (const VictimUnit& unit : units) {
    bool violates = false;
    for (const VictimUnit::At& at : unit.pods) violates = budgets.violated_by(*at.pod) || violates;
    (violates ? violating : others).push_back(&unit);
  }
  for (const auto* list : {&violating, &others})
    for (const VictimUnit* unit : *list) {
      Task<bool> coming_back = search.can_stay(*unit);
      if (!co_await coming_back) victims.push_back(unit);
    }
  if (!search.error().empty()) {
    choice.outcome = Outcome::failure(search.error());
    co_return choice;
  }
  sort_stably(victims,
              [](const VictimUnit* a, const VictimUnit* b) { return is_more_important(*a, *b); });
  for (const VictimUnit* unit : victims)
    for (const VictimUnit::At& at : unit->pods) choice.victims.push_back(at.pod);
  for (const GroupMember& member : search.placed())
    choice.nominations.emplace(member.pod->uid(), handle_.cluster.nodes().name_text(member.row));
  choice.outcome = Outcome::of(
      Code::kSuccess,
      fmt::format("found a placement for podgroup, preempting {} victims", choice.victims.size()));
  co_return choice;
}

}  // namespace berth
