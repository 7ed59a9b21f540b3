// InterPodAffinity: which term keeps a pod off a node, and which pod.
#include "plugins/obstacles.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/required_terms.h"

namespace berth::plugins {
namespace {

// Where the pods of a term are on more rows than this, only those of the row at hand are looked at
// for a name.
constexpr std::size_t kFewPlaces = 64;

// "app=db", with the namespaces if these are not the pod's own alone.
std::string pods_text(const Selector& selector, bool all_namespaces,
                      const std::vector<Symbol>& namespaces, const Pod& pod) {
  const Symbols& symbols = pod.symbols();
  const std::string selected = selector_text(selector, symbols);
  if (all_namespaces) return selected + " of all namespaces";
  if (namespaces.size() == 1 && namespaces.front() == pod.meta().namespace_name) return selected;
  std::vector<std::string_view> names;
  for (const Symbol name : namespaces) names.push_back(symbols.text(name));
  std::ranges::sort(names);
  return fmt::format("{} of namespaces {}", selected, fmt::join(names, ", "));
}

// The obstacles of one row.
class AffinityObstacles {
 public:
  AffinityObstacles(const Cycle& cycle, const RequiredTerms& required,
                    std::span<const std::string_view> reasons, NodeRow row)
      : cycle_(cycle),
        cluster_(cycle.cluster()),
        symbols_(cycle.symbols()),
        required_(required),
        reasons_(reasons),
        row_(row),
        labels_(cycle.nodes().node(row).labels) {}

  void add_affinity(const Judge& judge) {
    for (std::size_t i = 0; i < required_.affinity.size() && !is_full(); ++i) {
      const IncomingTerm& term = required_.affinity[i];
      const bool has_key = labels_.contains(term.topology_key);
      if (has_key && (required_.near_is_nowhere || judge.is_first() || has_near(term))) continue;
      Obstacle& obstacle = add(kAffinity, i, term);
      obstacle.code = has_key ? "PodAffinityUnmatched" : "PodAffinityKeyMissing";
      obstacle.text += !has_key ? "the node has " + place_of(term.topology_key)
                       : required_.near.empty()
                           ? "no matching pod in any domain"
                           : "no matching pod in " + place_of(term.topology_key);
    }
  }

  void add_anti_affinity() {
    for (std::size_t i = 0; i < required_.anti_affinity.size() && !is_full(); ++i) {
      const IncomingTerm& term = required_.anti_affinity[i];
      const PodQuery query{{term.pods}, true};
      const std::int64_t pods = pods_near(term, query);
      if (pods <= 0) continue;
      const Pod* one = pod_near(term, query);
      Obstacle& obstacle = add(kAntiAffinity, i, term);
      obstacle.code = "PodAntiAffinityViolated";
      obstacle.text += fmt::format("{} has {} matching {}", place_of(term.topology_key), pods,
                                   pods == 1 ? "pod" : "pods");
      obstacle.facts["matchingPods"] = std::to_string(pods);
      name_pod(obstacle, one, pods);
    }
  }

  void add_existing_anti_affinity() {
    for (const AffinityPods::Match& match : required_.avoiding_terms) {
      if (is_full()) return;
      const Avoiding avoiding = avoiding_near(match);
      if (avoiding.pods <= 0) continue;
      const std::string key(symbols_.text(match.term.topology_key));
      const std::string pods = selector_text(match.term.selector, symbols_);
      Obstacle& obstacle = all_.emplace_back();
      obstacle.code = "ExistingPodAntiAffinityViolated";
      obstacle.reason = reasons_[kExistingAntiAffinity];
      obstacle.subject = fmt::format("{} in {}", pods, key);
      obstacle.text = fmt::format("{} {} {} out of {}", avoiding.pods,
                                  avoiding.pods == 1 ? "pod keeps" : "pods keep", pods,
                                  place_of(match.term.topology_key));
      obstacle.facts = {{"topologyKey", key},
                        {"selector", pods},
                        {"place", place_of(match.term.topology_key)},
                        {"avoidingPods", std::to_string(avoiding.pods)}};
      name_pod(obstacle, avoiding.one, avoiding.pods);
    }
  }

  std::vector<Obstacle> take() && { return std::move(all_); }

 private:
  struct Avoiding {
    std::int64_t pods = 0;
    const Pod* one = nullptr;  // if it was cheap to find
  };

  bool is_full() const { return all_.size() == kMostObstacles; }
  std::string place_of(Symbol key) const { return label_text(key, labels_, symbols_); }

  // One that begins with its term, "term 0 (app=db in zone): ".
  Obstacle& add(AffinityReason reason, std::size_t number, const IncomingTerm& term) {
    const std::string key(symbols_.text(term.topology_key));
    const std::string pods =
        pods_text(term.pods.selector, term.pods.all_namespaces, term.pods.namespaces, cycle_.pod());
    Obstacle& obstacle = all_.emplace_back();
    obstacle.reason = reasons_[reason];
    obstacle.subject = fmt::format("{} in {}", pods, key);
    obstacle.text = fmt::format("term {} ({}): ", number, obstacle.subject);
    obstacle.facts = {{"term", std::to_string(number)},
                      {"topologyKey", key},
                      {"selector", pods},
                      {"place", place_of(term.topology_key)}};
    return obstacle;
  }

