#include "explain/priorities.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "explain/pods_gone.h"

namespace berth::explain {
namespace {

constexpr std::int32_t kHighestForUsers = 1'000'000'000;

Edit with_priority(const UnplacedPod& unplaced, std::int32_t priority) {
  Edit edit;
  edit.code = "RaisePriority";
  edit.object = unplaced.name();
  edit.by_preemption = true;
  edit.apply = [priority](PatchedObject& pod) {
    pod.set({"spec", "priority"}, JsonValue::of_int(priority));
    return true;
  };
  return edit;
}

struct Preempted {
  bool succeeds = false;
  std::vector<std::string> victims;
  std::string node;
};

Preempted ask(const UnplacedPod& unplaced, std::int32_t priority) {
  const Edit edit = with_priority(unplaced, priority);
  const AppliedEdits applied(unplaced, {&edit, 1});
  if (!applied.ok()) return {};
  unplaced.count_question();
  Evaluator::Traced traced = unplaced.evaluator().trace(applied.pod(), {.post_filter = true});
  if (traced.trace.outcome.ok())  // it need not make room any more for pods that are nominated
    return {true, {}, std::string(unplaced.nodes().name_text(traced.trace.chosen))};
  if (!traced.trace.post_filter || traced.trace.post_filter->nominated.empty()) return {};
  return {true, std::move(traced.victims), traced.trace.post_filter->nominated};
}

// Above the priority of somebody who is in the way, ascending.
std::vector<std::int32_t> priorities_to_try(const UnplacedPod& unplaced) {
  std::set<std::int32_t> priorities;
  const auto look_at = [&](std::int32_t priority) {
    if (priority >= unplaced.pod()->priority() && priority < kHighestForUsers)
      priorities.insert(priority + 1);
  };
  unplaced.cluster().for_each_placed(
      [&](const Pod& pod, NodeRow, bool) { look_at(pod.priority()); });
  for (const Ref<const Pod>& pod : unplaced.evaluator().pending())
    if (!pod->nominated_node().empty()) look_at(pod->priority());
  return {priorities.begin(), priorities.end()};
}

}  // namespace

std::optional<Edit> raise_priority(const UnplacedPod& unplaced) {
  if (!unplaced.json() || unplaced.spec().preemption_policy == PreemptionPolicy::kNever)
    return std::nullopt;
  const std::vector<std::int32_t> priorities = priorities_to_try(unplaced);
  if (priorities.empty()) return std::nullopt;
  Preempted best = ask(unplaced, priorities.back());
  if (!best.succeeds) return std::nullopt;
  std::size_t low = 0, high = priorities.size() - 1;  // `high` succeeds
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    Preempted preempted = ask(unplaced, priorities[middle]);
    if (preempted.succeeds) {
      best = std::move(preempted);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const std::int32_t priority = priorities[high];
  if (ask(unplaced, priority - 1).succeeds) return std::nullopt;  // it need not be raised
  Edit edit = with_priority(unplaced, priority);
  edit.summary =
      fmt::format("give the pod priority {} instead of {}", priority, unplaced.pod()->priority());
  if (!best.victims.empty())
    edit.summary += fmt::format(", which evicts {} {} from node {}", best.victims.size(),
                                best.victims.size() == 1 ? "pod" : "pods", best.node);
  edit.by_preemption = !best.victims.empty();
  edit.cost = 4 + 2 * static_cast<double>(best.victims.size());
  edit.victims = std::move(best.victims);
  return edit;
}

NodeSet rows_for_preemption(const UnplacedPod& unplaced, const Ref<const Pod>& pod) {
  constexpr std::size_t kMostRows = 2'000;
  const NodeTable& nodes = unplaced.nodes();
  NodeSet rows(nodes.rows());
  PodsGone gone(unplaced.evaluator(), pod);
  std::size_t tried = 0;
  nodes.nodes().for_each([&](NodeRow row) {
    std::vector<Ref<const Pod>> lower;
    for (const Ref<const Pod>& other : nodes.pods(row))
      if (other->priority() < pod->priority()) lower.push_back(other);
    if (lower.empty() || ++tried > kMostRows) return;
    for (const Ref<const Pod>& other : lower) gone.remove(other, row);
    if (gone.fits(row)) rows.insert(row);
    gone.undo_to(0);
  });
  return rows;
}

}  // namespace berth::explain
