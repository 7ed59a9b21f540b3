#include "plugins/node_resources/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/vector_clones.h"
#include "berth/plugin.h"
#include "plugins/arithmetic.h"

namespace berth::plugins {
namespace {

// Amounts below this are exact as a double, and so is a hundred times as much.
constexpr int kTameBits = 46;

// Both exact as doubles, not negative, `whole` not 0. A quotient just below a whole number may have
// been rounded up to it.
inline std::int64_t exact_quotient(std::int64_t part, std::int64_t whole) {
  const auto quotient =
      static_cast<std::int64_t>(static_cast<double>(part) / static_cast<double>(whole));
  return quotient - (part < quotient * whole ? 1 : 0);
}

// Bytes of 0 or 1 become bits, eight at a time: every bit of the factor moves one byte to its
// place.
inline std::uint64_t as_bits(const std::uint8_t (&bytes)[kBlock]) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kBlock; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + i, 8);
    bits |= (eight * 0x0102040810204080U >> 56) << i;
  }
  return bits;
}

// All of it where more than all is used. 0 of a resource that the row does not have is none of it.
inline double used_fraction(std::int64_t amount, std::int64_t allocatable) {
  return static_cast<double>(std::min(amount, allocatable)) /
         static_cast<double>(allocatable + (allocatable == 0));
}

inline std::int64_t evenness(double a, double b) {
  return static_cast<std::int64_t>((1 - std::abs((a - b) / 2)) * static_cast<double>(kMaxScore));
}

// `value` or 0, without a branch.
inline std::int64_t value_if(bool condition, std::int64_t value) {
  return value & -static_cast<std::int64_t>(condition);
}

// A row without the resource scores 0 and has no weight.
inline void add_share(std::int64_t part, std::int64_t whole, std::int64_t weight, std::int64_t& sum,
                      std::int64_t& weights) {
  sum += exact_quotient(part * kMaxScore, whole + (whole == 0)) * weight;
  weights += value_if(whole != 0, weight);
}

}  // namespace

BERTH_VECTOR_CLONES std::uint64_t insufficient_rows(const BlockColumn& column, std::size_t rows) {
  const auto [allocatable, used, request, weight] = column;
  std::uint8_t insufficient[kBlock] = {};
  for (std::size_t i = 0; i < rows; ++i)
    insufficient[i] = request > wrapping_sub(allocatable[i], used[i]);
  return as_bits(insufficient);
}

BERTH_VECTOR_CLONES std::uint64_t full_rows(const std::int64_t* pods, const std::int64_t* allowed,
                                            std::size_t rows) {
  std::uint8_t full[kBlock] = {};
  for (std::size_t i = 0; i < rows; ++i) full[i] = pods[i] >= allowed[i];
  return as_bits(full);
}

BERTH_VECTOR_CLONES bool is_tame(const BlockColumn& column, std::size_t rows) {
  std::uint64_t bits = static_cast<std::uint64_t>(column.request);
  for (std::size_t i = 0; i < rows; ++i)
    bits |= static_cast<std::uint64_t>(column.allocatable[i]) |
            static_cast<std::uint64_t>(column.used[i]);
  return bits >> (kTameBits - 1) == 0;
}

BERTH_VECTOR_CLONES void add_least_allocated(const BlockColumn& column, std::size_t rows,
                                             BlockScores& scores) {
  const auto [allocatable, used, request, weight] = column;
  for (std::size_t i = 0; i < rows; ++i)
    add_share(std::max(allocatable[i] - used[i] - request, std::int64_t{0}), allocatable[i], weight,
              scores.sum[i], scores.weights[i]);
}

BERTH_VECTOR_CLONES void add_most_allocated(const BlockColumn& column, std::size_t rows,
                                            BlockScores& scores) {
  const auto [allocatable, used, request, weight] = column;
  for (std::size_t i = 0; i < rows; ++i)
    add_share(std::min(used[i] + request, allocatable[i]), allocatable[i], weight, scores.sum[i],
              scores.weights[i]);
}

BERTH_VECTOR_CLONES void average(const BlockScores& scores, std::size_t rows,
                                 std::int64_t* averages) {
  for (std::size_t i = 0; i < rows; ++i)
    averages[i] = exact_quotient(scores.sum[i], std::max(scores.weights[i], std::int64_t{1}));
}

BERTH_VECTOR_CLONES void balance_of_two(const BlockColumn& a, const BlockColumn& b,
                                        std::size_t rows, std::int64_t* scores) {
  const auto [a_allocatable, a_used, a_request, a_weight] = a;
  const auto [b_allocatable, b_used, b_request, b_weight] = b;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t with_pod = evenness(used_fraction(a_used[i] + a_request, a_allocatable[i]),
                                           used_fraction(b_used[i] + b_request, b_allocatable[i]));
    const std::int64_t without = evenness(used_fraction(a_used[i], a_allocatable[i]),
                                          used_fraction(b_used[i], b_allocatable[i]));
    // One resource alone is always even.
    const bool has_both = (a_allocatable[i] != 0) & (b_allocatable[i] != 0);
    scores[i] = kMaxScore / 2 + (kMaxScore / 2 + value_if(has_both, with_pod - without)) / 2;
  }
}

}  // namespace berth::plugins
