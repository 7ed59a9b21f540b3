// The terms of the pod that is being scheduled, as InterPodAffinity asks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "api/kinds.h"
#include "berth/views.h"
#include "cluster/affinity_terms.h"
#include "cluster/kept_answers.h"
#include "cluster/pod_counts.h"

namespace berth::plugins {

struct IncomingTerm {
  PodTerm pods;
  Symbol topology_key;
  std::int32_t weight = 0;
};

// Which namespaces a selector chooses; kept until a namespace changes. World thread only.
class SelectedNamespaces {
 public:
  explicit SelectedNamespaces(const Cluster& cluster)
      : cluster_(cluster), names_(cluster.symbol_table()) {}

  // Drops what is stale or too much. Only between pods: their terms rely on the names being held.
  void begin_pod();
  const std::vector<Symbol>& of(const Selector& selector);

 private:
  static constexpr std::size_t kMaxSelectors = 256;
  struct Known {
    Selector selector;
    std::vector<Symbol> namespaces;
  };
  const Cluster& cluster_;
  std::uint64_t generation_ = 0;
  std::unordered_multimap<std::size_t, Known> known_;  // by a hash of the selector
  SymbolHold names_;                                   // of the selectors and the namespaces
};

// With the names of the namespaces that each term selects, as they are now.
std::vector<IncomingTerm> incoming_terms(std::span<const AffinityTerm> terms,
                                         SelectedNamespaces& namespaces);

// Whether the pod matches every one, and there is one.
bool matches_all(std::span<const IncomingTerm> terms, const Pod& pod);

// A pod's terms, from where they are known already or made on the spot.
class TermsOf {
 public:
  TermsOf(const Pod& pod, const Cluster& cluster);
  const AffinityTerms& operator*() const { return known_ ? *known_ : *made_; }
  const AffinityTerms* operator->() const { return &**this; }

 private:
  const AffinityTerms* known_;
  std::optional<AffinityTerms> made_;
};

// The sentence about terms that cannot be understood.
std::string parsing_error(const AffinityTerms& terms);

// The required terms of pods that wait, for hints: every event asks for those of every class again.
// World thread only.
class HintTerms {
 public:
  struct Terms {
    Ref<const PodSpec> spec;
    Ref<const PodMeta> meta;
    Result<std::vector<AffinityTerm>> affinity;
    Result<std::vector<AffinityTerm>> anti_affinity;

    std::size_t bytes() const;
  };

  // Good until the next call.
  const Terms& of(const Pod& pod);
  // Drops what was not used during many cycles.
  void begin_cycle();

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  static constexpr std::size_t kManyCycles = 1024;
  KeptAnswers<Terms> kept_{kMaxBytes};
  std::size_t cycles_ = 0;  // since it was used
};

// The labels of a pod's namespace; empty if it is not known.
class NamespaceLabels {
 public:
  NamespaceLabels(const Pod& pod, const Cluster& cluster);
  const LabelSet& operator*() const;

 private:
  Ref<const Object> namespace_;
};

}  // namespace berth::plugins
