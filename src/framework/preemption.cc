#include "framework/preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/check.h"
#include "berth/labels.h"
#include "berth/observer.h"
#include "config/feature_gates.h"
#include "framework/framework.h"

namespace berth {
namespace {

std::string expected_victim(std::string_view node) {
  return fmt::format("expected at least one victim pod on node \"{}\"", node);
}

bool goes_for_us(const Pod& pod) {
  const PodCondition* condition = pod.condition("DisruptionTarget");
  return pod.terminating() && condition && condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

// Since when the most important of the victims run.
WallTime earliest_start(const Victims& victims) {
  std::int32_t highest = std::numeric_limits<std::int32_t>::min();
  for (const Ref<const Pod>& pod : victims.pods) highest = std::max(highest, pod->priority());
  WallTime earliest{Duration::max()};
  for (const Ref<const Pod>& pod : victims.pods)
    if (pod->priority() == highest) earliest = std::min(earliest, started(*pod));
  return earliest;
}

// Ways to compare (TriedRow::measures).
using Measure = std::int64_t (*)(const Victims&);
constexpr std::array<Measure, TriedRow::kMeasures> kMeasures = {
    [](const Victims& victims) { return -victims.pdb_violations; },
    [](const Victims& victims) {
      return victims.pods.empty() ? 0 : -std::int64_t{victims.pods.front()->priority()};
    },
    [](const Victims& victims) {
      // Raised above zero, so that many pods of negative priority count as more than few.
      std::int64_t sum = 0;
      for (const Ref<const Pod>& pod : victims.pods)
        sum += std::int64_t{pod->priority()} + (std::int64_t{1} << 31);
      return -sum;
    },
    [](const Victims& victims) { return -static_cast<std::int64_t>(victims.pods.size()); },
    [](const Victims& victims) {
      return static_cast<std::int64_t>(earliest_start(victims).since_epoch.count());
    },
};

std::array<std::int64_t, TriedRow::kMeasures> measure(const Victims& victims) {
  std::array<std::int64_t, TriedRow::kMeasures> measured{};
  for (std::size_t i = 0; i < measured.size(); ++i) measured[i] = kMeasures[i](victims);
  return measured;
}

// An extender's victims as pods: it may name any pod of a node that there is, and no other.
Result<VictimsByNode> with_pods(const MetaVictimsByNode& answer, const Cluster& cluster,
                                std::string_view extender) {
  const NodeTable& nodes = cluster.nodes();
  VictimsByNode victims;
  for (const auto& [node, meta] : answer) {
    const Symbol name = cluster.symbols().find(node);
    const NodeRow row = name.empty() ? kNoRow : nodes.find(name);
    if (row == kNoRow || !nodes.has_node(row))
      return fail(ErrorKind::kNotFound,
                  fmt::format("nodeinfo not found for node name \"{}\"", node));
    ExtenderVictims& of_node = victims[node];
    of_node.pdb_violations = meta.pdb_violations;
    for (const std::string& uid : meta.pod_uids) {
      const auto pods = nodes.pods(row);
      const auto found = std::ranges::find_if(
          pods, [&](const Ref<const Pod>& pod) { return pod->uid_text() == uid; });
      // Parity: the UID stands there as Go shows a pointer to a struct.
      if (found == pods.end())
        return fail(ErrorKind::kInvalid,
                    fmt::format("extender: {} claims to preempt pod (UID: &{{{}}}) on node: {}, "
                                "but the pod is not found on that node",
                                extender, uid, node));
      of_node.pods.push_back(*found);
    }
  }
  return victims;
}

}  // namespace

std::size_t candidates_to_find(std::size_t nodes, const PreemptionLimits& limits) {
  const auto share =
      nodes * static_cast<std::size_t>(std::max(limits.min_candidate_nodes_percentage, 0)) / 100;
  const auto least = static_cast<std::size_t>(std::max(limits.min_candidate_nodes_absolute, 0));
  return std::min(nodes, std::max(share, least));
}

std::size_t pick_one_node_for_preemption(std::span<const PreemptionCandidate> candidates) {
  BERTH_CHECK(!candidates.empty());
  std::size_t best = 0;
  auto most = measure(candidates.front().victims);
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (const auto measured = measure(candidates[i].victims); measured > most) {
      best = i;
      most = measured;
    }
  return best;
}

Preemption::Preemption(const Handle& handle, PreemptionLimits limits)
    : handle_(handle), limits_(limits), check_(KeptCheck::of(*handle.shared)) {
  if (handle.gates.enabled("GenericWorkload")) groups_ = group_states(*handle.shared);
}

Task<Preemption::Choice> Preemption::choose(Cycle& cycle, const Diagnosis& diagnosis) const {
  Choice choice;
  if (Observer* measured = handle_.observer ? handle_.observer->measuring() : nullptr)
    measured->preemption_attempted();
  if (!cycle.framework || !handle_.trial_cluster || !cycle.scratch()) {
    choice.outcome = Outcome::failure("there is no cluster to try things on");
    co_return choice;
  }
  // The newest version counts: its nomination may have changed since the attempt began.
  const Ref<const Pod> pod = handle_.cluster.seen_pod(cycle.pod());
  if (!pod) {
    choice.outcome = Outcome::failure(fmt::format("pod \"{}\" not found", cycle.pod().name()));
    co_return choice;
  }
  if (std::string why = not_eligible(*pod, cycle, diagnosis); !why.empty()) {
    choice.outcome = Outcome::unschedulable(std::move(why));
    co_return choice;
  }

  Task<FoundCandidates> finding =
      find_candidates(cycle, nodes_where_preemption_might_help(cycle, diagnosis));
  const FoundCandidates found = co_await finding;
  if (found.candidates.empty()) {
    if (!found.error.empty()) {
      choice.outcome = Outcome::failure(found.error);
    } else {
      choice.outcome = Outcome::unschedulable(found.message);
      choice.nominating = Nominating::clear();
    }
    co_return choice;
  }
  if (std::ranges::none_of(handle_.extenders, &Extender::preempts)) {
    const auto best = std::ranges::max_element(
        found.candidates, {}, [](const Candidate& candidate) { return candidate.tried->measures; });
    choice.candidate = named(*best);
    choice.nominating = Nominating::to(choice.candidate->node);
    co_return choice;
  }
  std::vector<PreemptionCandidate> candidates;
  for (const Candidate& candidate : found.candidates) candidates.push_back(named(candidate));
  Task<Result<void>> asking = ask_extenders(pod, candidates);
  if (const Result<void> asked = co_await asking; !asked) {
    choice.outcome = Outcome::failure(asked.error().message);
    co_return choice;
  }
  if (candidates.empty()) {
    choice.outcome = Outcome::unschedulable("no candidate node for preemption");
    co_return choice;
  }
  choice.candidate = std::move(candidates[pick_one_node_for_preemption(candidates)]);
  choice.nominating = Nominating::to(choice.candidate->node);
  co_return choice;
}

PreemptionCandidate Preemption::named(const Candidate& candidate) const {
  return {std::string(handle_.cluster.nodes().name_text(candidate.row)), candidate.tried->victims};
}

// Why the pod may not preempt now; empty if it may.
std::string Preemption::not_eligible(const Pod& pod, const Cycle& cycle,
                                     const Diagnosis& diagnosis) const {
  if (pod.spec().preemption_policy == PreemptionPolicy::kNever)
    return "not eligible due to preemptionPolicy=Never.";
  if (pod.nominated_node().empty()) return {};
  const NodeTable& nodes = cycle.nodes();
  const NodeRow row = nodes.find(pod.nominated_node());
  const bool known = row != kNoRow && nodes.has_node(row);
  const Code code = known && diagnosis.explicit_nodes.contains(row)
                        ? cycle.scratch()->verdicts[row].code
                        : diagnosis.absent.code;
  if (code == Code::kUnschedulableAndUnresolvable || !known) return {};
  for (const Ref<const Pod>& other : nodes.pods(row))
    if ((groups_ ? victim_priority(*other, handle_.cluster) : other->priority()) < pod.priority() &&
        goes_for_us(*other))
      return "not eligible due to a terminating pod on the nominated node.";
  return {};
}

// The nodes with the verdict Unschedulable, in snapshot order.
std::vector<NodeRow> Preemption::nodes_where_preemption_might_help(
    const Cycle& cycle, const Diagnosis& diagnosis) const {
  const NodeSet& nodes = cycle.nodes().nodes();
  const std::span<const Status> verdicts = cycle.scratch()->verdicts;
  NodeSet told = diagnosis.explicit_nodes;
  told &= nodes;
  const bool others = diagnosis.absent.code == Code::kUnschedulable;
  std::vector<NodeRow> rows(cycle.nodes().order().size());
  std::size_t count = 0;
  for (const NodeRow row : cycle.nodes().order()) {
    rows[count] = row;  // stays if it counts
    const bool worth = told.contains(row) ? verdicts[row].code == Code::kUnschedulable
                                          : others && nodes.contains(row);
    count += worth ? 1 : 0;
  }
  rows.resize(count);
  return rows;
}

KeptVictims* Preemption::kept_for(const Cycle& cycle) const {
  const Framework& framework = *cycle.framework;
  const NominationLog* const log = NominationLog::of(handle_.nominator);
  // With groups the victims of a row depend on more than the row.
  if (groups_ || !KeptVictims::can_keep(cycle, framework, log)) return nullptr;
  kept_.begin_cycle();
  if (++asks_ > kept_.size()) {
    asks_ = 0;
    kept_.erase_if([](const KeptVictims& one) { return !one.in_use(); });
  }
  const std::size_t hash = KeptVictims::hash_of(framework, cycle.pod());
  KeptVictims* kept = kept_.find(
      hash, [&](const KeptVictims& known) { return known.is_of(framework, cycle.pod()); });
  if (!kept) kept = &kept_.insert(hash, std::make_unique<KeptVictims>(framework, cycle.pod()));
  kept->catch_up(cycle, *log);
  return kept;
}

void Preemption::check(const Cycle& cycle, NodeRow row, const TriedRow& kept,
                       VictimSearch& search) const {
  const VictimSearch::NodeVictims now = search.select_victims_on_node(row);
  const auto reasons = [&](const Status& status) {
    return cycle.framework->explain(cycle, status).message();
  };
  if (now.status.code == kept.status.code && now.victims.pods == kept.victims.pods &&
      now.victims.pdb_violations == kept.victims.pdb_violations &&
      reasons(now.status) == reasons(kept.status))
    return;
  if (!check_->difference)
    check_->difference =
        fmt::format("pod {}, node {}: kept with {} victims and \"{}\", but there are {} and \"{}\"",
                    cycle.pod().full_name(), cycle.nodes().name_text(row), kept.victims.pods.size(),
                    reasons(kept.status), now.victims.pods.size(), reasons(now.status));
}

TriedRow Preemption::tried_row(VictimSearch::NodeVictims found, std::string_view node,
                               std::vector<std::string>& errors) {
  // An extender rejected the node, not a plugin: nothing had to go.
  if (found.status.ok() && found.victims.pods.empty()) {
    found.status.code = Code::kError;
    found.error = expected_victim(node);
  }
  if (found.status.code == Code::kError) errors.push_back(std::move(found.error));
  return {found.status, measure(found.victims), std::move(found.victims)};
}

std::string Preemption::not_helpful(Cycle& cycle, NodeSet tried) {
  Diagnosis dry_run;
  dry_run.explicit_nodes = std::move(tried);
  dry_run.absent =
      Outcome::of(Code::kUnschedulableAndUnresolvable, "Preemption is not helpful for scheduling");
  return cycle.framework->fit_error(cycle, dry_run, cycle.nodes().node_count())->message();
}

Task<Preemption::FoundCandidates> Preemption::find_candidates(Cycle& cycle,
                                                              std::vector<NodeRow> rows) const {
  const NodeTable& nodes = cycle.nodes();
  std::vector<Status>& verdicts = cycle.scratch()->verdicts;
  const std::size_t enough = candidates_to_find(rows.size(), limits_);
  const std::size_t offset = rows.empty() ? 0 : handle_.random.below(rows.size());
  VictimSearch search(*cycle.framework, cycle, *handle_.trial_cluster, groups_.get());
  KeptVictims* const kept = kept_for(cycle);
  std::vector<Candidate> violating;
  std::vector<std::string> errors;
  std::vector<std::pair<NodeRow, Status>> tried;  // with the verdict that the row had before
  FoundCandidates found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NodeRow row = rows[offset + i < rows.size() ? offset + i : offset + i - rows.size()];
    tried.emplace_back(row, verdicts[row]);
    const TriedRow* here = kept ? kept->find(cycle, row) : nullptr;
    if (here && check_->on) check(cycle, row, *here, search);
    if (!here) {
      VictimSearch::NodeVictims now = search.select_victims_on_node(row);
      while (now.status.code == Code::kWait) {
        Task<void> giving = cycle.framework->give_turn(cycle);
        co_await giving;
        now = search.select_victims_on_node(row);
      }
      TriedRow fresh = tried_row(std::move(now), nodes.name_text(row), errors);
      const bool keep = kept && fresh.status.code != Code::kError;
      here = keep ? &kept->keep(cycle, row, std::move(fresh))
                  : &found.not_kept.emplace_back(std::move(fresh));
    }
    verdicts[row] = here->status;
    if (!here->status.ok()) continue;
    std::vector<Candidate>& list = here->victims.pdb_violations == 0 ? found.candidates : violating;
    if (list.size() < enough) list.push_back({row, here});
    // The search goes on until one candidate violates no budget.
    if (!found.candidates.empty() && found.candidates.size() + violating.size() >= enough) break;
  }
  std::ranges::move(violating, std::back_inserter(found.candidates));
  if (found.candidates.empty() && errors.empty()) {
    NodeSet looked_at(nodes.rows());
    for (const auto& [row, before] : tried) looked_at.insert(row);
    found.message = not_helpful(cycle, std::move(looked_at));
  }
  if (!errors.empty()) found.error = aggregate(errors).message;
  for (const auto& [row, before] : tried) verdicts[row] = before;
  co_return found;
}

Task<Result<void>> Preemption::ask_extenders(Ref<const Pod> pod,
                                             std::vector<PreemptionCandidate>& candidates) const {
  VictimsByNode victims;
  for (PreemptionCandidate& candidate : candidates)
    victims.emplace(candidate.node, candidate.victims);
  for (Extender* extender : handle_.extenders) {
    if (!extender->preempts() || !extender->interested_in(*pod)) continue;
    Task<Result<MetaVictimsByNode>> asking = extender->preempt(pod, victims);
    const Result<MetaVictimsByNode> meta = co_await asking;
    Result<VictimsByNode> answer =
        meta ? with_pods(*meta, handle_.cluster, extender->name()) : fail(meta.error());
    if (!answer) {
      if (!extender->ignorable()) co_return fail(answer.error());
      if (handle_.observer) handle_.observer->internal_error(answer.error().message);
      continue;
    }
    for (auto entry = answer->begin(); entry != answer->end();) {
      if (!entry->second.pods.empty()) {
        ++entry;
        continue;
      }
      if (!extender->ignorable())
        co_return fail(ErrorKind::kInvalid, expected_victim(entry->first));
      if (handle_.observer) handle_.observer->internal_error(expected_victim(entry->first));
      entry = answer->erase(entry);
    }
    victims = std::move(*answer);
    if (victims.empty()) break;
  }
  candidates.clear();
  for (auto& [node, of_node] : victims) candidates.push_back({node, std::move(of_node)});
  co_return Result<void>();
}

}  // namespace berth
