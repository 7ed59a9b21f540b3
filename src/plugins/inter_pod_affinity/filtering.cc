// InterPodAffinity: how it is made, and which nodes it rejects.
#include <algorithm>

#include "cluster/affinity_pods.h"
#include "plugins/arguments.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/required_terms.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kReasons[] = {  // by AffinityReason
    "node(s) didn't match pod affinity rules", "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules"};
constexpr std::size_t kKeysAtOnce = TopologyCounts::kManyKeys;  // who has all of them is asked then
constexpr std::string_view kNoState =
    "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";

// The terms with one of the two counts, a term being counted at its own key. False when no node has
// that.
bool count_term(TopologyCounts& counts, const IncomingTerm& term, const PodQuery& query,
                const Cluster& cluster) {
  const std::optional<std::size_t> place = counts.place_of(term.topology_key, cluster);
  if (!place) return false;
  counts.add(*place,
             cluster.pod_counts().count(query, term.topology_key, counts.keys()[*place].column), 1);
  return true;
}

bool count_term(TopologyCounts& counts, const IncomingTerm& term, const PodCount& pods,
                const Cluster& cluster) {
  const std::optional<std::size_t> place = counts.place_of(term.topology_key, cluster);
  if (place) counts.add(*place, pods);
  return place.has_value();
}

// As many terms as it takes to know that no node has the keys of all: then the others do not
// matter.
void count_affinity(RequiredTerms& required, const Cluster& cluster) {
  PodQuery query{{}, true};
  for (const IncomingTerm& term : required.affinity) query.terms.push_back(term.pods);
  // A query of many terms is long, and not asked again for each of them.
  const bool has_many_terms = required.affinity.size() > kKeysAtOnce;
  std::optional<PodCount> pods;
  NodeSet rows;
  std::size_t looked_at = 0;  // of the keys
  // Parity: a pod counts once per term, so that two terms of one key count it twice there.
  for (const IncomingTerm& term : required.affinity) {
    if (has_many_terms && !pods && cluster.nodes().any_node_has_label(term.topology_key))
      pods.emplace(cluster.pod_counts().count(query));
    required.near_is_nowhere |= !(pods ? count_term(required.near, term, *pods, cluster)
                                       : count_term(required.near, term, query, cluster));
    if (required.near_is_nowhere) return;
    const std::span<const TopologyCounts::OfKey> keys = required.near.keys();
    if (keys.size() < looked_at + kKeysAtOnce) continue;
    if (looked_at == 0) rows = cluster.nodes().nodes();
    for (const TopologyCounts::OfKey& key : keys.subspan(looked_at))
      key.column.domains.keep_with_key(rows);
    looked_at = keys.size();
    required.near_is_nowhere = rows.empty();
    if (required.near_is_nowhere) return;
  }
}

void count_incoming_terms(RequiredTerms& required, const Cluster& cluster) {
  if (!required.affinity.empty()) count_affinity(required, cluster);
  for (const IncomingTerm& term : required.anti_affinity) {
    const PodQuery query{{term.pods}, true};
    if (!required.avoided.can_do_without(term.topology_key, query, cluster))
      count_term(required.avoided, term, query, cluster);
  }
}

}  // namespace

InterPodAffinity::InterPodAffinity(const config::InterPodAffinityArgs& args, const Cluster& cluster)
    : hard_pod_affinity_weight_(args.hard_pod_affinity_weight),
      ignore_preferred_terms_of_existing_pods_(args.ignore_preferred_terms_of_existing_pods),
      namespaces_(std::make_unique<SelectedNamespaces>(cluster)),
      hint_terms_(std::make_unique<HintTerms>()) {}

Result<std::unique_ptr<Plugin>> InterPodAffinity::create(const config::PluginArgs& arguments,
                                                         const Handle& handle) {
  Result<config::InterPodAffinityArgs> args =
      typed_arguments<config::InterPodAffinityArgs>(arguments, "InterPodAffinityArgs");
  if (!args) return fail(std::move(args).error());
  return std::make_unique<InterPodAffinity>(*args, handle.cluster);
}

std::span<const std::string_view> InterPodAffinity::reasons() const { return kReasons; }

