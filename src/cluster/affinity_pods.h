// AffinityPods: the pods on nodes that have pod affinity or anti-affinity, by kind: pods of one
// namespace with one spec have the same terms, and equal terms of several kinds are one, so a term
// is looked at once and not once per pod. Which can match an incoming pod is found by its labels.
//
// Part of Cluster; asked by plugins that honour the terms of existing pods. Brought up to date from
// the log of changed rows whenever it is asked; the edits of a Trial never show, and what was not
// asked for since the cluster last changed is not to be asked for under one. World thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "berth/views.h"
#include "cluster/affinity_terms.h"
#include "cluster/domain_sums.h"

namespace berth {

class AffinityPods {
 public:
  enum class Role : std::uint8_t { kRequired, kRequiredAnti, kPreferred, kPreferredAnti };

  // A term of placed pods that matches an incoming one. by_domain() or for_each_place() give the
  // places of these pods.
  struct Match {
    const AffinityTerm& term;
    Role role;
    std::uint32_t number;
    std::uint64_t id;  // unique among all terms and sums
  };

  explicit AffinityPods(const NodeTable& nodes);
  ~AffinityPods();
  AffinityPods(const AffinityPods&) = delete;
  AffinityPods& operator=(const AffinityPods&) = delete;

  // The required anti-affinity terms that match the pod, and all the others that do. In no
  // particular order; valid until the cluster changes. `namespace_labels` are those of the pod's
  // namespace.
  std::vector<Match> required_anti_affinity(const Pod& incoming, const LabelSet& namespace_labels);
  std::vector<Match> other_terms(const Pod& incoming, const LabelSet& namespace_labels);

  // The pods of a match per domain of its topology key, whose column it is; null when they are so
  // few that visiting them is cheaper than keeping sums. Valid as the match is.
  const DomainSums* by_domain(const Match& match, const TopologyColumn& column);
  // Calls `visit(row, pods)` for the rows where pods of a match are, for a row perhaps repeatedly.
  void for_each_place(const Match& match,
                      const std::function<void(NodeRow, std::int64_t)>& visit) const;

  // False when no pod of the match is on a node that has the match's topology key. Where these pods
  // are many they are not looked at: true.
  bool may_be_at_key(const Match& match) const;

  // The terms of pods like this one if such pods are placed, else null. Does not look for changes.
  const AffinityTerms* known_terms(const Pod& pod) const;

  std::size_t kinds();
  // Bytes of the sums that are kept.
  std::size_t sum_bytes() const;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace berth
