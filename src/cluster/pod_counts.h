// PodCounts: how many pods each node has that match a query, kept between cycles.
//
// The first time a query is used, all pods are matched; afterwards only those of rows that changed.
// Queries that were not used for a while are dropped. The memory has a limit, within a cycle as
// well: a pod may need thousands of queries, and an answer past the limit is valid only until the
// next query. Part of Cluster; used by plugins that count pods. World thread only; a query must not
// be used for the first time under a Trial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/labels.h"
#include "berth/views.h"
#include "cluster/domain_sums.h"

namespace berth {

// Pods of some namespaces whose labels match a selector.
struct PodTerm {
  bool all_namespaces = false;
  std::vector<Symbol> namespaces;  // sorted, each once; without meaning for all of them
  Selector selector;

  bool matches(const Pod& pod) const;
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

struct PodQuery {
  std::vector<PodTerm> terms;      // a pod has to match every one; none: no pod does
  bool terminating_count = false;  // whether pods that are being deleted count

  bool matches(const Pod& pod) const;
  friend bool operator==(const PodQuery&, const PodQuery&) = default;
};

struct PodCount {
  std::span<const std::int32_t> by_row;  // 0 where no node is
  const NodeSet& rows;                   // that have any
  std::uint64_t version;                 // another one when it is not the same count going on
  bool is_kept;                          // else it is good until the next question only
};

class PodCounts {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  explicit PodCounts(const NodeTable& nodes, std::size_t max_bytes = kMaxBytes);
  ~PodCounts();
  PodCounts(const PodCounts&) = delete;
  PodCounts& operator=(const PodCounts&) = delete;

  // Valid until the cluster changes or the next cycle begins, if it is kept.
  PodCount count(const PodQuery& query);
  // The same per domain of a key, whose column it is.
  const DomainSums& count(const PodQuery& query, Symbol key, const TopologyColumn& column);

  // For Cluster: answers given before are no longer looked at, what is not asked for goes.
  void begin_cycle();

  // How many answers are kept.
  std::size_t size() const;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace berth
