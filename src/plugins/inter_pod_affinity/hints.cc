// InterPodAffinity: which events can help a pod that it rejected, and the pod's signature.
#include <algorithm>

#include "plugins/event_objects.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

using Terms = std::vector<AffinityTerm>;

// Parity: hints know neither the labels of namespaces nor which namespaces a selector chooses.
bool matches_without_namespace_labels(const AffinityTerm& term, const Pod& pod) {
  static const LabelSet kNoLabels;
  return term.matches(pod, kNoLabels);
}

// Affinity wants one pod that matches all terms; anti-affinity avoids a pod that matches any.
bool matches_all(const Terms& affinity, const Pod& pod) {
  return !affinity.empty() && std::ranges::all_of(affinity, [&](const AffinityTerm& term) {
    return matches_without_namespace_labels(term, pod);
  });
}
bool matches_any(const Terms& anti_affinity, const Pod& pod) {
  return std::ranges::any_of(anti_affinity, [&](const AffinityTerm& term) {
    return matches_without_namespace_labels(term, pod);
  });
}

bool is_placed(const Pod& pod) { return !pod.node().empty() || !pod.nominated_node().empty(); }

}  // namespace

Result<QueueingHint> InterPodAffinity::after_assigned_pod_change(const Pod& pod,
                                                                 const AnyObject& before,
                                                                 const AnyObject& after) const {
  const auto other = change_in<Pod>(before, after);
  if (!other) return fail(other.error());
  const auto [was, is] = *other;
  if ((was && !is_placed(*was)) || (is && !is_placed(*is))) return QueueingHint::kSkip;
  const HintTerms::Terms& required = hint_terms_->of(pod);
  if (!required.affinity) return fail(required.affinity.error());
  if (!required.anti_affinity) return fail(required.anti_affinity.error());
  const Terms& affinity = *required.affinity;
  const Terms& anti_affinity = *required.anti_affinity;
  if (was && is)
    return queue_if((!matches_all(affinity, *was) && matches_all(affinity, *is)) ||
                    (matches_any(anti_affinity, *was) && !matches_any(anti_affinity, *is)));
  if (is) return queue_if(matches_all(affinity, *is));
  if (!was) return QueueingHint::kSkip;
  if (matches_any(anti_affinity, *was)) return QueueingHint::kQueue;
  Result<Terms> avoided = required_anti_affinity_terms(*was);
  if (!avoided) return fail(std::move(avoided).error());
  return queue_if(matches_any(*avoided, pod));
}

Result<QueueingHint> InterPodAffinity::after_node_change(const Pod& pod, const AnyObject& before,
                                                         const AnyObject& after) const {
  const auto node = change_in<Node>(before, after);
  if (!node) return fail(node.error());
  if (!node->after) return QueueingHint::kSkip;
  const HintTerms::Terms& required = hint_terms_->of(pod);
  if (!required.affinity) return fail(required.affinity.error());
  if (!required.anti_affinity) return fail(required.anti_affinity.error());
  const auto value = [](const Node* of, Symbol key) { return of ? of->labels.find(key) : nullptr; };
  const auto helps = [&](const AffinityTerm& term, bool wants_key) {
    const Symbol* is = value(node->after, term.topology_key);
    if (!node->before) return !wants_key || is;
    const Symbol* was = value(node->before, term.topology_key);
    if (was && is) return *was != *is;
    return (wants_key ? is : was) != nullptr;
  };
  return queue_if(
      std::ranges::any_of(*required.affinity,
                          [&](const AffinityTerm& term) { return helps(term, true); }) ||
      std::ranges::any_of(*required.anti_affinity,
                          [&](const AffinityTerm& term) { return helps(term, false); }));
}

std::optional<std::vector<EventRegistration>> InterPodAffinity::events_to_register() const {
  const auto pod_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_assigned_pod_change(pod, before, after);
  };
  const auto node_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_node_change(pod, before, after);
  };
  using namespace action;
  return {{{{EventResource::kAssignedPod, kAdd | kUpdatePodLabel | kDelete, {}},
            pod_hint,
            HintScope::kClass},
           {{EventResource::kTargetPod, kUpdatePodLabel, {}}, {}},
           {{EventResource::kNode, kAdd | kUpdateNodeLabel, {}}, node_hint, HintScope::kClass}}};
}

Outcome InterPodAffinity::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  if (const Affinity* affinity = pod.spec().affinity.get();
      affinity && (affinity->pod || affinity->pod_anti))
    return Outcome::unschedulable("pods with InterPodAffinity are not signable");
  // Parity: the required terms of other pods look at the labels as well, but are not thought of.
  if (ignore_preferred_terms_of_existing_pods_) return Outcome::success();
  fragments.push_back({"v1.Pod.Labels", signature_of_labels(pod.labels(), pod)});
  return Outcome::success();
}

}  // namespace berth::plugins
