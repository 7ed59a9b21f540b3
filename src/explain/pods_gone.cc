#include "explain/pods_gone.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "api/names.h"
#include "api/storage.h"
#include "base/stable_sort.h"
#include "explain/request_cuts.h"
#include "explain/volume_edits.h"

namespace berth::explain {
namespace {

std::int64_t size_of(const Pod& pod) {
  // A whole core weighs as much as 4 GiB.
  const Resources& requests = pod.usage().requests;
  return requests.milli_cpu * (std::int64_t{4} << 20) + requests.memory;
}

bool comes_back(const Pod& pod) {  // to the same node
  const std::string_view kind = pod.text(pod.meta().controller.kind);
  return kind == "DaemonSet" || kind == "Node";
}

// Who stays if somebody can: the more important, then the smaller, then the older.
bool stays_before(const Ref<const Pod>& a, const Ref<const Pod>& b) {
  if (a->priority() != b->priority()) return a->priority() > b->priority();
  if (comes_back(*a) != comes_back(*b)) return comes_back(*a);
  if (size_of(*a) != size_of(*b)) return size_of(*a) < size_of(*b);
  const auto since = [](const Pod& pod) {
    return pod.start_time() ? pod.start_time()->since_epoch : Duration::max();
  };
  if (since(*a) != since(*b)) return since(*a) < since(*b);
  return a->full_name() < b->full_name();
}

// Two to four for each pod below system-critical ones, by its priority.
double cost_of_pod(const Pod& pod) {
  constexpr double kHighest = 2e9;
  const double priority = std::max(0.0, static_cast<double>(pod.priority()));
  return (comes_back(pod) ? 6 : 2) + 2 * std::min(priority / kHighest, 1.0) +
         (priority >= kHighest ? 20 : 0);
}

std::vector<Ref<const Pod>> pods_on(const UnplacedPod& unplaced, NodeRow row) {
  const std::span<const Ref<const Pod>> pods = unplaced.nodes().pods(row);
  return {pods.begin(), pods.end()};
}

// Whether a term of `owner` is about `other`. Namespaces that are selected by label count as all.
bool is_about(const PodAffinityTerm& term, const Pod& owner, const Pod& other) {
  const bool in_namespace =
      term.namespace_selector ||
      (term.namespaces.empty() && owner.meta().namespace_name == other.meta().namespace_name) ||
      std::ranges::count(term.namespaces, other.meta().namespace_name) > 0;
  if (!in_namespace) return false;
  const Result<Selector> selector = Selector::compile(term.label_selector, owner.symbols());
  return selector && selector->matches(other.labels(), owner.symbols());
}

bool repels(const Pod& owner, const Pod& other) {
  if (!owner.spec().affinity || !owner.spec().affinity->pod_anti) return false;
  return std::ranges::any_of(
      owner.spec().affinity->pod_anti->required,
      [&](const PodAffinityTerm& term) { return is_about(term, owner, other); });
}

bool is_counted_with(const TopologySpreadConstraint& constraint, const Pod& pod, const Pod& other) {
  if (constraint.when_unsatisfiable != UnsatisfiableAction::kDoNotSchedule ||
      pod.meta().namespace_name != other.meta().namespace_name)
    return false;
  const Result<Selector> selector = Selector::compile(constraint.label_selector, pod.symbols());
  return selector && selector->matches(other.labels(), pod.symbols());
}

// Claims of the pod that one pod at a time may use.
std::vector<Symbol> exclusive_claims(const UnplacedPod& unplaced) {
  std::vector<Symbol> claims;
  for (const PodClaim& claim : claims_of(unplaced))
    if (claim.claim && claim.claim->access_modes.contains(AccessModes::kReadWriteOncePod))
      claims.push_back(unplaced.cluster().symbols().find(claim.name));
  return claims;
}

bool uses_any(const Pod& other, const Pod& pod, const std::vector<Symbol>& claims) {
  if (claims.empty() || other.meta().namespace_name != pod.meta().namespace_name) return false;
  return std::ranges::any_of(other.spec().volumes, [&](const Volume& volume) {
    return volume.source == VolumeSource::kPersistentVolumeClaim &&
           std::ranges::count(claims, volume.source_name) > 0;
  });
}

}  // namespace

Edit delete_pods(const UnplacedPod& unplaced, std::vector<Ref<const Pod>> pods) {
  constexpr std::size_t kNamed = 3;
  std::ranges::sort(pods, [](const auto& a, const auto& b) { return stays_before(b, a); });
  Edit edit;
  edit.code = "DeletePods";
  edit.cost = 10;
  std::string named;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    edit.cost += cost_of_pod(*pods[i]);
    if (i < kNamed) named += (i > 0 ? ", " : "") + pods[i]->full_name();
  }
  if (pods.size() > kNamed) named += fmt::format(" and {} more", pods.size() - kNamed);
  const std::string_view noun = pods.size() == 1 ? "pod" : "pods";
  const Pod& first = *pods.front();
  if (first.node().empty()) {
    edit.code = "DeleteNominatedPods";
    edit.summary = fmt::format("delete {} {}, nominated to node {}", noun, named,
                               unplaced.pod()->text(first.nominated_node()));
  } else {
    edit.summary =
        fmt::format("delete {} {} from node {}", noun, named, unplaced.pod()->text(first.node()));
  }
  edit.gone = std::move(pods);
  return edit;
}

