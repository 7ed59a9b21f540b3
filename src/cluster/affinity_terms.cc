#include "cluster/affinity_terms.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

Result<AffinityTerm> parse(const PodAffinityTerm& from, const Pod& pod) {
  AffinityTerm term;
  Result<Selector> selector = Selector::compile(from.label_selector, pod.symbols());
  if (!selector) return fail(std::move(selector).error());
  Result<Selector> namespaces = Selector::compile(from.namespace_selector, pod.symbols());
  if (!namespaces) return fail(std::move(namespaces).error());
  term.selector = *std::move(selector);
  term.namespace_selector = *std::move(namespaces);
  term.topology_key = from.topology_key;
  term.namespaces = from.namespaces;
  if (from.namespaces.empty() && !from.namespace_selector)
    term.namespaces = {pod.meta().namespace_name};
  std::ranges::sort(term.namespaces);
  const auto repeated = std::ranges::unique(term.namespaces);
  term.namespaces.erase(repeated.begin(), repeated.end());
  return term;
}

Result<AffinityTerm> parse(const WeightedPodAffinityTerm& from, const Pod& pod) {
  Result<AffinityTerm> term = parse(from.term, pod);
  if (term) term->weight = from.weight;
  return term;
}

template <typename Written>
Result<std::vector<AffinityTerm>> parse(const std::vector<Written>& list, const Pod& pod) {
  std::vector<AffinityTerm> terms;
  terms.reserve(list.size());
  for (const Written& from : list) {
    Result<AffinityTerm> term = parse(from, pod);
    if (!term) return fail(std::move(term).error());
    terms.push_back(*std::move(term));
  }
  return terms;
}

const PodAffinity* stanza(const Pod& pod, std::optional<PodAffinity> Affinity::* which) {
  const Affinity* affinity = pod.spec().affinity.get();
  return affinity && affinity->*which ? &*(affinity->*which) : nullptr;
}

Result<std::vector<AffinityTerm>> required_of(const Pod& pod,
                                              std::optional<PodAffinity> Affinity::* which) {
  const PodAffinity* affinity = stanza(pod, which);
  if (!affinity) return {};
  return parse(affinity->required, pod);
}

Result<std::vector<AffinityTerm>> preferred_of(const Pod& pod,
                                               std::optional<PodAffinity> Affinity::* which) {
  const PodAffinity* affinity = stanza(pod, which);
  if (!affinity) return {};
  return parse(affinity->preferred, pod);
}

}  // namespace

bool AffinityTerm::matches(const Pod& pod, const LabelSet& namespace_labels) const {
  return (std::ranges::binary_search(namespaces, pod.meta().namespace_name) ||
          namespace_selector.matches(namespace_labels, pod.symbols())) &&
         selector.matches(pod.labels(), pod.symbols());
}

Result<std::vector<AffinityTerm>> required_affinity_terms(const Pod& pod) {
  return required_of(pod, &Affinity::pod);
}

Result<std::vector<AffinityTerm>> required_anti_affinity_terms(const Pod& pod) {
  return required_of(pod, &Affinity::pod_anti);
}

AffinityTerms::AffinityTerms(const Pod& pod) {
  const auto take = [this](std::vector<AffinityTerm>& list, const char* name,
                           Result<std::vector<AffinityTerm>> parsed) {
    if (parsed)
      list = *std::move(parsed);
    else
      errors.push_back(std::string(name) + ": " + parsed.error().message);
  };
  if (!pod.spec().affinity) return;
  take(required, "requiredAffinityTerms", required_of(pod, &Affinity::pod));
  take(required_anti, "requiredAntiAffinityTerms", required_of(pod, &Affinity::pod_anti));
  take(preferred, "preferredAffinityTerms", preferred_of(pod, &Affinity::pod));
  take(preferred_anti, "preferredAntiAffinityTerms", preferred_of(pod, &Affinity::pod_anti));
}

}  // namespace berth
