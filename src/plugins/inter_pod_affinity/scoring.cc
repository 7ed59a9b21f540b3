// InterPodAffinity: which nodes it prefers.
#include <algorithm>
#include <limits>

#include "cluster/affinity_pods.h"
#include "plugins/arithmetic.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/topology_counts.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kNoScoreState =
    "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";

// What PreScore leaves for Score.
struct PreferredTerms {
  TopologyCounts scores;
  // Parity: a term that matched anything counts, also when the sum is 0.
  bool any = false;
};

// Parity: the sign is changed in 32 bits.
std::int64_t negative(std::int32_t weight) {
  return static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(weight));
}

bool prefers(const std::optional<PodAffinity>& stanza) {
  return stanza && !stanza->preferred.empty();
}

bool has_preferences(const PodSpec& spec) {
  return spec.affinity && (prefers(spec.affinity->pod) || prefers(spec.affinity->pod_anti));
}

void add_incoming(PreferredTerms& preferred, const IncomingTerm& term, std::int64_t weight,
                  const Cluster& cluster) {
  const PodQuery query{{term.pods}, true};
  if (preferred.scores.can_do_without(term.topology_key, query, cluster)) return;
  const std::optional<std::size_t> place = preferred.scores.place_of(term.topology_key, cluster);
  if (!place) return;
  preferred.any |= preferred.scores.add(
      *place,
      cluster.pod_counts().count(query, term.topology_key, preferred.scores.keys()[*place].column),
      weight);
}

void add_existing(PreferredTerms& preferred, const AffinityPods::Match& match, std::int64_t weight,
                  const Cluster& cluster) {
  preferred.any |= preferred.scores.add(match, weight, cluster);
}

}  // namespace

Outcome InterPodAffinity::pre_score(Cycle& cycle, const NodeSet&) const {
  // Which nodes are feasible does not matter, so that it may have been done before.
  if (const PreferredTerms* weighed = cycle.find<PreferredTerms>(*this))
    return weighed->any ? Outcome::success() : Outcome::skip();
  return weigh(cycle);
}

Outcome InterPodAffinity::weigh(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  const Cluster& cluster = cycle.cluster();
  const bool has_own = has_preferences(pod.spec());
  if (ignore_preferred_terms_of_existing_pods_ && !has_own) return Outcome::skip();
  namespaces_->begin_pod();
  PreferredTerms preferred;
  const NamespaceLabels namespace_labels(pod, cluster);
  for (const AffinityPods::Match& match :
       cluster.affinity_pods().other_terms(pod, *namespace_labels)) {
    switch (match.role) {
      case AffinityPods::Role::kRequired:
        if (hard_pod_affinity_weight_ > 0)
          add_existing(preferred, match, hard_pod_affinity_weight_, cluster);
        break;
      case AffinityPods::Role::kPreferred:
        add_existing(preferred, match, match.term.weight, cluster);
        break;
      case AffinityPods::Role::kPreferredAnti:
        add_existing(preferred, match, negative(match.term.weight), cluster);
        break;
      case AffinityPods::Role::kRequiredAnti: break;
    }
  }
  if (pod.spec().affinity) {
    const TermsOf terms(pod, cluster);
    if (!terms->errors.empty())
      return Outcome::failure("failed to parse pod: " + aggregate(terms->errors).message);
    for (const IncomingTerm& term : incoming_terms(terms->preferred, *namespaces_))
      add_incoming(preferred, term, term.weight, cluster);
    for (const IncomingTerm& term : incoming_terms(terms->preferred_anti, *namespaces_))
      add_incoming(preferred, term, negative(term.weight), cluster);
  }
  const bool any = preferred.any;
  cycle.put(*this, std::move(preferred));
  return any ? Outcome::success() : Outcome::skip();
}

bool InterPodAffinity::score_keys(Cycle& cycle, RowKeys& keys) const {
  if (weigh(cycle).code == Code::kError) return false;
  if (const PreferredTerms* weighed = cycle.find<PreferredTerms>(*this))
    if (weighed->any) weighed->scores.add_to(keys);
  return true;
}

Outcome InterPodAffinity::score(const Cycle& cycle, const NodeSet& feasible,
                                std::span<Score> by_row) const {
  const PreferredTerms* preferred = cycle.find<PreferredTerms>(*this);
  if (!preferred) return Outcome::failure(std::string(kNoScoreState));
  feasible.for_each([&](NodeRow row) { by_row[row] = 0; });
  for (const TopologyCounts::OfKey& key : preferred->scores.keys())
    key.column.domains.for_each_with_key(feasible, [&](NodeRow row, Domain domain) {
      by_row[row] = wrapping_add(by_row[row], key.numbers[domain]);
    });
  return Outcome::success();
}

Outcome InterPodAffinity::normalize(const Cycle& cycle, const NodeSet& feasible,
                                    std::span<Score> by_row) const {
  if (!cycle.find<PreferredTerms>(*this)) return Outcome::failure(std::string(kNoScoreState));
  Score lowest = std::numeric_limits<Score>::max();
  Score highest = std::numeric_limits<Score>::min();
  feasible.for_each([&](NodeRow row) {
    lowest = std::min(lowest, by_row[row]);
    highest = std::max(highest, by_row[row]);
  });
  const Score range = wrapping_sub(highest, lowest);
  feasible.for_each([&](NodeRow row) {
    if (range <= 0) {
      by_row[row] = 0;
      return;
    }
    // Parity: divided before it is multiplied, which does not always give what whole numbers would.
    const double part =
        static_cast<double>(wrapping_sub(by_row[row], lowest)) / static_cast<double>(range);
    by_row[row] = truncated(static_cast<double>(kMaxScore) * part);
  });
  return Outcome::success();
}

}  // namespace berth::plugins