Edits nominated_gone(const UnplacedPod& unplaced, std::size_t most_nodes) {
  Edits edits;
  const auto nominated = unplaced.evaluator().nominated_pods();
  if (nominated.empty()) return edits;
  unplaced.count_question();
  const NodeSet rows = unplaced.evaluator().feasible_without_nominations(unplaced.pod());
  for (const auto& [node, pods] : nominated) {
    const NodeRow row = unplaced.nodes().find(node);
    if (row == kNoRow || !rows.contains(row) || edits.size() == most_nodes) continue;
    std::vector<Ref<const Pod>> others;
    for (const Ref<const Pod>& other : pods)
      if (other->uid() != unplaced.pod()->uid() && other->priority() >= unplaced.pod()->priority())
        others.push_back(other);
    if (others.empty()) continue;
    const Edit all = delete_pods(unplaced, std::move(others));
    if (unplaced.fits(all)) edits.push_back(minimal_deletion(unplaced, {}, all));
  }
  return edits;
}

std::optional<Edit> pods_gone_from(const UnplacedPod& unplaced, PodsGone& gone, NodeRow row) {
  std::vector<Ref<const Pod>> pods = pods_on(unplaced, row);
  if (pods.empty()) return std::nullopt;
  const std::size_t none = gone.edits();
  for (const Ref<const Pod>& pod : pods) gone.remove(pod, row);
  if (!gone.fits(row)) {
    gone.undo_to(none);
    return std::nullopt;
  }
  // One by one they come back as long as the pod still fits.
  std::ranges::sort(pods, stays_before);
  std::vector<Ref<const Pod>> needed;
  for (const Ref<const Pod>& pod : pods) {
    const std::size_t before = gone.edits();
    gone.put_back(pod, row);
    if (gone.fits(row)) continue;
    gone.undo_to(before);
    needed.push_back(pod);
  }
  gone.undo_to(none);
  if (needed.empty()) return std::nullopt;  // it fits as it is
  return delete_pods(unplaced, std::move(needed));
}

std::optional<Edit> pods_gone(const UnplacedPod& unplaced, std::span<const Edit> others,
                              const std::vector<NodeRow>& rows) {
  constexpr std::size_t kMostRows = 60;
  const AppliedEdits applied(unplaced, others);
  if (!applied.ok() || rows.empty()) return std::nullopt;
  unplaced.count_question();
  PodsGone gone(unplaced.evaluator(), applied.pod());
  std::optional<Edit> cheapest;
  std::size_t tried = 0;
  for (const NodeRow row : rows) {
    if (++tried > kMostRows) break;
    std::optional<Edit> edit = pods_gone_from(unplaced, gone, row);
    if (edit && (!cheapest || edit->cost < cheapest->cost)) cheapest = std::move(edit);
  }
  return cheapest;
}

