#include "plugins/inter_pod_affinity/topology_counts.h"

#include <algorithm>

#include "plugins/arithmetic.h"

namespace berth::plugins {
namespace {

constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15ULL;
constexpr std::size_t kFewRows = 64;  // more are not looked through for a key

}  // namespace

void TopologyCounts::add_to(RowKeys& keys) const {
  for (const OfKey& key : keys_) {
    // Where every node is a domain, it is the number that nodes have in common, not the domain.
    if (key.column.unique)
      keys.add_numbers(
          {.version = key.version, .domains = key.column.domains, .by_domain = key.numbers});
    else
      keys.add_label(key.key);
  }
}

std::optional<std::size_t> TopologyCounts::find(Symbol key) const {
  if (keys_.size() <= kFewKeys) {
    const auto found = std::ranges::find(keys_, key, &OfKey::key);
    if (found != keys_.end()) return static_cast<std::size_t>(found - keys_.begin());
  } else if (const auto found = places_.find(key); found != places_.end()) {
    return found->second;
  }
  return std::nullopt;
}

bool TopologyCounts::can_do_without(Symbol key, const PodQuery& query,
                                    const Cluster& cluster) const {
  if (!has_many_keys() || find(key)) return false;
  const NodeSet& rows = cluster.pod_counts().count(query).rows;
  if (rows.count() > kFewRows) return false;
  bool any = false;
  rows.for_each([&](NodeRow row) {
    any |= cluster.nodes().has_node(row) && cluster.nodes().node(row).labels.contains(key);
  });
  return !any;
}

std::optional<std::size_t> TopologyCounts::place_of(Symbol key, const Cluster& cluster) {
  if (const std::optional<std::size_t> found = find(key)) return found;
  if (!cluster.nodes().any_node_has_label(key)) return std::nullopt;
  keys_.push_back({key, cluster.topology().column(key), {}, {}});
  for (std::size_t i = places_.size(); keys_.size() > kFewKeys && i < keys_.size(); ++i)
    places_.emplace(keys_[i].key, i);
  return keys_.size() - 1;
}

void TopologyCounts::make_own(OfKey& of_key) {
  if (!of_key.own.empty()) return;
  of_key.own.resize(of_key.column.size);
  std::ranges::copy(of_key.numbers, of_key.own.begin());
  of_key.numbers = of_key.own;
}

bool TopologyCounts::add(std::size_t place, NodeRow row, std::int64_t number) {
  OfKey& of_key = keys_[place];
  make_own(of_key);
  const Domain domain = of_key.domain(row);
  if (domain == kNoDomain) return false;
  std::int64_t& at = of_key.own[domain];
  others_than_zero_ -= at != 0;
  at = wrapping_add(at, number);
  others_than_zero_ += at != 0;
  return true;
}

void TopologyCounts::note(OfKey& of_key, std::uint64_t id, std::int64_t number) {
  of_key.version = (of_key.version ^ id ^ static_cast<std::uint64_t>(number) << 40) * kMix;
  of_key.version ^= of_key.version >> 29;
}

bool TopologyCounts::add(const AffinityPods::Match& match, std::int64_t number,
                         const Cluster& cluster) {
  if (has_many_keys() && !find(match.term.topology_key) &&
      !cluster.affinity_pods().may_be_at_key(match))
    return false;
  const std::optional<std::size_t> place = place_of(match.term.topology_key, cluster);
  if (!place) return false;
  if (const DomainSums* sums = cluster.affinity_pods().by_domain(match, keys_[*place].column))
    return add(*place, *sums, number);
  note(keys_[*place], match.id, number);
  make_own(keys_[*place]);
  bool any = false;
  cluster.affinity_pods().for_each_place(match, [&](NodeRow row, std::int64_t pods) {
    any |= add(*place, row, wrapping_mul(pods, number));
  });
  return any;
}

void TopologyCounts::add(std::size_t place, const PodCount& pods) {
  note(keys_[place], pods.version, 1);
  make_own(keys_[place]);
  pods.rows.for_each([&](NodeRow row) { add(place, row, pods.by_row[row]); });
}

bool TopologyCounts::add(std::size_t place, const DomainSums& pods, std::int64_t number) {
  OfKey& of_key = keys_[place];
  note(of_key, pods.id(), number);
  if (of_key.numbers.empty() && pods.is_kept() && (number == 1 || pods.others_than_zero() == 0)) {
    of_key.numbers = pods.by_domain();
    others_than_zero_ += pods.others_than_zero();
    return pods.others_than_zero() > 0;
  }
  make_own(of_key);
  if (pods.others_than_zero() == 0) return false;
  std::size_t before = 0, after = 0;
  for (std::size_t domain = 0; domain < of_key.own.size(); ++domain) {
    std::int64_t& at = of_key.own[domain];
    before += at != 0;
    at = wrapping_add(at, wrapping_mul(pods.by_domain()[domain], number));
    after += at != 0;
  }
  others_than_zero_ = others_than_zero_ - before + after;
  return true;
}

}  // namespace berth::plugins
