// Evaluator: pods that are added to the cluster one after the other, and taken away again.
#include <memory>
#include <ranges>
#include <utility>

#include "base/check.h"
#include "explain/evaluator_parts.h"

namespace berth::explain {

Evaluator::Placed Evaluator::place(const Ref<const Pod>& pod) {
  Cluster& cluster = parts_->cluster;
  const Framework& framework = *parts_->framework;
  cluster.see_pod(pod);
  cluster.begin_cycle();
  auto cycle = std::make_unique<Cycle>(pod, cluster);
  SearchResult found = parts_->search_for(parts_->without_preemption, *cycle, nullptr);
  if (!found.outcome.ok()) {
    cluster.remove_seen_pod(*pod);
    return {kNoRow, std::move(found.outcome)};
  }
  if (const Result<void> assumed = cluster.assume(pod, found.row); !assumed) {
    cluster.remove_seen_pod(*pod);
    return {kNoRow, Outcome::failure(assumed.error().message)};
  }
  const std::string_view node = cluster.nodes().name_text(found.row);
  Outcome reserved = framework.run_reserve(*cycle, node);
  framework.end_search(*cycle);
  if (!reserved.ok()) {
    framework.run_unreserve(*cycle, node);
    BERTH_CHECK(cluster.forget(*pod));
    cluster.remove_seen_pod(*pod);
    return {kNoRow, std::move(reserved)};
  }
  parts_->placed.push_back(std::move(cycle));
  return {found.row, std::move(found.outcome)};
}

void Evaluator::take_back() {
  Cluster& cluster = parts_->cluster;
  for (const std::unique_ptr<Cycle>& cycle : std::views::reverse(parts_->placed)) {
    const Pod& pod = cycle->pod();
    parts_->framework->run_unreserve(*cycle, cluster.nodes().name_text(cluster.row_of(pod.uid())));
    BERTH_CHECK(cluster.forget(pod));
    cluster.remove_seen_pod(pod);
  }
  parts_->placed.clear();
}

void Evaluator::put(Ref<const Object> object) { parts_->cluster.put(std::move(object)); }

void Evaluator::remove(ObjectKind kind, std::string_view namespace_name, std::string_view name) {
  parts_->cluster.remove(kind, namespace_name, name);
}

}  // namespace berth::explain
