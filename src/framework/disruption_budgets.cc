#include "framework/disruption_budgets.h"

#include <algorithm>
#include <utility>

#include "api/kinds.h"

namespace berth {

DisruptionBudgets::DisruptionBudgets(const Cluster& cluster) {
  for (Ref<const Object>& object : cluster.list(ObjectKind::kPodDisruptionBudget)) {
    const auto& budget = static_cast<const PodDisruptionBudget&>(*object);
    Result<Selector> selector = Selector::compile(budget.selector, cluster.symbols());
    // Parity: a budget without a selector, or with an empty one, is over no pod at all here.
    if (!selector || selector->is_nothing() || selector->is_empty()) continue;
    budgets_.push_back({budget.namespace_name, std::move(*selector), budget.disruptions_allowed,
                        budget.disruptions_allowed, std::move(object)});
  }
}

void DisruptionBudgets::start_over() {
  for (Budget& budget : budgets_) budget.left = budget.allowed;
}

bool DisruptionBudgets::violated_by(const Pod& pod) {
  if (pod.labels().empty()) return false;
  for (Budget& budget : budgets_) {
    if (budget.namespace_name != pod.meta().namespace_name ||
        !budget.selector.matches(pod.labels(), pod.symbols()))
      continue;
    // The API server has already counted the pods that it is about to evict.
    const auto& disrupted = static_cast<const PodDisruptionBudget&>(*budget.object).disrupted_pods;
    if (std::ranges::find(disrupted, pod.name()) != disrupted.end()) continue;
    if (--budget.left < 0) return true;
  }
  return false;
}

}  // namespace berth
