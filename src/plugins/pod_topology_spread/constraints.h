// Topology spread constraints as they are asked: checked, with defaults filled in, and the nodes
// whose pods count for them (plugins.md §14.2).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/node_selector.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/topology.h"
#include "berth/views.h"
#include "cluster/domain_sums.h"

namespace berth::plugins {

// Matching pods; empty and null when no pods are counted.
struct PodsByRow {
  std::span<const std::int32_t> by_row;
  const NodeSet* rows = nullptr;  // that have any
  std::uint64_t version = 0;      // of PodCount
  bool is_kept = true;            // else it is good until the next question only
};

struct SpreadConstraint {
  Symbol topology_key;
  std::int32_t max_skew = 1;
  std::int32_t min_domains = 1;
  Selector selector;
  bool honor_affinity = true;
  bool honor_taints = false;

  // The pods of the namespace that match, by row and by domain of the key, whose column it is;
  // null: no pods are counted. Valid for the cycle if they are kept (PodCounts).
  PodsByRow counts(const Cluster& cluster, Symbol namespace_name) const;
  const DomainSums* sums(const Cluster& cluster, Symbol namespace_name,
                         const TopologyColumn& column) const;
};

// Those of the action, in the order they are written. `match_label_keys`: the pod's own values of
// matchLabelKeys are part of the selector.
Result<std::vector<SpreadConstraint>> constraints_for(
    std::span<const TopologySpreadConstraint> written, UnsatisfiableAction action, const Pod& pod,
    bool match_label_keys);

// The constraints' columns, in their order. Valid for the cycle. Of many constraints as many as it
// takes to know that no node has every key: the others' keys do not matter then.
std::vector<TopologyColumn> columns_of(std::span<const SpreadConstraint> constraints,
                                       const Cluster& cluster);

// Whether every node has every key.
bool all_have_every_key(std::span<const TopologyColumn> columns, const NodeTable& nodes);

// The rows of `among` that have every key.
NodeSet with_every_key(std::span<const TopologyColumn> columns, const NodeSet& among);

// The rows of `among` that a constraint counts: all of which the pod's node affinity approves and
// whose taints it tolerates, as far as the constraint says so. A pod may have thousands of
// constraints: each row is judged once for all of them.
class NodeInclusion {
 public:
  NodeInclusion(const Pod& pod, const NodeTable& nodes, TolerationRules rules)
      : pod_(pod), nodes_(nodes), rules_(rules) {}

  NodeSet rows(const SpreadConstraint& constraint, const NodeSet& among);
  // Whether that is all of them, whatever they are.
  bool is_everywhere(const SpreadConstraint& constraint) const;

 private:
  struct Judged {
    NodeSet rows, approved;
  };
  // Keeps those of `rows` for which `approves` is true.
  template <typename Approves>
  static void keep_approved(NodeSet& rows, Judged& judged, Approves approves);

  const Pod& pod_;
  const NodeTable& nodes_;
  TolerationRules rules_;
  std::optional<RequiredNodeAffinity> affinity_;
  Judged by_affinity_, by_taints_;
};

}  // namespace berth::plugins
