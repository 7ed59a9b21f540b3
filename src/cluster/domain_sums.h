// DomainSums: pods per topology domain of one key, kept as pods come and go on nodes.
//
// PodCounts and AffinityPods, which count pods by row, keep one per topology key, update it for
// every row whose count changes, and fill it again when nodes move between domains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/topology.h"

namespace berth {

class DomainSums {
 public:
  // `id` is like no other of the same counter's. Sums that are not kept are good until the next are
  // asked for.
  explicit DomainSums(std::uint64_t id, bool is_kept = true) : id_(id), is_kept_(is_kept) {}

  std::uint64_t id() const { return id_; }
  bool follows(const TopologyColumn& column) const { return version_ == column.version; }
  // All counts are 0 afterwards.
  void start(const TopologyColumn& column) {
    version_ = column.version;
    domains_ = column.source ? column.source->shared_from_this() : nullptr;
    sums_.assign(column.size, 0);
    without_key_ = 0;
    others_than_zero_ = 0;
  }
  template <typename ForEachRow>
  void fill(const TopologyColumn& column, ForEachRow for_each_row) {
    start(column);
    for_each_row([this](NodeRow row, std::int64_t pods) { change(row, pods); });
  }
  // The row has so many more pods. Where nodes have moved since start() the counts are worthless
  // anyway, and begun again before they are read.
  void change(NodeRow row, std::int64_t by) {
    if (domains_ && domains_->version != version_) return;
    const Domain domain = domains_ ? domains_->view()[row] : kNoDomain;
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

  bool is_kept() const { return is_kept_; }
  std::size_t bytes() const { return sizeof(*this) + sums_.capacity() * sizeof(std::int64_t); }

 private:
  std::uint64_t id_;
  bool is_kept_;
  std::uint64_t version_ = 0;                    // of the column; columns begin with 1
  std::shared_ptr<const DomainsByRow> domains_;  // null: no node has the key
  std::vector<std::int64_t> sums_;
  std::int64_t without_key_ = 0;
  std::size_t others_than_zero_ = 0;
};

// Those of the keys that were asked for. What is handed out stays where it is.
class DomainSumsByKey {
 public:
  void change(NodeRow row, std::int64_t by) {
    if (by == 0) return;
    for (auto& [key, sums] : kept_) sums.change(row, by);
  }
  void clear() { kept_.clear(); }
  bool has(Symbol key) const { return kept_.contains(key); }

  // `for_each_row(visit)` calls visit(row, pods); it is asked when there is nothing kept to go by.
  template <typename ForEachRow>
  const DomainSums& of(Symbol key, const TopologyColumn& column, std::uint64_t& last_id,
                       ForEachRow for_each_row) {
    auto found = kept_.find(key);
    if (found == kept_.end()) found = kept_.try_emplace(key, ++last_id).first;
    DomainSums& sums = found->second;
    if (!sums.follows(column)) sums.fill(column, for_each_row);
    return sums;
  }

  std::size_t bytes() const {
    std::size_t total = 0;
    for (const auto& [key, sums] : kept_) total += sums.bytes() + kBytesPerKey;
    return total;
  }

 private:
  static constexpr std::size_t kBytesPerKey = 32;  // of the map itself
  std::unordered_map<Symbol, DomainSums> kept_;
};

}  // namespace berth
