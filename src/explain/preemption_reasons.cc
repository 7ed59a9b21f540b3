#include "explain/preemption_reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/stable_sort.h"
#include "explain/cluster_edits.h"
#include "explain/evaluator_parts.h"
#include "framework/disruption_budgets.h"

namespace berth::explain {
namespace {

// In the order in which they are listed.
enum class Why : std::uint8_t {
  kPossible,
  kViolatesBudget,
  kPolicyNever,
  kWaitsForVictims,
  kNoLowerPriority,
  kNotEnough,
  kUnresolvable,
  kNotTried,
};

// More are not tried one by one: a cluster of many thousand full nodes would take too long.
constexpr std::size_t kMostTried = 2'000;

std::string_view code_of_reason(Why why) {
  switch (why) {
    case Why::kPossible: return "PreemptionPossible";
    case Why::kViolatesBudget: return "ViolatesDisruptionBudget";
    case Why::kPolicyNever: return "PreemptionPolicyNever";
    case Why::kWaitsForVictims: return "WaitsForVictims";
    case Why::kNoLowerPriority: return "NoLowerPriorityPods";
    case Why::kNotEnough: return "VictimsNotEnough";
    case Why::kUnresolvable: return "NotAboutPods";
    case Why::kNotTried: return "NotTried";
  }
  return "";
}

std::string text_of_reason(Why why, const Pod& pod, const std::string& plugins) {
  switch (why) {
    case Why::kPossible: return "evicting pods of lower priority would make room, too";
    case Why::kViolatesBudget:
      return "evicting pods of lower priority would make room, but against a PodDisruptionBudget, "
             "which is the last resort";
    case Why::kPolicyNever: return "the pod's preemptionPolicy is Never";
    case Why::kWaitsForVictims:
      return fmt::format("the pod is nominated to {} and waits until its victims there are gone",
                         pod.text(pod.nominated_node()));
    case Why::kNoLowerPriority:
      return fmt::format("no pod there has a priority lower than {}", pod.priority());
    case Why::kNotEnough: return "the pod would not fit without the pods of lower priority either";
    case Why::kUnresolvable:
      return fmt::format("no eviction changes what {} {} against the node", plugins,
                         plugins.contains(',') ? "have" : "has");
    case Why::kNotTried: return "not tried";
  }
  return {};
}

class ReasonsByNode {
 public:
  ReasonsByNode(Evaluator& evaluator, const Ref<const Pod>& pod)
      : pod_(pod), cluster_(evaluator.cluster()), gone_(evaluator, pod), budgets_(cluster_) {}

  Why ask(NodeRow row) {
    std::vector<Ref<const Pod>> lower;
    for (const Ref<const Pod>& other : cluster_.nodes().pods(row))
      if (other->priority() < pod_->priority()) lower.push_back(other);
    if (lower.empty()) return Why::kNoLowerPriority;
    if (++tried_ > kMostTried) return Why::kNotTried;
    for (const Ref<const Pod>& other : lower) gone_.remove(other, row);
    const Why why = !gone_.fits(row) ? Why::kNotEnough : budget_counts(row, std::move(lower));
    gone_.undo_to(0);
    return why;
  }

 private:
  // As preemption does it: those that a budget protects come back first, then the others, as long as
  // the pod still fits. Whether one that is protected cannot.
  Why budget_counts(NodeRow row, std::vector<Ref<const Pod>> lower) {
    sort_stably(lower, std::ranges::greater(),
                [](const Ref<const Pod>& pod) { return pod->priority(); });
    budgets_.start_over();
    std::vector<Ref<const Pod>> protected_pods;
    for (const Ref<const Pod>& other : lower)
      if (budgets_.violated_by(*other)) protected_pods.push_back(other);
    for (const Ref<const Pod>& other : protected_pods) {
      gone_.put_back(other, row);
      if (!gone_.fits(row)) return Why::kViolatesBudget;
    }
    return Why::kPossible;
  }

  const Ref<const Pod>& pod_;
  const Cluster& cluster_;
  PodsGone gone_;
  DisruptionBudgets budgets_;
  std::size_t tried_ = 0;
};

// Why for all nodes alike: the pod may not preempt now. nullopt: it depends on the node.
std::optional<Why> why_everywhere(const SearchTrace& trace) {
  if (!trace.post_filter) return std::nullopt;
  const std::string_view message = trace.post_filter->message;
  if (message.contains("not eligible due to preemptionPolicy=Never")) return Why::kPolicyNever;
  if (message.contains("not eligible due to a terminating pod")) return Why::kWaitsForVictims;
  return std::nullopt;
}

}  // namespace

std::vector<Explanation::PreemptionReason> preemption_reasons(Evaluator& evaluator,
                                                              const Ref<const Pod>& pod,
                                                              const SearchTrace& trace,
                                                              const std::string& chosen) {
  const NodeTable& nodes = evaluator.cluster().nodes();
  std::map<std::pair<Why, std::string>, std::vector<std::string>> groups;  // by plugins, too
  const std::optional<Why> everywhere = why_everywhere(trace);
  std::optional<ReasonsByNode> by_node;
  for (const SearchTrace::Objections& objections : trace.objections) {
    std::string node(nodes.name_text(objections.row));
    if (node == chosen) continue;
    std::set<std::string> unresolvable;
    for (const SearchTrace::Objection& objection : objections.by)
      if (objection.outcome.code == Code::kUnschedulableAndUnresolvable)
        unresolvable.insert(objection.outcome.plugin);
    Why why = Why::kUnresolvable;
    if (everywhere) {
      why = *everywhere;
      unresolvable.clear();
    } else if (unresolvable.empty()) {
      if (!by_node) by_node.emplace(evaluator, pod);
      why = by_node->ask(objections.row);
    }
    groups[{why, fmt::format("{}", fmt::join(unresolvable, ", "))}].push_back(std::move(node));
  }
  std::vector<Explanation::PreemptionReason> reasons;
  for (auto& [why, names] : groups) {
    std::ranges::sort(names);
    reasons.push_back({std::string(code_of_reason(why.first)),
                       text_of_reason(why.first, *pod, why.second), std::move(names)});
  }
  return reasons;
}

std::vector<Explanation::Nominated> nominated_in_the_way(Evaluator& evaluator,
                                                         const Ref<const Pod>& pod) {
  std::vector<Explanation::Nominated> found;
  const NodeTable& nodes = evaluator.cluster().nodes();
  const auto nominated = evaluator.nominated_pods();
  if (nominated.empty()) return found;
  const NodeSet rows = evaluator.feasible_without_nominations(pod);
  for (const auto& [node, pods] : nominated) {
    const NodeRow row = nodes.find(node);
    if (row == kNoRow || !rows.contains(row)) continue;
    Explanation::Nominated& there = found.emplace_back();
    there.node = nodes.name_text(row);
    for (const Ref<const Pod>& other : pods)
      if (other->uid() != pod->uid() && other->priority() >= pod->priority())
        there.pods.push_back(other->full_name());
    std::ranges::sort(there.pods);
    if (there.pods.empty()) found.pop_back();
  }
  std::ranges::sort(found, {}, &Explanation::Nominated::node);
  return found;
}

}  // namespace berth::explain
