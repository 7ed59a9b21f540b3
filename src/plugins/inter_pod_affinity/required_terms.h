// The required terms of a pod, and those of other pods against it, with what they count: what
// InterPodAffinity's PreFilter leaves for Filter and for obstacles. For the plugin's own files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/affinity_pods.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/inter_pod_affinity/topology_counts.h"

namespace berth::plugins {

// Indices into the plugin's reasons.
enum AffinityReason : std::uint8_t { kAffinity, kAntiAffinity, kExistingAntiAffinity };

// What PreFilter leaves for Filter, and what trials edit.
struct RequiredTerms {
  std::vector<IncomingTerm> affinity;
  std::vector<IncomingTerm> anti_affinity;
  NamespaceLabels namespace_labels;
  // How many pods match, by the keys of the terms that they match: all of `affinity` at once, one
  // of `anti_affinity`, or, the other way round, pods whose own anti-affinity matches this pod.
  TopologyCounts near, avoided, avoiding;
  std::vector<AffinityPods::Match> avoiding_terms;  // that `avoiding` counts
  bool matches_itself = false;
  bool near_is_nowhere = false;  // no node has the keys of all terms of `affinity`
};

// The three questions about one row. The first yes decides.
class Judge {
 public:
  Judge(const RequiredTerms& required, const NodeTable& nodes)
      : required_(required),
        nodes_(nodes),
        // Parity: what counts is that nothing at all is near anything, also when matching pods are
        // there but on nodes without the keys.
        is_first_(required.near.empty() && required.matches_itself),
        has_avoided_(!required.avoided.empty()),
        has_avoiding_(!required.avoiding.empty()) {}

  bool lacks_affinity(NodeRow row) const {
    if (required_.near_is_nowhere) return true;
    bool is_missing = false;
    for (const TopologyCounts::OfKey& key : required_.near.keys()) {
      const Domain domain = key.domain(row);
      if (domain == kNoDomain) return true;
      is_missing |= key.numbers[domain] <= 0;
    }
    return is_missing && !is_first_;
  }
  // Whether the pod may be the first of those that it wants to be near.
  bool is_first() const { return is_first_; }
  bool is_avoided(NodeRow row) const { return has_avoided_ && is_near(required_.avoided, row); }
  bool avoids(NodeRow row) const { return has_avoiding_ && is_near(required_.avoiding, row); }

 private:
  bool is_near(const TopologyCounts& counts, NodeRow row) const {
    if (!counts.has_many_keys())
      return std::ranges::any_of(counts.keys(), [row](const auto& key) { return key.at(row) > 0; });
    return std::ranges::any_of(nodes_.node(row).labels, [&](const Label& label) {
      const std::optional<std::size_t> place = counts.find(label.key);
      return place && counts.keys()[*place].at(row) > 0;
    });
  }

  const RequiredTerms& required_;
  const NodeTable& nodes_;
  bool is_first_;
  bool has_avoided_;
  bool has_avoiding_;
};

}  // namespace berth::plugins