  void name_pod(Obstacle& obstacle, const Pod* one, std::int64_t of) {
    if (!one) return;
    obstacle.facts["pod"] = one->full_name();
    obstacle.text += fmt::format(" ({}{})", of == 1 ? "" : "one is ", one->full_name());
  }

  bool has_near(const IncomingTerm& term) const {
    const std::optional<std::size_t> place = required_.near.find(term.topology_key);
    return place && required_.near.keys()[*place].at(row_) > 0;
  }

  std::int64_t pods_near(const IncomingTerm& term, const PodQuery& query) const {
    const std::optional<std::size_t> place = required_.avoided.find(term.topology_key);
    if (!place) return 0;
    const TopologyColumn& column = required_.avoided.keys()[*place].column;
    const Domain domain = column.domains[row_];
    if (domain == kNoDomain) return 0;
    return cluster_.pod_counts().count(query, term.topology_key, column).by_domain()[domain];
  }

  const Pod* pod_near(const IncomingTerm& term, const PodQuery& query) const {
    const auto matching = [&](NodeRow row) -> const Pod* {
      for (const Ref<const Pod>& pod : cycle_.nodes().pods(row))
        if (query.matches(*pod)) return pod.get();
      return nullptr;
    };
    if (const Pod* here = matching(row_)) return here;
    const NodeSet& rows = cluster_.pod_counts().count(query).rows;
    if (rows.count() > kFewPlaces) return nullptr;
    const Pod* found = nullptr;
    rows.for_each([&](NodeRow row) {
      if (!found && is_same_domain(row, term.topology_key)) found = matching(row);
    });
    return found;
  }

  bool is_same_domain(NodeRow row, Symbol key) const {
    if (!cycle_.nodes().has_node(row)) return false;
    const Symbol* value = cycle_.nodes().node(row).labels.find(key);
    const Symbol* own = labels_.find(key);
    return value && own && *value == *own;
  }

  // The pods of a term of theirs that are in the row's domain.
  Avoiding avoiding_near(const AffinityPods::Match& match) const {
    const Symbol key = match.term.topology_key;
    const std::optional<std::size_t> place = required_.avoiding.find(key);
    if (!place) return {};
    const TopologyColumn& column = required_.avoiding.keys()[*place].column;
    const Domain domain = column.domains[row_];
    if (domain == kNoDomain) return {};
    if (const DomainSums* sums = cluster_.affinity_pods().by_domain(match, column)) {
      const std::int64_t pods = sums->by_domain()[domain];
      return {pods, pods > 0 ? owner_on(row_, match.term) : nullptr};
    }
    Avoiding avoiding;
    cluster_.affinity_pods().for_each_place(match, [&](NodeRow row, std::int64_t pods) {
      if (column.domains[row] != domain) return;
      avoiding.pods += pods;
      if (pods > 0 && (!avoiding.one || row == row_)) avoiding.one = owner_on(row, match.term);
    });
    return avoiding;
  }

  // The first pod on the row that has the term; null: there is none.
  const Pod* owner_on(NodeRow row, const AffinityTerm& term) const {
    for (const Ref<const Pod>& pod : cycle_.nodes().pods(row)) {
      if (!pod->spec().affinity || !pod->spec().affinity->pod_anti) continue;
      const TermsOf terms(*pod, cluster_);
      if (std::ranges::find(terms->required_anti, term) != terms->required_anti.end())
        return pod.get();
    }
    return nullptr;
  }

  const Cycle& cycle_;
  const Cluster& cluster_;
  const Symbols& symbols_;
  const RequiredTerms& required_;
  std::span<const std::string_view> reasons_;
  NodeRow row_;
  const LabelSet& labels_;
  std::vector<Obstacle> all_;
};

}  // namespace

std::vector<Obstacle> InterPodAffinity::obstacles(const Cycle& cycle, NodeRow row) const {
  if (row == kNoRow) {
    const TermsOf terms(cycle.pod(), cycle.cluster());
    if (terms->errors.empty()) return {};
    return {
        {.code = "InvalidPodAffinity",
         .reason = parsing_error(*terms),
         .subject = "podAffinity",
         .text = "the pod's affinity to other pods is invalid: " + aggregate(terms->errors).message,
         .facts = {}}};
  }
  const RequiredTerms* required = cycle.find<RequiredTerms>(*this);
  if (!required) return {};
  const Judge judge(*required, cycle.nodes());
  AffinityObstacles found(cycle, *required, reasons(), row);
  if (judge.lacks_affinity(row))
    found.add_affinity(judge);
  else if (judge.is_avoided(row))
    found.add_anti_affinity();
  else if (judge.avoids(row))
    found.add_existing_anti_affinity();
  return std::move(found).take();
}

}  // namespace berth::plugins
