#include "plugins/inter_pod_affinity/topology_counts.h"

#include <algorithm>

#include "plugins/arithmetic.h"

namespace berth::plugins {
namespace {

constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15ULL;

}  // namespace

void TopologyCounts::add_to(RowKeys& keys) const {
  for (const OfKey& key : keys_) {
    // Where every node is a domain, it is the number that nodes have in common, not the domain.
    if (key.column.unique)
      keys.add_numbers(
          {.version = key.version, .domains = key.column.by_row, .by_domain = key.numbers});
    else
      keys.add_label(key.key);
  }
}

std::size_t TopologyCounts::place_of(Symbol key, const Cluster& cluster) {
  const auto found = std::ranges::find(keys_, key, &OfKey::key);
  if (found != keys_.end()) return static_cast<std::size_t>(found - keys_.begin());
  keys_.push_back({key, cluster.topology().column(key), {}, {}});
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

bool TopologyCounts::add(std::size_t place, const DomainSums& pods, std::int64_t number) {
  OfKey& of_key = keys_[place];
  of_key.version = (of_key.version ^ pods.id() ^ static_cast<std::uint64_t>(number) << 40) * kMix;
  of_key.version ^= of_key.version >> 29;
  if (of_key.numbers.empty() && (number == 1 || pods.others_than_zero() == 0)) {
    of_key.numbers = pods.by_domain();
    others_than_zero_ += pods.others_than_zero();
    return pods.others_than_zero() > 0;
  }
  if (pods.others_than_zero() == 0) return false;
  make_own(of_key);
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
