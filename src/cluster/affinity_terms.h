// AffinityTerms: a pod's affinity and anti-affinity to other pods, checked and ready to be asked.
//
// Made once for each kind of placed pod (AffinityPods) and once for an incoming one. The symbols
// are held by the pod that the terms are from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/labels.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth {

// Pods of some namespaces whose labels match a selector, near in the sense of a topology key.
struct AffinityTerm {
  std::vector<Symbol> namespaces;  // sorted, each once
  Selector selector;
  Selector namespace_selector;  // nothing() when the term has none
  Symbol topology_key;
  std::int32_t weight = 0;  // of a preferred term

  // `namespace_labels` are those of the pod's namespace, as far as they are to count.
  bool matches(const Pod& pod, const LabelSet& namespace_labels) const;
  friend bool operator==(const AffinityTerm&, const AffinityTerm&) = default;
};

// One that cannot be understood makes an error of the whole list.
Result<std::vector<AffinityTerm>> required_affinity_terms(const Pod& pod);
Result<std::vector<AffinityTerm>> required_anti_affinity_terms(const Pod& pod);

struct AffinityTerms {
  explicit AffinityTerms(const Pod& pod);

  std::vector<AffinityTerm> required;
  std::vector<AffinityTerm> required_anti;
  std::vector<AffinityTerm> preferred;
  std::vector<AffinityTerm> preferred_anti;
  // "requiredAffinityTerms: …": why a list that should have terms is empty. Ignored for placed
  // pods.
  std::vector<std::string> errors;
};

}  // namespace berth