std::vector<ConflictingPods> conflicting_pods(const UnplacedPod& unplaced, std::size_t most_rows) {
  const Pod& pod = *unplaced.pod();
  const NodeTable& nodes = unplaced.nodes();
  const bool has_terms = pod.spec().affinity && pod.spec().affinity->pod_anti &&
                         !pod.spec().affinity->pod_anti->required.empty();
  const std::vector<Symbol> claims = exclusive_claims(unplaced);
  const auto& constraints = pod.spec().topology_spread_constraints;
  const bool all_rows = has_terms || !claims.empty() || !constraints.empty();
  std::vector<ConflictingPods> conflicting;
  const auto look_at = [&](NodeRow row) {
    ConflictingPods here{row, {}};
    for (const Ref<const Pod>& other : nodes.pods(row))
      if (repels(*other, pod) || repels(pod, *other) || uses_any(*other, pod, claims) ||
          std::ranges::any_of(constraints, [&](const TopologySpreadConstraint& constraint) {
            return is_counted_with(constraint, pod, *other);
          }))
        here.pods.push_back(other);
    if (!here.pods.empty()) conflicting.push_back(std::move(here));
  };
  (all_rows ? nodes.nodes() : nodes.with_required_anti_affinity_pods()).for_each([&](NodeRow row) {
    if (nodes.has_node(row)) look_at(row);
  });
  sort_stably(conflicting, {}, [](const auto& one) { return one.pods.size(); });
  if (conflicting.size() > most_rows) conflicting.resize(most_rows);
  return conflicting;
}

std::optional<Edit> conflicts_gone(const UnplacedPod& unplaced, std::span<const Edit> others,
                                   const ConflictingPods& conflicting) {
  Edits edits(others.begin(), others.end());
  edits.push_back(delete_pods(unplaced, conflicting.pods));
  if (!unplaced.fits(edits)) return std::nullopt;
  return minimal_deletion(unplaced, others, std::move(edits.back()));
}

Edit minimal_deletion(const UnplacedPod& unplaced, std::span<const Edit> others, Edit deletion) {
  const PodSpec& spec = unplaced.spec();
  const bool about_other_rows = deletion.gone.front()->node().empty() ||
                                !spec.topology_spread_constraints.empty() || spec.affinity ||
                                !spec.volumes.empty() ||
                                std::ranges::any_of(deletion.gone, [](const Ref<const Pod>& pod) {
                                  return pod->spec().affinity && pod->spec().affinity->pod_anti;
                                });
  if (!about_other_rows) return deletion;
  std::vector<Ref<const Pod>> stay_first = deletion.gone;
  std::ranges::sort(stay_first, stays_before);
  Edits edits(others.begin(), others.end());
  edits.push_back(deletion);
  for (const Ref<const Pod>& pod : stay_first) {
    if (deletion.gone.size() == 1 || !unplaced.may_ask()) break;
    std::vector<Ref<const Pod>> rest = deletion.gone;
    std::erase(rest, pod);
    edits.back() = delete_pods(unplaced, std::move(rest));
    if (unplaced.fits(edits)) deletion = edits.back();
  }
  return deletion;
}

std::vector<NodeRow> rows_by_pods_in_the_way(const UnplacedPod& unplaced, const NodeSet& rows) {
  const NodeTable& nodes = unplaced.nodes();
  struct Wanted {
    Symbol resource;
    std::int64_t total;
  };
  std::vector<Wanted> wanted;
  for (const Symbol resource : requested_resources(unplaced))
    wanted.push_back({resource, requested_total(unplaced, resource)});
  std::vector<std::tuple<double, std::size_t, NodeRow>> ranked;
  rows.for_each([&](NodeRow row) {
    const std::size_t pods = nodes.pods(row).size();
    if (pods == 0) return;
    double missing = 0;
    for (const auto& [resource, total] : wanted) {
      const std::int64_t lacks = total - free_amount(nodes, resource, row);
      if (lacks > 0) missing += static_cast<double>(lacks) / static_cast<double>(total);
      if (lacks > 0 && total > allocatable_amount(nodes, resource, row)) return;
    }
    ranked.emplace_back(missing, pods, row);
  });
  std::ranges::sort(ranked);
  std::vector<NodeRow> ordered;
  for (const auto& [missing, pods, row] : ranked) ordered.push_back(row);
  return ordered;
}

}  // namespace berth::explain
