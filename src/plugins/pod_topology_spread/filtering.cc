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
  TopologyColumn column;
  NodeSet counted;  // rows whose pods count
  DomainCounts counts;
  std::int64_t self = 0;      // 1 when the pod itself would count
  std::uint64_t version = 0;  // of what is counted

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

// From what is kept, when every node counts.
void fill(DomainCounts& counts, const TopologyColumn& column, const DomainSums* pods) {
  for (Domain domain = 1; domain < column.size; ++domain) {
    if (column.nodes[domain] == 0) continue;
    counts.enter(domain);
    if (pods) counts.add(domain, static_cast<std::int32_t>(pods->by_domain()[domain]));
  }
  counts.filled();
}

void fill(DomainCounts& counts, const RowDomains& domains, const NodeSet& counted,
          const PodsByRow& pods) {
  domains.for_each(counted, [&](NodeRow, Domain domain) { counts.enter(domain); });
  if (pods.rows)
    NodeSet::for_each_common(counted, *pods.rows,
                             [&](NodeRow row) { counts.add(domains[row], pods.by_row[row]); });
  counts.filled();
}

}  // namespace

std::span<const std::string_view> PodTopologySpread::reasons() const { return kReasons; }

PreFilterResult PodTopologySpread::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  const Cluster& cluster = cycle.cluster();
  Result<std::vector<SpreadConstraint>> hard =
      constraints(pod, UnsatisfiableAction::kDoNotSchedule);
  if (!hard)
    return Outcome::failure(fmt::format("get constraints from pod: {}", hard.error().message));
  if (hard->empty()) return PreFilterResult::skip();

  const std::vector<TopologyColumn> columns = columns_of(*hard, cluster);
  const bool all_complete = all_have_every_key(columns, cycle.nodes());
  const NodeSet complete =
      all_complete ? cycle.nodes().nodes() : with_every_key(columns, cycle.nodes().nodes());
  // If no node has every key, no pods are counted: keys that no node has cost nothing.
  const bool anywhere = all_complete || !complete.empty();
  NodeInclusion inclusion(pod, cycle.nodes(), rules(cycle.symbols()));
  HardState state;
  state.spreads.reserve(hard->size());
  // Where these are not all, every node is rejected for one of them.
  for (std::size_t i = 0; i < columns.size(); ++i) {
    SpreadConstraint& constraint = (*hard)[i];
    DomainCounts counts(columns[i].size);
    NodeSet counted;
    std::uint64_t version = 0;
    if (!anywhere) {
      counts.filled();
    } else if (all_complete && inclusion.is_everywhere(constraint)) {
      counted = complete;
      const DomainSums* sums = constraint.sums(cluster, pod.meta().namespace_name, columns[i]);
      fill(counts, columns[i], sums);
      version = sums ? sums->id() : 0;
    } else {
      counted = inclusion.rows(constraint, complete);
      const PodsByRow pods = constraint.counts(cluster, pod.meta().namespace_name);
      fill(counts, columns[i].domains, counted, pods);
      version = pods.version;
    }
    const bool self = constraint.selector.matches(pod.labels(), pod.symbols());
    state.spreads.push_back({std::move(constraint), columns[i], std::move(counted),
                             std::move(counts), self ? 1 : 0, version});
  }
  cycle.put(*this, std::move(state));
  return PreFilterResult::success();
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
      spread.counts.change(spread.column.domains[row], by);
  return Outcome::success();
}

bool PodTopologySpread::filter_keys(const Cycle& cycle, RowKeys& keys) const {
  const HardState* state = cycle.find<HardState>(*this);
  if (!state) return false;
  for (const Spread& spread : state->spreads) {
    if (spread.column.nodes_with_key == 0) continue;  // in that all nodes are alike
    // Where every node is a domain, it is the count that nodes have in common, not the domain.
    if (spread.column.unique)
      keys.add_numbers({.version = spread.version,
                        .domains = spread.column.domains,
                        .by_domain = spread.counts.numbers()});
    else
      keys.add_label(spread.constraint.topology_key);
  }
  return true;
}

void PodTopologySpread::filter(const Cycle& cycle, FilterPass& pass) const {
  const HardState* state = cycle.find<HardState>(*this);
  if (!state) {
    pass.fail_all({kNoState});
    return;
  }
  for (const Spread& spread : state->spreads) {
    if (pass.feasible().empty()) return;
    const std::int64_t limit = spread.limit();
    spread.column.domains.for_each(pass.feasible(), [&](NodeRow row, Domain domain) {
      if (domain == kNoDomain)
        pass.reject(row, Code::kUnschedulableAndUnresolvable, kKeyMissing);
      else if (spread.counts.of(domain) > limit)
        pass.reject(row, Code::kUnschedulable, kSkewed);
    });
  }
}

}  // namespace berth::plugins
