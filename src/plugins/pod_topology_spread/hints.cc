// What may change PodTopologySpread's mind (plugins.md §14.9).
#include <algorithm>

#include "plugins/event_objects.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {
namespace {

using Constraints = std::span<const SpreadConstraint>;

// Whether a pod may count where `waiting` wants to go: it is of its namespace, and on a node or on
// its way there.
bool is_involved(const Pod& pod, const Pod& waiting) {
  if (pod.node().empty() && pod.nominated_node().empty()) return false;
  return pod.meta().namespace_name == waiting.meta().namespace_name;
}

bool counts_for_any(Constraints constraints, const Pod& pod) {
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.matches(pod.labels(), pod.symbols());
  });
}

bool has_every_key(Constraints constraints, const Node& node) {
  return std::ranges::all_of(constraints, [&](const SpreadConstraint& constraint) {
    return node.labels.contains(constraint.topology_key);
  });
}

QueueingHint after_label_change(Constraints constraints, const Pod& before, const Pod& after) {
  if (before.labels() == after.labels()) return QueueingHint::kSkip;
  return queue_if(std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return constraint.selector.matches(before.labels(), before.symbols()) !=
           constraint.selector.matches(after.labels(), after.symbols());
  }));
}

QueueingHint after_node_update(Constraints constraints, const Node& before, const Node& after) {
  const bool fits = has_every_key(constraints, after);
  if (fits != has_every_key(constraints, before)) return QueueingHint::kQueue;
  if (!fits) return QueueingHint::kSkip;
  const bool moved = std::ranges::any_of(constraints, [&](const SpreadConstraint& constraint) {
    return before.labels.get(constraint.topology_key) != after.labels.get(constraint.topology_key);
  });
  return queue_if(moved || before.taints != after.taints);
}

}  // namespace

std::optional<std::vector<EventRegistration>> PodTopologySpread::events_to_register() const {
  const auto pod_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_assigned_pod_change(pod, before, after);
  };
  const auto own_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_own_change(pod, before, after);
  };
  const auto node_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_node_change(pod, before, after);
  };
  using namespace action;
  return {{{{EventResource::kAssignedPod, kAdd | kDelete | kUpdatePodLabel, {}},
            pod_hint,
            HintScope::kClass},
           {{EventResource::kTargetPod, kUpdatePodToleration | kUpdatePodLabel, {}},
            own_hint,
            HintScope::kClass},
           {{EventResource::kNode, kAdd | kDelete | kUpdateNodeLabel | kUpdateNodeTaint, {}},
            node_hint,
            HintScope::kClass}}};
}

Result<QueueingHint> PodTopologySpread::after_own_change(const Pod& pod, const AnyObject& before,
                                                         const AnyObject& after) const {
  const auto change = change_in<Pod>(before, after);
  if (!change) return fail(change.error());
  if (!change->before || !change->after) return QueueingHint::kSkip;
  const Result<std::vector<SpreadConstraint>> hard =
      constraints(pod, UnsatisfiableAction::kDoNotSchedule);
  if (!hard) return fail(hard.error());
  if (change->before->spec().tolerations != change->after->spec().tolerations &&
      std::ranges::any_of(*hard, &SpreadConstraint::honor_taints))
    return QueueingHint::kQueue;
  return after_label_change(*hard, *change->before, *change->after);
}

Result<QueueingHint> PodTopologySpread::after_assigned_pod_change(const Pod& pod,
                                                                  const AnyObject& before,
                                                                  const AnyObject& after) const {
  const auto change = change_in<Pod>(before, after);
  if (!change) return fail(change.error());
  for (const Pod* version : {change->before, change->after})
    if (version && !is_involved(*version, pod)) return QueueingHint::kSkip;
  const Result<std::vector<SpreadConstraint>> hard =
      constraints(pod, UnsatisfiableAction::kDoNotSchedule);
  if (!hard) return fail(hard.error());
  if (change->before && change->after)
    return after_label_change(*hard, *change->before, *change->after);
  const Pod* changed = change->after ? change->after : change->before;
  return queue_if(changed && counts_for_any(*hard, *changed));
}

Result<QueueingHint> PodTopologySpread::after_node_change(const Pod& pod, const AnyObject& before,
                                                          const AnyObject& after) const {
  const auto change = change_in<Node>(before, after);
  if (!change) return fail(change.error());
  const Result<std::vector<SpreadConstraint>> hard =
      constraints(pod, UnsatisfiableAction::kDoNotSchedule);
  if (!hard) return fail(hard.error());
  if (change->before && change->after)
    return after_node_update(*hard, *change->before, *change->after);
  const Node* changed = change->after ? change->after : change->before;
  return queue_if(changed && has_every_key(*hard, *changed));
}

}  // namespace berth::plugins
