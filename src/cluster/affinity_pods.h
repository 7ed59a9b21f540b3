// AffinityPods: the pods on nodes that have pod affinity or anti-affinity, by kind: pods of one
// namespace with one spec have the same terms, so a term is looked at once per kind and not once
// per pod. Which kinds can match an incoming pod is found by its labels.
//
// Part of Cluster; asked by plugins that honour the terms of existing pods. Brought up to date from
// the log of changed rows whenever it is asked; the edits of a Trial never show, and what was not
// asked for since the cluster last changed is not to be asked for under one. World thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/affinity_terms.h"
#include "cluster/node_table.h"

namespace berth {

class AffinityPods {
 public:
  // How many pods of a kind a row has.
  struct Place {
    NodeRow row;
    std::int32_t pods;

    friend auto operator<=>(const Place&, const Place&) = default;
  };

  enum class Role : std::uint8_t { kRequired, kRequiredAnti, kPreferred, kPreferredAnti };

  // A term of placed pods that matches an incoming one, and where these pods are. Only rows with a
  // node object are there.
  struct Match {
    const AffinityTerm& term;
    Role role;
    std::span<const Place> places;
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

  // The terms of pods like this one if such pods are placed, else null. Does not look for changes.
  const AffinityTerms* known_terms(const Pod& pod) const;

  std::size_t kinds();

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace berth