PreFilterResult InterPodAffinity::pre_filter(Cycle& cycle) const {
  hint_terms_->begin_cycle();
  const Pod& pod = cycle.pod();
  const Cluster& cluster = cycle.cluster();
  NamespaceLabels namespace_labels(pod, cluster);
  std::vector<AffinityPods::Match> avoiding =
      cluster.affinity_pods().required_anti_affinity(pod, *namespace_labels);
  if (avoiding.empty() && !pod.spec().affinity) return PreFilterResult::skip();
  namespaces_->begin_pod();
  RequiredTerms required{{}, {}, std::move(namespace_labels), {}, {}, {}, {}};
  for (const AffinityPods::Match& match : avoiding) required.avoiding.add(match, 1, cluster);
  required.avoiding_terms = std::move(avoiding);
  if (pod.spec().affinity) {
    const TermsOf terms(pod, cluster);
    if (!terms->errors.empty())
      return Outcome::of(Code::kUnschedulableAndUnresolvable, parsing_error(*terms));
    required.affinity = incoming_terms(terms->required, *namespaces_);
    required.anti_affinity = incoming_terms(terms->required_anti, *namespaces_);
  }
  if (required.affinity.empty() && required.anti_affinity.empty() && required.avoiding.empty())
    return PreFilterResult::skip();
  required.matches_itself = matches_all(required.affinity, pod);
  count_incoming_terms(required, cluster);
  cycle.put(*this, std::move(required));
  return PreFilterResult::success();
}

// ---- trials -------------------------------------------------------------------------------------

Outcome InterPodAffinity::add_pod(Cycle& cycle, const Pod& pod, NodeRow row) const {
  return count_pod(cycle, pod, row, 1);
}

Outcome InterPodAffinity::remove_pod(Cycle& cycle, const Pod& pod, NodeRow row) const {
  return count_pod(cycle, pod, row, -1);
}

Outcome InterPodAffinity::count_pod(Cycle& cycle, const Pod& pod, NodeRow row,
                                    std::int64_t change) const {
  RequiredTerms* required = cycle.find<RequiredTerms>(*this);
  if (!required) return Outcome::failure(std::string(kNoState));
  const Cluster& cluster = cycle.cluster();
  const LabelSet& labels = cluster.nodes().node(row).labels;
  const auto count = [&](TopologyCounts& counts, Symbol key) {
    if (!labels.contains(key)) return;
    if (const std::optional<std::size_t> place = counts.place_of(key, cluster))
      counts.add(*place, row, change);
  };
  if (pod.spec().affinity && pod.spec().affinity->pod_anti) {
    const TermsOf terms(pod, cluster);
    for (const AffinityTerm& term : terms->required_anti)
      if (term.matches(cycle.pod(), *required->namespace_labels))
        count(required->avoiding, term.topology_key);
  }
  if (!required->near_is_nowhere && matches_all(required->affinity, pod))
    for (const IncomingTerm& term : required->affinity) count(required->near, term.topology_key);
  for (const IncomingTerm& term : required->anti_affinity)
    if (term.pods.matches(pod)) count(required->avoided, term.topology_key);
  return Outcome::success();
}

bool InterPodAffinity::filter_keys(const Cycle& cycle, RowKeys& keys) const {
  const RequiredTerms* required = cycle.find<RequiredTerms>(*this);
  if (!required) return false;
  for (const TopologyCounts* counts : {&required->near, &required->avoided, &required->avoiding})
    counts->add_to(keys);
  return true;
}

// ---- Filter -------------------------------------------------------------------------------------

void InterPodAffinity::filter(const Cycle& cycle, FilterPass& pass) const {
  const RequiredTerms* required = cycle.find<RequiredTerms>(*this);
  if (!required) {
    pass.fail_all({std::string(kNoState)});
    return;
  }
  const Judge judge(*required, cycle.nodes());
  pass.feasible().for_each([&](NodeRow row) {
    if (judge.lacks_affinity(row))
      pass.reject(row, Code::kUnschedulableAndUnresolvable, kAffinity);
    else if (judge.is_avoided(row))
      pass.reject(row, Code::kUnschedulable, kAntiAffinity);
    else if (judge.avoids(row))
      pass.reject(row, Code::kUnschedulable, kExistingAntiAffinity);
  });
}

}  // namespace berth::plugins
