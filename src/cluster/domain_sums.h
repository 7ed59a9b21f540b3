// DomainSums: pods per topology domain of one key, kept as pods come and go on nodes.
//
// Whoever counts pods by row (PodCounts, AffinityPods) keeps one per key that was asked for, tells
// it of every row that has more or fewer, and fills it anew when nodes have moved between domains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/topology.h"

namespace berth {

class DomainSums {
 public:
  // `id` is like no other of the same counter's.
  DomainSums(Symbol key, std::uint64_t id) : key_(key), id_(id) {}

  Symbol key() const { return key_; }
  std::uint64_t id() const { return id_; }
  bool follows(const TopologyColumn& column) const { return version_ == column.version; }
  // All counts are 0 afterwards.
  void start(const TopologyColumn& column) {
    version_ = column.version;
    domains_.assign(column.by_row.begin(), column.by_row.end());
    sums_.assign(column.size, 0);
    without_key_ = 0;
    others_than_zero_ = 0;
  }
  // The row has so many more pods.
  void change(NodeRow row, std::int64_t by) {
    const Domain domain = row < domains_.size() ? domains_[row] : kNoDomain;
    if (domain == kNoDomain) {
      without_key_ += by;
      return;
    }
    others_than_zero_ -= sums_[domain] != 0;
    sums_[domain] += by;
    others_than_zero_ += sums_[domain] != 0;
  }

  // By domain; that of kNoDomain stays 0.
  std::span<const std::int64_t> by_domain() const { return sums_; }
  std::size_t others_than_zero() const { return others_than_zero_; }
  std::int64_t without_key() const { return without_key_; }

  std::size_t bytes() const {
    return sizeof(*this) + domains_.capacity() * sizeof(Domain) +
           sums_.capacity() * sizeof(std::int64_t);
  }

 private:
  Symbol key_;
  std::uint64_t id_;
  std::uint64_t version_ = 0;  // of the column; columns begin with 1
  std::vector<Domain> domains_;
  std::vector<std::int64_t> sums_;
  std::int64_t without_key_ = 0;
  std::size_t others_than_zero_ = 0;
};

// Those of the keys that were asked for. What is handed out stays where it is.
class DomainSumsByKey {
 public:
  void change(NodeRow row, std::int64_t by) {
    if (by == 0) return;
    for (const std::unique_ptr<DomainSums>& sums : kept_) sums->change(row, by);
  }
  void clear() { kept_.clear(); }

  // `for_each_row(visit)` calls visit(row, pods); it is asked when there is nothing kept to go by.
  template <typename ForEachRow>
  const DomainSums& of(Symbol key, const TopologyColumn& column, std::uint64_t& last_id,
                       ForEachRow for_each_row) {
    DomainSums* found = nullptr;
    for (const std::unique_ptr<DomainSums>& sums : kept_)
      if (sums->key() == key) found = sums.get();
    if (!found) found = kept_.emplace_back(std::make_unique<DomainSums>(key, ++last_id)).get();
    if (!found->follows(column)) {
      found->start(column);
      for_each_row([found](NodeRow row, std::int64_t pods) { found->change(row, pods); });
    }
    return *found;
  }

  std::size_t bytes() const {
    std::size_t total = 0;
    for (const std::unique_ptr<DomainSums>& sums : kept_) total += sums->bytes();
    return total;
  }

 private:
  std::vector<std::unique_ptr<DomainSums>> kept_;
};

}  // namespace berth
