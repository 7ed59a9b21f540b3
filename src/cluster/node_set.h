// NodeSet: a set of node rows, one bit each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

// A node's place in the NodeTable: stable while the node exists, reused afterwards.
using NodeRow = std::uint32_t;
inline constexpr NodeRow kNoRow = ~NodeRow{0};

class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(std::size_t rows) : words_((rows + 63) / 64) {}

  std::size_t capacity() const { return words_.size() * 64; }
  void reserve_rows(std::size_t rows) {
    if (rows > capacity()) words_.resize((rows + 63) / 64);
  }

  void insert(NodeRow row) { words_[row / 64] |= bit(row); }
  void erase(NodeRow row) { words_[row / 64] &= ~bit(row); }
  bool contains(NodeRow row) const {
    return row / 64 < words_.size() && (words_[row / 64] & bit(row)) != 0;
  }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  bool empty() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
  }
  std::size_t count() const {
    std::size_t total = 0;
    for (const std::uint64_t word : words_) total += static_cast<std::size_t>(std::popcount(word));
    return total;
  }

  // The bits themselves, 64 rows a word, for kernels.
  const std::vector<std::uint64_t>& words() const { return words_; }
  std::vector<std::uint64_t>& words() { return words_; }

  NodeSet& operator&=(const NodeSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w)
      words_[w] &= w < other.words_.size() ? other.words_[w] : 0;
    return *this;
  }

  NodeSet& operator-=(const NodeSet& other) {
    for (std::size_t w = 0; w < std::min(words_.size(), other.words_.size()); ++w)
      words_[w] &= ~other.words_[w];
    return *this;
  }

  // Calls `visit(row)` in ascending order. `visit` may erase the row it is given.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) visit_bits(w, words_[w], visit);
  }
  // The same for rows in both sets.
  template <typename Visit>
  static void for_each_common(const NodeSet& a, const NodeSet& b, Visit visit) {
    for (std::size_t w = 0; w < std::min(a.words_.size(), b.words_.size()); ++w)
      visit_bits(w, a.words_[w] & b.words_[w], visit);
  }

  friend bool operator==(const NodeSet&, const NodeSet&) = default;

 private:
  static std::uint64_t bit(NodeRow row) { return std::uint64_t{1} << (row % 64); }
  template <typename Visit>
  static void visit_bits(std::size_t word, std::uint64_t rest, Visit& visit) {
    const NodeRow first = static_cast<NodeRow>(word * 64);
    // Full words are the rule where it counts; a plain loop over them can become vector code.
    if (rest == ~std::uint64_t{0}) {
      for (NodeRow i = 0; i < 64; ++i) visit(first + i);
      return;
    }
    for (; rest != 0; rest &= rest - 1) visit(first + static_cast<NodeRow>(std::countr_zero(rest)));
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace berth
