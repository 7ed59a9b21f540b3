// Loops over blocks of rows, as vector code: what NodeResourcesFit and
// NodeResourcesBalancedAllocation compute for most nodes of most clusters.
//
// They give exactly what the one-row code beside them gives, but only for tame amounts: none
// negative and none so large that a double does not have it exactly. Wild blocks are left to the
// one-row code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::plugins {

inline constexpr std::size_t kBlock = 64;  // rows, at most

// One resource over the rows of a block.
struct BlockColumn {
  const std::int64_t* allocatable;
  const std::int64_t* used;
  std::int64_t request = 0;  // of the pod
  std::int64_t weight = 1;
};

// Bit i: the request is more than what is left on row i. For wild amounts too.
std::uint64_t insufficient_rows(const BlockColumn& column, std::size_t rows);
// Bit i: row i has as many pods as it may.
std::uint64_t full_rows(const std::int64_t* pods, const std::int64_t* allowed, std::size_t rows);

bool is_tame(const BlockColumn& column, std::size_t rows);

// By row: what the resources have scored so far, times weight, and the weights of those that the
// row has.
struct BlockScores {
  std::int64_t sum[kBlock] = {};
  std::int64_t weights[kBlock] = {};
};
void add_least_allocated(const BlockColumn& column, std::size_t rows, BlockScores& scores);
void add_most_allocated(const BlockColumn& column, std::size_t rows, BlockScores& scores);
// The averages, rounded towards zero; 0 where no resource counted.
void average(const BlockScores& scores, std::size_t rows, std::int64_t* averages);

// NodeResourcesBalancedAllocation's score by two resources.
void balance_of_two(const BlockColumn& a, const BlockColumn& b, std::size_t rows,
                    std::int64_t* scores);

}  // namespace berth::plugins
