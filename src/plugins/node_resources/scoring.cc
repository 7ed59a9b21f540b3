// NodeResourcesFit: which nodes it prefers.
#include <algorithm>
#include <cmath>

#include "plugins/node_resources/fit.h"

namespace berth::plugins {
namespace {

// Of the scored resources of one row.
struct WeightedSum {
  std::int64_t sum = 0;
  std::int64_t weights = 0;

  void add(std::int64_t score, std::int64_t weight) {
    sum = wrapping_add(sum, wrapping_mul(score, weight));
    weights += weight;
  }
};

std::int64_t percent(std::int64_t part, std::int64_t whole) {
  return wrapping_div(wrapping_mul(part, kMaxScore), whole);
}

std::int64_t least_allocated(std::int64_t requested, std::int64_t allocatable) {
  if (requested > allocatable) return 0;
  return percent(wrapping_sub(allocatable, requested), allocatable);
}

std::int64_t most_allocated(std::int64_t requested, std::int64_t allocatable) {
  return percent(std::min(requested, allocatable), allocatable);
}

// The average over the resources that the row has at all, rounded towards zero: one row by
// `resource_score`, blocks of rows by `add_block`.
template <typename ResourceScore, typename AddBlock>
void score_rows(const std::vector<AllocationColumn>& columns, const NodeSet& feasible,
                std::span<Score> by_row, ResourceScore resource_score, AddBlock add_block) {
  score_rows_in_blocks(
      columns, feasible, by_row,
      [&](NodeRow row) {
        WeightedSum total;
        for (const AllocationColumn& column : columns)
          if (const std::int64_t allocatable = column.allocatable[row]; allocatable != 0)
            total.add(resource_score(column.requested_on(row), allocatable), column.weight);
        return total.weights == 0 ? 0 : total.sum / total.weights;
      },
      [&](std::span<const BlockColumn> block, std::size_t rows, Score* scores) {
        BlockScores sums;
        for (const BlockColumn& column : block) add_block(column, rows, sums);
        average(sums, rows, scores);
      });
}

void score_rows_by_shape(const std::vector<AllocationColumn>& columns, const NodeSet& feasible,
                         std::span<Score> by_row, const BrokenLinear& shape) {
  feasible.for_each([&](NodeRow row) {
    WeightedSum total;
    for (const AllocationColumn& column : columns) {
      const std::int64_t allocatable = column.allocatable[row];
      if (allocatable == 0) continue;
      const std::int64_t requested = column.requested_on(row);
      const std::int64_t score =
          shape(requested > allocatable ? kMaxScore : percent(requested, allocatable));
      // Parity: a resource that scores 0 does not count at all, not even by its weight.
      if (score > 0) total.add(score, column.weight);
    }
    by_row[row] = total.weights == 0 ? 0
                                     : truncated(std::round(static_cast<double>(total.sum) /
                                                            static_cast<double>(total.weights)));
  });
}

}  // namespace

// Parity: scoring leaves out pod-level resources, which filtering counts, and takes containers that
// request nothing for upstream's defaults.
ScoredAmounts NodeResourcesFit::scored(const Cycle& cycle) const {
  const PodSpec& spec = cycle.pod().spec();
  const bool as_added_up = !spec.pod_requests && !resources_.has_unknown();
  return resources_.with_devices(
      cycle.nodes(), as_added_up ? resources_.amounts(spec.usage, Used::kNonzeroRequested)
                                 : resources_.amounts(pod_requests(
                                       spec, {.pod_level = false, .defaults = &defaults_})));
}

Outcome NodeResourcesFit::pre_score(Cycle& cycle, const NodeSet&) const {
  cycle.put(*this, scored(cycle));
  return Outcome::success();
}

Outcome NodeResourcesFit::score(const Cycle& cycle, const NodeSet& feasible,
                                std::span<Score> by_row) const {
  if (resources_.empty()) return Outcome::failure("resources not found");
  const ScoredAmounts* kept = cycle.find<ScoredAmounts>(*this);
  const ScoredAmounts afresh = kept ? ScoredAmounts{} : scored(cycle);
  const std::vector<AllocationColumn> columns =
      resources_.columns(cycle.nodes(), kept ? *kept : afresh, Used::kNonzeroRequested);
  switch (strategy_) {
    case config::ScoringStrategyType::kLeastAllocated:
      score_rows(columns, feasible, by_row, least_allocated, add_least_allocated);
      break;
    case config::ScoringStrategyType::kMostAllocated:
      score_rows(columns, feasible, by_row, most_allocated, add_most_allocated);
      break;
    case config::ScoringStrategyType::kRequestedToCapacityRatio:
      score_rows_by_shape(columns, feasible, by_row, shape_);
      break;
  }
  return Outcome::success();
}

// How many devices are taken is no node's own.
bool NodeResourcesFit::score_keys(Cycle& cycle, RowKeys& keys) const {
  if (resources_.scores_devices(cycle.pod())) keys.add_numbers({});
  return true;
}

}  // namespace berth::plugins
