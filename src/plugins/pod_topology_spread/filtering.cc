// PodTopologySpread before and while nodes are filtered (plugins.md §14.4 to §14.6).
#include <fmt/format.h>

#include <utility>

#include "plugins/pod_topology_spread/domain_counts.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kSkewed, kKeyMissing };
constexpr std::string_view kReasons[] = {
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
};
constexpr const char* kNoState =
    "reading \"PreFilterPodTopologySpread\" from cycleState: not found";

// One hard constraint and how its domains stand.
struct Spread {
  SpreadConstraint constraint;
  std::span<const Domain> domains;  // by row
  NodeSet counted;                  // rows whose pods count
  DomainCounts counts;
  std::int64_t self = 0;  // 1 when the pod itself would count

  // How far above the emptiest domain a domain may be before the pod comes to it.
  std::int64_t limit() const {
    const bool too_few =
        static_cast<std::int64_t>(counts.size()) < std::int64_t{constraint.min_domains};
    const std::int64_t smallest = too_few ? 0 : counts.smallest();
    return constraint.max_skew + smallest - self;
  }
};

struct HardState {
  std::vector<Spread> spreads;
};

}  // namespace

std::span<const std::string_view> PodTopologySpread::reasons() const { return kReasons; }

PreFilterResult PodTopologySpread::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  const Cluster& cluster = cycle.cluster();
  Result<std::vector<SpreadConstraint>> hard =
      constraints(pod, UnsatisfiableAction::kDoNotSchedule);
  if (!hard)
    return Outcome::failure(fmt::format("get constraints from pod: {}", hard.error().message));
  if (hard->empty()) return Outcome::skip();

  const std::vector<TopologyColumn> columns = columns_of(*hard, cluster);
  const NodeSet complete = with_every_key(columns, cycle.nodes().nodes());
  const NodeInclusion inclusion(pod, cycle.nodes(), rules(cycle.symbols()));
  HardState state;
  state.spreads.reserve(hard->size());
  for (std::size_t i = 0; i < hard->size(); ++i) {
    SpreadConstraint& constraint = (*hard)[i];
    const std::span<const Domain> domains = columns[i].by_row;
    NodeSet counted = inclusion.rows(constraint, complete);
    DomainCounts counts(columns[i].size);
    counted.for_each([&](NodeRow row) { counts.enter(domains[row]); });
    const PodsByRow pods = constraint.counts(cluster, pod.meta().namespace_name);
    if (pods.rows)
      NodeSet::for_each_common(counted, *pods.rows,
                               [&](NodeRow row) { counts.add(domains[row], pods.by_row[row]); });
    counts.filled();
    const bool self = constraint.selector.matches(pod.labels(), pod.symbols());
    state.spreads.push_back(
        {std::move(constraint), domains, std::move(counted), std::move(counts), self ? 1 : 0});
  }
  cycle.put(*this, std::move(state));
  return Outcome::success();
}

Outcome PodTopologySpread::add_pod(Cycle& cycle, const Pod& pod, NodeRow row) const {
  return count(cycle, pod, row, 1);
}

Outcome PodTopologySpread::remove_pod(Cycle& cycle, const Pod& pod, NodeRow row) const {
  return count(cycle, pod, row, -1);
}

// Parity: here a selector for everything counts, and so do pods that are being deleted, though
// pre_filter left both out; taking such pods away makes counts negative.
Outcome PodTopologySpread::count(Cycle& cycle, const Pod& pod, NodeRow row, std::int32_t by) const {
  HardState* state = cycle.find<HardState>(*this);
  if (!state) return Outcome::failure(kNoState);
  if (pod.meta().namespace_name != cycle.pod().meta().namespace_name) return Outcome::success();
  for (Spread& spread : state->spreads)
    if (spread.counted.contains(row) &&
        spread.constraint.selector.matches(pod.labels(), pod.symbols()))
      spread.counts.change(spread.domains[row], by);
  return Outcome::success();
}

void PodTopologySpread::filter(const Cycle& cycle, FilterPass& pass) const {
  const HardState* state = cycle.find<HardState>(*this);
  if (!state) {
    pass.fail_all({kNoState});
    return;
  }
  for (const Spread& spread : state->spreads) {
    const std::int64_t limit = spread.limit();
    pass.feasible().for_each([&](NodeRow row) {
      const Domain domain = spread.domains[row];
      if (domain == kNoDomain)
        pass.reject(row, Code::kUnschedulableAndUnresolvable, kKeyMissing);
      else if (spread.counts.of(domain) > limit)
        pass.reject(row, Code::kUnschedulable, kSkewed);
    });
  }
}

}  // namespace berth::plugins
