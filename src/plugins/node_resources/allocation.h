// How full nodes are, and would be with the pod: the columns that NodeResourcesFit and
// NodeResourcesBalancedAllocation score by.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "berth/handle.h"
#include "berth/pod.h"
#include "berth/resources.h"
#include "berth/views.h"
#include "config/configuration.h"
#include "plugins/arithmetic.h"
#include "plugins/node_resources/device_counts.h"
#include "plugins/node_resources/kernels.h"

namespace berth::plugins {

// Which of a node's counts of cpu and memory is "used".
enum class Used : std::uint8_t {
  kRequested,         // what its pods request
  kNonzeroRequested,  // the same, with upstream's defaults for containers that request nothing
};

// One scored resource over all rows. Where `allocatable` is 0 it does not count for that row.
struct AllocationColumn {
  std::span<const std::int64_t> allocatable;
  std::span<const std::int64_t> used;
  std::int64_t request = 0;  // of the pod
  std::int64_t weight = 1;

  // A scalar that no node or pod names has no columns.
  std::int64_t used_on(NodeRow row) const { return used.empty() ? 0 : used[row]; }
  // With the pod.
  std::int64_t requested_on(NodeRow row) const { return wrapping_add(used_on(row), request); }
};

// Gives `one_row(row)` every feasible row, or, where many rows of a block are feasible and the
// amounts are tame, `block(columns, first row, rows)` the block at once; it may write to all of its
// rows.
template <typename OneRow, typename Block>
void for_each_block(const std::vector<AllocationColumn>& columns, const NodeSet& feasible,
                    std::size_t all_rows, OneRow one_row, Block block) {
  constexpr std::size_t kWorthIt = 12;  // rows: a block costs about as much as so many, one by one
  std::vector<BlockColumn> part;        // made when the first block comes: often it is a single row
  const bool complete = std::ranges::none_of(columns, [](const auto& c) { return c.used.empty(); });
  feasible.for_each_word([&](std::size_t word, std::uint64_t rest) {
    const std::size_t first = word * kBlock;
    if (complete && NodeSet::rows_in(rest) >= kWorthIt) {
      const std::size_t rows = std::min(kBlock, all_rows - first);
      bool tame = true;
      part.resize(columns.size());
      for (std::size_t c = 0; c < columns.size(); ++c) {
        part[c] = {&columns[c].allocatable[first], &columns[c].used[first], columns[c].request,
                   columns[c].weight};
        tame = tame && is_tame(part[c], rows);
      }
      if (tame) {
        block(std::span<const BlockColumn>(part), static_cast<NodeRow>(first), rows);
        return;
      }
    }
    for (; rest != 0; rest &= rest - 1)
      one_row(static_cast<NodeRow>(first + static_cast<std::size_t>(std::countr_zero(rest))));
  });
}

// What PreScore leaves for Score, by scored resource.
struct ScoredAmounts {
  std::vector<std::int64_t> amounts;           // of the pod
  std::vector<DeviceCounts::Columns> devices;  // see ScoredResources::with_devices()
};

// The resources that a scorer is configured to look at, in the configuration's order.
class ScoredResources {
 public:
  ScoredResources(const std::vector<config::ResourceWeight>& resources, const Handle& handle);

  bool empty() const { return resources_.empty(); }
  // Some name is neither a native resource nor a scalar one, so that Resources does not have it.
  bool has_unknown() const;

  // The pod's amount of each resource: from its requests as written, or, unless has_unknown(), from
  // what has been added up for its spec.
  std::vector<std::int64_t> amounts(const ResourceList& requests) const;
  std::vector<std::int64_t> amounts(const PodUsage& usage, Used used) const;

  // Columns of the resources that count on some row. Scalars that the pod does not ask for are left
  // out, and so is what no node can have. Valid as long as `scored`.
  std::vector<AllocationColumn> columns(const NodeTable& nodes, const ScoredAmounts& scored,
                                        Used used) const;

  // Adds the columns of those resources that are devices and asked for: what there is of them and
  // what is taken, on nodes whose device plugin has none. Nearly always there are none.
  ScoredAmounts with_devices(const NodeTable& nodes, std::vector<std::int64_t> amounts) const;
  // Whether there would be any.
  bool scores_devices(const Pod& pod) const;

 private:
  enum class Kind : std::uint8_t { kCpu, kMemory, kEphemeralStorage, kScalar, kUnknown };
  struct Resource {
    Symbol name;
    Kind kind;
    std::int64_t weight;
  };
  static Kind kind_of(Symbol name, std::string_view text);
  static AllocationColumn column(const NodeTable& nodes, const Resource& resource, Used used);

  SymbolHold symbols_;
  std::shared_ptr<DeviceCounts> counts_;  // null: extended resources are no devices
  std::vector<Resource> resources_;
  std::vector<std::size_t> extended_;  // which of them may be devices
};

}  // namespace berth::plugins
