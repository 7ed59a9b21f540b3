// PodTopologySpread while nodes are scored (plugins.md §14.7, §14.8).
#include <algorithm>
#include <limits>
#include <utility>

#include "api/names.h"
#include "plugins/arithmetic.h"
#include "plugins/pod_topology_spread/natural_log.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {
namespace {

constexpr const char* kNoScoreState =
    "error reading \"PreScorePodTopologySpread\" from cycleState: not found";
constexpr Score kIgnored = -1;

// What one soft constraint adds to a node's score: the more matching pods in its domain, the more.
struct Term {
  RowDomains domains;
  double weight = 0;
  double offset = 0;
  // Each node is a domain of its own: pods by row (empty: none anywhere).
  bool by_node = false;
  std::span<const std::int32_t> pods;
  std::vector<std::int32_t> own;  // `pods`, where they are not kept elsewhere
  // Otherwise: what the node's domain adds.
  std::vector<double> by_domain;

  double added(double count) const { return count * weight + offset; }
  // Nothing where a node does not have the key.
  double at(NodeRow row) const {
    const Domain domain = domains[row];
    if (domain == kNoDomain) return 0;
    if (!by_node) return by_domain[domain];
    return added(pods.empty() ? 0 : pods[row]);
  }
};

struct SoftState {
  NodeSet ignored;  // feasible rows without all the keys
  std::vector<Term> terms;
};

// In 32 bits, as upstream has it.
std::int32_t wrapping_decrement(std::int32_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) - 1);
}

// Half away from zero.
Score rounded(double value) {
  const std::int64_t whole = truncated(value);
  const double rest = value - static_cast<double>(whole);
  if (rest >= 0.5) return whole + 1;
  if (rest <= -0.5) return whole - 1;
  return whole;
}

// Parity: where keys may be missing, a node without the key is in the same domain as one that has
// it with an empty value.
class Slots {
 public:
  Slots(const TopologyColumn& column, bool all_keys) : column_(column), all_keys_(all_keys) {}

  Domain of_domain(Domain domain) const {
    return !all_keys_ && column_.values[domain].empty() ? kNoDomain : domain;
  }
  Domain of(NodeRow row) const { return of_domain(column_.domains[row]); }

 private:
  const TopologyColumn& column_;
  bool all_keys_;
};

// What the pods of each domain that a scored node is in add to its score.
class DomainWeights {
 public:
  DomainWeights(const TopologyColumn& column, const Slots& slots, const NodeSet& scored)
      : slots_(slots), counts_(column.size, kUnseen) {
    column.domains.for_each(scored,
                            [&](NodeRow, Domain domain) { counts_[slots.of_domain(domain)] = 0; });
    seen_ = column.size - static_cast<std::size_t>(std::ranges::count(counts_, kUnseen));
  }

  void add(Domain slot, std::int64_t pods) {
    if (counts_[slot] != kUnseen) counts_[slot] += pods;
  }
  void write_to(Term& term) const {
    term.weight = natural_log(static_cast<double>(seen_ + 2));
    term.by_domain.resize(counts_.size());
    for (Domain domain = 0; domain < counts_.size(); ++domain)
      term.by_domain[domain] = term.added(static_cast<double>(counts_[slots_.of_domain(domain)]));
  }

 private:
  static constexpr std::int64_t kUnseen = -1;
  const Slots& slots_;
  std::vector<std::int64_t> counts_;
  std::size_t seen_;
};

// From what is kept, when every node counts.
void weigh_domains(Term& term, const TopologyColumn& column, const Slots& slots,
                   const NodeSet& scored, const DomainSums* pods) {
  DomainWeights weights(column, slots, scored);
  if (pods) {
    weights.add(slots.of_domain(kNoDomain), pods->without_key());
    for (Domain domain = 1; domain < column.size; ++domain)
      weights.add(slots.of_domain(domain), pods->by_domain()[domain]);
  }
  weights.write_to(term);
}

void count_domains(Term& term, const TopologyColumn& column, const Slots& slots,
                   const NodeSet& scored, const PodsByRow& pods, const NodeSet& counted) {
  DomainWeights weights(column, slots, scored);
  counted.for_each([&](NodeRow row) { weights.add(slots.of(row), pods.by_row[row]); });
  weights.write_to(term);
}

}  // namespace

