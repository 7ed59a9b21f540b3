// How full nodes are, and would be with the pod: the columns that NodeResourcesFit and
// NodeResourcesBalancedAllocation score by.
#pragma once

#include <algorithm>
#include <array>
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

// Up to a block of rows that are far apart in their columns, copied side by side: a few rows of each
// of many words become one block.
class GatheredRows {
 public:
  explicit GatheredRows(std::span<const AllocationColumn> columns) : columns_(columns) {}

  bool full() const { return count_ == kBlock; }
  void add(NodeRow row) { rows_[count_++] = row; }
  std::span<const NodeRow> rows() const { return {rows_.data(), count_}; }
  void clear() { count_ = 0; }
  // Valid until the next call.
  std::span<const BlockColumn> copy() {
    const std::size_t count = columns_.size();
    amounts_.resize(2 * count * kBlock);
    block_.resize(count);
    for (std::size_t c = 0; c < count; ++c) {
      const AllocationColumn& column = columns_[c];
      std::int64_t* const allocatable = &amounts_[2 * c * kBlock];
      std::int64_t* const used = allocatable + kBlock;
      for (std::size_t i = 0; i < count_; ++i) {
        allocatable[i] = column.allocatable[rows_[i]];
        used[i] = column.used[rows_[i]];
      }
      block_[c] = {allocatable, used, column.request, column.weight};
    }
    return block_;
  }

 private:
  std::span<const AllocationColumn> columns_;
  std::size_t count_ = 0;
  std::array<NodeRow, kBlock> rows_;
  std::vector<std::int64_t> amounts_;  // by column: allocatable, used
  std::vector<BlockColumn> block_;
};

// Writes the score of every feasible row: `one_row(row)` gives one, and where the amounts of many
// rows are tame, `block(columns, rows, scores)` writes those of a block of rows at once. Rows that
// are not feasible may be written, too.
template <typename OneRow, typename Block>
void score_rows_in_blocks(std::span<const AllocationColumn> columns, const NodeSet& feasible,
                          std::span<std::int64_t> by_row, OneRow one_row, Block block) {
  constexpr std::size_t kWorthIt = 12;  // rows: a block costs about as much as so many, one by one
  std::vector<BlockColumn> part;        // made when the first block comes: often it is a single row
  GatheredRows few(columns);
  std::array<std::int64_t, kBlock> scores;
  const bool complete = std::ranges::none_of(columns, [](const auto& c) { return c.used.empty(); });
  const std::size_t all_rows = columns.empty() ? by_row.size() : columns.front().allocatable.size();
  const auto all_tame = [](std::span<const BlockColumn> amounts, std::size_t rows) {
    return std::ranges::all_of(amounts, [&](const BlockColumn& c) { return is_tame(c, rows); });
  };
  const auto score_few = [&] {
    const std::span<const NodeRow> rows = few.rows();
    std::span<const BlockColumn> copied;
    if (rows.size() >= kWorthIt) copied = few.copy();
    if (!copied.empty() && all_tame(copied, rows.size())) {
      block(copied, rows.size(), scores.data());
      for (std::size_t i = 0; i < rows.size(); ++i) by_row[rows[i]] = scores[i];
    } else {
      for (const NodeRow row : rows) by_row[row] = one_row(row);
    }
    few.clear();
  };
  feasible.for_each_word([&](std::size_t word, std::uint64_t rest) {
    const std::size_t first = word * kBlock;
    if (complete && NodeSet::rows_in(rest) >= kWorthIt) {
      const std::size_t rows = std::min(kBlock, all_rows - first);
      part.resize(columns.size());
      for (std::size_t c = 0; c < columns.size(); ++c)
        part[c] = {&columns[c].allocatable[first], &columns[c].used[first], columns[c].request,
                   columns[c].weight};
      if (all_tame(part, rows)) {
        block(std::span<const BlockColumn>(part), rows, &by_row[first]);
        return;
      }
    }
    for (; rest != 0; rest &= rest - 1) {
      const auto row =
          static_cast<NodeRow>(first + static_cast<std::size_t>(std::countr_zero(rest)));
      if (!complete) {
        by_row[row] = one_row(row);
        continue;
      }
      few.add(row);
      if (few.full()) score_few();
    }
  });
  score_few();
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
