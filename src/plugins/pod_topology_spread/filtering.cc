// PodTopologySpread before and while nodes are filtered (plugins.md §14.4 to §14.6).
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "plugins/obstacles.h"
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

  bool has_too_few_domains() const {
    return static_cast<std::int64_t>(counts.size()) < std::int64_t{constraint.min_domains};
  }
  std::int64_t smallest() const { return has_too_few_domains() ? 0 : counts.smallest(); }
  // How far above the emptiest domain a domain may be before the pod comes to it.
  std::int64_t limit() const { return constraint.max_skew + smallest() - self; }
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

// ---- obstacles

namespace {

// Where the hard constraint of this number is among the written ones.
std::size_t written_place(std::size_t number, std::span<const TopologySpreadConstraint> written) {
  for (std::size_t i = 0; i < written.size(); ++i)
    if (written[i].when_unsatisfiable == UnsatisfiableAction::kDoNotSchedule && number-- == 0)
      return i;
  return written.size();
}

// "constraint 0 (zone, maxSkew 1)", and the same as facts.
struct NamedConstraint {
  std::string key;
  std::string text;
  std::map<std::string, std::string> facts;
};

NamedConstraint named_constraint(const Spread& spread, std::size_t place, bool is_default,
                                 const Symbols& symbols) {
  const SpreadConstraint& constraint = spread.constraint;
  NamedConstraint named;
  named.key = symbols.text(constraint.topology_key);
  named.text = fmt::format("{}constraint {} ({}, maxSkew {})", is_default ? "default " : "", place,
                           named.key, constraint.max_skew);
  named.facts = {{"constraint", std::to_string(place)},
                 {"topologyKey", named.key},
                 {"maxSkew", std::to_string(constraint.max_skew)},
                 {"selector", selector_text(constraint.selector, symbols)}};
  if (is_default) named.facts["default"] = "true";
  return named;
}

Obstacle key_missing(NamedConstraint named) {
  return {.code = "TopologyKeyMissing",
          .reason = std::string(kReasons[kKeyMissing]),
          .subject = named.key,
          .text = fmt::format("{}: the node has no label {}", named.text, named.key),
          .facts = std::move(named.facts)};
}

Obstacle skewed(NamedConstraint named, const Spread& spread, Domain domain,
                const Symbols& symbols) {
  const std::int64_t count = spread.counts.of(domain), smallest = spread.smallest();
  const std::int64_t skew = count + spread.self - smallest;
  const std::string_view value = symbols.text(spread.column.values[domain]);
  Obstacle obstacle{.code = "SpreadSkewExceeded",
                    .reason = std::string(kReasons[kSkewed]),
                    .subject = named.key,
                    .text = {},
                    .facts = std::move(named.facts),
                    .distance = missing_part(count, spread.limit())};
  const std::string fewest =
      spread.has_too_few_domains()
          ? fmt::format("there are {} of at least {} domains, so that the fewest counts as 0",
                        spread.counts.size(), spread.constraint.min_domains)
          : fmt::format("the fewest is {}", smallest);
  obstacle.text = fmt::format("{}: {}={} has {} matching {}, {}: skew {}{}", named.text, named.key,
                              value, count, count == 1 ? "pod" : "pods", fewest, skew,
                              spread.self != 0 ? " with this pod" : "");
  obstacle.facts["value"] = value;
  obstacle.facts["matchingPods"] = std::to_string(count);
  obstacle.facts["fewest"] = std::to_string(smallest);
  obstacle.facts["skew"] = std::to_string(skew);
  if (spread.has_too_few_domains()) {
    obstacle.facts["domains"] = std::to_string(spread.counts.size());
    obstacle.facts["minDomains"] = std::to_string(spread.constraint.min_domains);
  }
  return obstacle;
}

}  // namespace

// The first constraint that the node does not meet decides about the verdict; of the others those
// that would give the same one are told as well.
std::vector<Obstacle> PodTopologySpread::obstacles(const Cycle& cycle, NodeRow row) const {
  const HardState* state = cycle.find<HardState>(*this);
  if (!state || row == kNoRow) return {};
  const std::vector<TopologySpreadConstraint>& own = cycle.pod().spec().topology_spread_constraints;
  const bool is_default = own.empty();
  std::vector<Obstacle> all;
  bool is_about_keys = false;
  for (std::size_t i = 0; i < state->spreads.size() && all.size() < kMostObstacles; ++i) {
    const Spread& spread = state->spreads[i];
    const Domain domain = spread.column.domains[row];
    const bool lacks_key = domain == kNoDomain;
    if (!lacks_key && spread.counts.of(domain) <= spread.limit()) continue;
    if (all.empty()) is_about_keys = lacks_key;
    if (is_about_keys != lacks_key) continue;
    NamedConstraint named =
        named_constraint(spread, written_place(i, is_default ? default_constraints_ : own),
                         is_default, cycle.symbols());
    all.push_back(lacks_key ? key_missing(std::move(named))
                            : skewed(std::move(named), spread, domain, cycle.symbols()));
  }
  return all;
}

// ---- Filter

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