Outcome PodTopologySpread::pre_score(Cycle& cycle, const NodeSet& feasible) const {
  const Pod& pod = cycle.pod();
  const NodeTable& nodes = cycle.nodes();
  if (nodes.node_count() == 0) return Outcome::skip();
  Result<std::vector<SpreadConstraint>> soft =
      constraints(pod, UnsatisfiableAction::kScheduleAnyway);
  if (!soft) return Outcome::failure("calculating preScoreState: " + soft.error().message);
  if (soft->empty()) return Outcome::skip();

  // Parity: only the system's own defaults put up with nodes that lack a key.
  const bool all_keys = !pod.spec().topology_spread_constraints.empty() || !system_defaults_;
  const std::vector<TopologyColumn> columns = columns_of(*soft, cycle.cluster());
  const bool all_complete = !all_keys || all_have_every_key(columns, nodes);
  const NodeSet complete = all_complete ? nodes.nodes() : with_every_key(columns, nodes.nodes());
  NodeSet scored = feasible;
  scored &= complete;

  SoftState state;
  state.ignored = feasible;
  state.ignored -= scored;

  // Where no feasible node has every key, all are ignored: keys that no node has cost nothing.
  const std::size_t counted_constraints = scored.empty() ? 0 : soft->size();
  NodeInclusion inclusion(pod, nodes, rules(cycle.symbols()));
  for (std::size_t i = 0; i < counted_constraints; ++i) {
    const SpreadConstraint& constraint = (*soft)[i];
    Term& term = state.terms.emplace_back();
    term.domains = columns[i].domains;
    term.offset = static_cast<double>(wrapping_decrement(constraint.max_skew));
    term.by_node = constraint.topology_key == names::kHostname;
    if (term.by_node) {
      const PodsByRow pods = constraint.counts(cycle.cluster(), pod.meta().namespace_name);
      term.pods = pods.by_row;
      if (!pods.is_kept) {
        term.own.assign(pods.by_row.begin(), pods.by_row.end());
        term.pods = term.own;
      }
      term.weight = natural_log(static_cast<double>(scored.count() + 2));
      continue;
    }
    const Slots slots(columns[i], all_keys);
    if (all_complete && inclusion.is_everywhere(constraint)) {
      weigh_domains(term, columns[i], slots, scored,
                    constraint.sums(cycle.cluster(), pod.meta().namespace_name, columns[i]));
      continue;
    }
    const PodsByRow pods = constraint.counts(cycle.cluster(), pod.meta().namespace_name);
    NodeSet counted(nodes.rows());
    if (pods.rows) {
      counted = *pods.rows;
      counted &= complete;
      counted = inclusion.rows(constraint, counted);
    }
    count_domains(term, columns[i], slots, scored, pods, counted);
  }
  cycle.put(*this, std::move(state));
  return Outcome::success();
}

bool PodTopologySpread::score_keys(Cycle& cycle, RowKeys& keys) const {
  const Pod& pod = cycle.pod();
  const Result<std::vector<SpreadConstraint>> soft =
      constraints(pod, UnsatisfiableAction::kScheduleAnyway);
  if (!soft) return false;
  for (const SpreadConstraint& constraint : *soft) {
    if (!cycle.nodes().any_node_has_label(constraint.topology_key)) continue;
    if (constraint.topology_key != names::kHostname) {
      keys.add_label(constraint.topology_key);
      continue;
    }
    // It is the nodes' own pods that count, where the node has the key at all.
    const TopologyColumn column = cycle.cluster().topology().column(constraint.topology_key);
    if (column.nodes_with_key != cycle.nodes().node_count()) return false;
    const PodsByRow pods = constraint.counts(cycle.cluster(), pod.meta().namespace_name);
    if (!pods.is_kept) return false;
    if (pods.rows) keys.add_numbers({.version = pods.version, .by_row = pods.by_row});
  }
  return true;
}

Outcome PodTopologySpread::score(const Cycle& cycle, const NodeSet& feasible,
                                 std::span<Score> by_row) const {
  const SoftState* state = cycle.find<SoftState>(*this);
  if (!state) return Outcome::failure(kNoScoreState);
  const bool any_ignored = !state->ignored.empty();
  feasible.for_each([&](NodeRow row) {
    double sum = 0;
    if (!any_ignored || !state->ignored.contains(row))
      for (const Term& term : state->terms) sum += term.at(row);
    by_row[row] = rounded(sum);
  });
  return Outcome::success();
}

Outcome PodTopologySpread::normalize(const Cycle& cycle, const NodeSet& feasible,
                                     std::span<Score> by_row) const {
  const SoftState* state = cycle.find<SoftState>(*this);
  if (!state) return Outcome::failure(kNoScoreState);
  NodeSet::for_each_common(feasible, state->ignored, [&](NodeRow row) { by_row[row] = kIgnored; });
  Score lowest = std::numeric_limits<Score>::max(), highest = 0;
  feasible.for_each([&](NodeRow row) {
    if (state->ignored.contains(row)) return;
    lowest = std::min(lowest, by_row[row]);
    highest = std::max(highest, by_row[row]);
  });

  const Score both = wrapping_add(highest, lowest);
  // Numbers of this size divide exactly in floating point, which is several times faster.
  constexpr Score kExact = (Score{1} << 53) / (2 * kMaxScore);
  const bool exact = lowest >= 0 && highest < kExact;
  feasible.for_each([&](NodeRow row) {
    Score& score = by_row[row];
    // Parity: a node is known to be ignored by its score, so one that came to it honestly (an
    // absurd maxSkew does it) is taken for ignored too.
    if (score == kIgnored)
      score = 0;
    else if (highest == 0)
      score = kMaxScore;
    else if (exact)
      score = static_cast<Score>(static_cast<double>(kMaxScore * (both - score)) /
                                 static_cast<double>(highest));
    else
      score = wrapping_div(wrapping_mul(kMaxScore, wrapping_sub(both, score)), highest);
  });
  return Outcome::success();
}

}  // namespace berth::plugins
