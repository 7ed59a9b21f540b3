#include "plugins/inter_pod_affinity/terms.h"

#include <algorithm>

#include "base/hash_pointers.h"
#include "cluster/affinity_pods.h"
#include "cluster/selector_hash.h"

namespace berth::plugins {
namespace {

const LabelSet kNoLabels;

const LabelSet& labels_of(const Object* object) {
  const auto* found = dynamic_cast<const Namespace*>(object);
  return found ? found->labels : kNoLabels;
}

}  // namespace

// ---- namespaces ---------------------------------------------------------------------------------

void SelectedNamespaces::begin_pod() {
  const std::uint64_t generation = cluster_.generation(ObjectKind::kNamespace);
  if (generation == generation_ && known_.size() <= kMaxSelectors) return;
  generation_ = generation;
  known_.clear();
  names_ = SymbolHold(cluster_.symbol_table());
}

const std::vector<Symbol>& SelectedNamespaces::of(const Selector& selector) {
  KeyedHash hash;
  add_selector(hash, selector);
  for (auto [at, end] = known_.equal_range(hash.value()); at != end; ++at)
    if (at->second.selector == selector) return at->second.namespaces;
  Known& made = known_.emplace(hash.value(), Known{selector, {}})->second;
  for (const Requirement& requirement : selector.requirements()) {
    names_.retain(requirement.key);
    for (const Symbol value : requirement.values) names_.retain(value);
  }
  std::vector<Symbol>& namespaces = made.namespaces;
  for (const Ref<const Object>& object : cluster_.list(ObjectKind::kNamespace))
    if (selector.matches(labels_of(object.get()), cluster_.symbols()))
      namespaces.push_back(names_.intern(object->name));
  std::ranges::sort(namespaces);
  return namespaces;
}

NamespaceLabels::NamespaceLabels(const Pod& pod, const Cluster& cluster)
    : namespace_(cluster.find(ObjectKind::kNamespace, {}, pod.namespace_name())) {}

const LabelSet& NamespaceLabels::operator*() const { return labels_of(namespace_.get()); }

// ---- terms --------------------------------------------------------------------------------------

std::vector<IncomingTerm> incoming_terms(std::span<const AffinityTerm> terms,
                                         SelectedNamespaces& namespaces) {
  std::vector<IncomingTerm> incoming;
  incoming.reserve(terms.size());
  for (const AffinityTerm& term : terms) {
    IncomingTerm& made = incoming.emplace_back();
    made.topology_key = term.topology_key;
    made.weight = term.weight;
    made.pods.selector = term.selector;
    made.pods.all_namespaces = term.namespace_selector.is_empty();
    if (made.pods.all_namespaces) continue;
    made.pods.namespaces = term.namespaces;
    if (term.namespace_selector.is_nothing()) continue;
    const std::vector<Symbol>& chosen = namespaces.of(term.namespace_selector);
    made.pods.namespaces.insert(made.pods.namespaces.end(), chosen.begin(), chosen.end());
    std::ranges::sort(made.pods.namespaces);
    const auto repeated = std::ranges::unique(made.pods.namespaces);
    made.pods.namespaces.erase(repeated.begin(), repeated.end());
  }
  return incoming;
}

bool matches_all(std::span<const IncomingTerm> terms, const Pod& pod) {
  return !terms.empty() && std::ranges::all_of(terms, [&](const IncomingTerm& term) {
    return term.pods.matches(pod);
  });
}

TermsOf::TermsOf(const Pod& pod, const Cluster& cluster)
    : known_(cluster.affinity_pods().known_terms(pod)) {
  if (!known_) made_.emplace(pod);
}

std::string parsing_error(const AffinityTerms& terms) {
  return "parsing pod: " + aggregate(terms.errors).message;
}

// ---- for hints ----------------------------------------------------------------------------------

std::size_t HintTerms::Terms::bytes() const {
  const std::size_t terms =
      (affinity ? affinity->size() : 0) + (anti_affinity ? anti_affinity->size() : 0);
  return sizeof(*this) + terms * (sizeof(AffinityTerm) + 128);  // roughly
}

void HintTerms::begin_cycle() {
  if (++cycles_ == kManyCycles) kept_ = KeptAnswers<Terms>(kMaxBytes);
}

const HintTerms::Terms& HintTerms::of(const Pod& pod) {
  cycles_ = 0;
  kept_.begin_cycle();
  const std::size_t hash = hash_pointers({&pod.spec(), &pod.meta()});
  if (const Terms* found = kept_.find(hash, [&](const Terms& known) {
        return known.spec.get() == &pod.spec() && known.meta.get() == &pod.meta();
      }))
    return *found;
  return kept_.insert(hash, std::make_unique<Terms>(Terms{
                                Ref<const PodSpec>(&pod.spec()), Ref<const PodMeta>(&pod.meta()),
                                required_affinity_terms(pod), required_anti_affinity_terms(pod)}));
}

}  // namespace berth::plugins
