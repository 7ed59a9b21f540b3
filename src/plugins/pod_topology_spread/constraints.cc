#include "plugins/pod_topology_spread/constraints.h"

#include <algorithm>
#include <utility>

#include "cluster/pod_counts.h"
#include "plugins/required_node_affinity.h"

namespace berth::plugins {
namespace {

constexpr std::size_t kColumnsAtOnce = 64;  // after so many it is asked who has all these keys

// The pod's values of `keys`, and what the selector asks for. Keys that the pod lacks do not count.
Selector merged(Selector selector, const std::vector<Symbol>& keys, const LabelSet& labels) {
  if (selector.is_nothing()) return selector;
  const std::size_t written = selector.requirements().size();
  for (const Symbol key : keys) {
    const Symbol* value = labels.find(key);
    if (!value) continue;
    Requirement equal{key, SelectorOperator::kIn, {*value}, 0};
    // The API server has often merged them already. Those that are written are sorted by key.
    const auto same_key = std::ranges::equal_range(
        std::span(selector.requirements()).first(written), key, {}, &Requirement::key);
    if (std::ranges::find(same_key, equal) == same_key.end()) selector.add(std::move(equal));
  }
  return selector;
}

}  // namespace

Result<std::vector<SpreadConstraint>> constraints_for(
    std::span<const TopologySpreadConstraint> written, UnsatisfiableAction action, const Pod& pod,
    bool match_label_keys) {
  std::vector<SpreadConstraint> constraints;
  for (const TopologySpreadConstraint& one : written) {
    if (one.when_unsatisfiable != action) continue;
    Result<Selector> selector = Selector::compile(one.label_selector, pod.symbols());
    if (!selector) return fail(std::move(selector).error());
    if (match_label_keys)
      selector = merged(*std::move(selector), one.match_label_keys, pod.labels());
    constraints.push_back({one.topology_key, one.max_skew, one.min_domains.value_or(1),
                           *std::move(selector),
                           one.node_affinity_policy.value_or(NodeInclusionPolicy::kHonor) ==
                               NodeInclusionPolicy::kHonor,
                           one.node_taints_policy.value_or(NodeInclusionPolicy::kIgnore) ==
                               NodeInclusionPolicy::kHonor});
  }
  return constraints;
}

PodsByRow SpreadConstraint::counts(const Cluster& cluster, Symbol namespace_name) const {
  // Parity: a selector for everything counts nobody.
  if (selector.is_empty() || selector.is_nothing()) return {};
  const PodCount count = cluster.pod_counts().count({{{false, {namespace_name}, selector}}, false});
  return {count.by_row, &count.rows, count.version, count.is_kept};
}

const DomainSums* SpreadConstraint::sums(const Cluster& cluster, Symbol namespace_name,
                                         const TopologyColumn& column) const {
  if (selector.is_empty() || selector.is_nothing()) return nullptr;
  return &cluster.pod_counts().count({{{false, {namespace_name}, selector}}, false}, topology_key,
                                     column);
}

std::vector<TopologyColumn> columns_of(std::span<const SpreadConstraint> constraints,
                                       const Cluster& cluster) {
  std::vector<TopologyColumn> columns;
  NodeSet rows;
  for (const SpreadConstraint& constraint : constraints) {
    columns.push_back(cluster.topology().column(constraint.topology_key));
    if (columns.size() % kColumnsAtOnce != 0) continue;
    if (columns.size() == kColumnsAtOnce) rows = cluster.nodes().nodes();
    rows = with_every_key(std::span(columns).last(kColumnsAtOnce), rows);
    if (rows.empty()) break;
  }
  return columns;
}

bool all_have_every_key(std::span<const TopologyColumn> columns, const NodeTable& nodes) {
  return std::ranges::all_of(columns, [&](const TopologyColumn& column) {
    return column.nodes_with_key == nodes.node_count();
  });
}

NodeSet with_every_key(std::span<const TopologyColumn> columns, const NodeSet& among) {
  NodeSet rows = among;
  for (const TopologyColumn& column : columns) column.domains.keep_with_key(rows);
  return rows;
}

bool NodeInclusion::is_everywhere(const SpreadConstraint& constraint) const {
  const PodSpec& spec = pod_.spec();
  const bool selective = !spec.node_selector.empty() || (spec.affinity && spec.affinity->node);
  return !(constraint.honor_affinity && selective) &&
         !(constraint.honor_taints && !nodes_.tainted().empty());
}

template <typename Approves>
void NodeInclusion::keep_approved(NodeSet& rows, Judged& judged, Approves approves) {
  judged.rows.reserve_rows(rows.capacity());
  judged.approved.reserve_rows(rows.capacity());
  NodeSet others = rows;
  others -= judged.rows;
  others.for_each([&](NodeRow row) {
    judged.rows.insert(row);
    if (approves(row)) judged.approved.insert(row);
  });
  rows &= judged.approved;
}

NodeSet NodeInclusion::rows(const SpreadConstraint& constraint, const NodeSet& among) {
  NodeSet included = among;
  if (constraint.honor_affinity) {
    if (!affinity_) affinity_ = required_node_affinity(pod_);
    if (!affinity_->empty())
      keep_approved(included, by_affinity_, [&](NodeRow row) {
        return affinity_->matches(nodes_.node(row), rules_.symbols);
      });
  }
  if (constraint.honor_taints && !nodes_.tainted().empty())
    keep_approved(included, by_taints_, [&](NodeRow row) {
      return !find_untolerated(nodes_.node(row).taints, pod_.spec().tolerations, rules_);
    });
  return included;
}

}  // namespace berth::plugins
