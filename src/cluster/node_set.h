// NodeSet: a set of node rows, one bit each.
//
// It knows between which words its rows are, so that a set of one row costs the same among a
// hundred nodes and a hundred thousand.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth {

// A node's place in the NodeTable: stable while the node exists, reused afterwards.
using NodeRow = std::uint32_t;
inline constexpr NodeRow kNoRow = ~NodeRow{0};

class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(std::size_t rows) : words_((rows + 63) / 64) {}
  NodeSet(const NodeSet&) = default;
  NodeSet& operator=(const NodeSet&) = default;
  NodeSet(NodeSet&& other) noexcept
      : words_(std::move(other.words_)),
        begin_(std::exchange(other.begin_, kNowhere)),
        end_(std::exchange(other.end_, 0)) {}
  NodeSet& operator=(NodeSet&& other) noexcept {
    words_ = std::move(other.words_);
    begin_ = std::exchange(other.begin_, kNowhere);
    end_ = std::exchange(other.end_, 0);
    return *this;
  }

  std::size_t capacity() const { return words_.size() * 64; }
  void reserve_rows(std::size_t rows) {
    if (rows > capacity()) words_.resize((rows + 63) / 64);
  }

  void insert(NodeRow row) {
    const std::size_t word = row / 64;
    words_[word] |= bit(row);
    begin_ = std::min(begin_, word);
    end_ = std::max(end_, word + 1);
  }
  void erase(NodeRow row) { words_[row / 64] &= ~bit(row); }
  bool contains(NodeRow row) const {
    return row / 64 < words_.size() && (words_[row / 64] & bit(row)) != 0;
  }
  void clear() {
    for (std::size_t w = begin_; w < end_; ++w) words_[w] = 0;
    begin_ = kNowhere;
    end_ = 0;
  }

  bool empty() const {
    for (std::size_t w = begin_; w < end_; ++w)
      if (words_[w] != 0) return false;
    return true;
  }
  std::size_t count() const {
    std::size_t total = 0;
    for (std::size_t w = begin_; w < end_; ++w) total += bits_in(words_[w]);
    return total;
  }

  // The bits themselves, 64 rows a word, for kernels. Rows are nowhere but in the words from
  // begin_word() to before end_word().
  const std::vector<std::uint64_t>& words() const { return words_; }
  std::size_t begin_word() const { return std::min(begin_, end_); }
  std::size_t end_word() const { return end_; }
  // Keeps those rows of a word that `mask` names.
  void keep(std::size_t word, std::uint64_t mask) { words_[word] &= mask; }

  NodeSet& operator&=(const NodeSet& other) {
    for (std::size_t w = begin_; w < end_; ++w)
      words_[w] &= w < other.words_.size() ? other.words_[w] : 0;
    return *this;
  }

  NodeSet& operator|=(const NodeSet& other) {
    reserve_rows(other.capacity());
    for (std::size_t w = other.begin_; w < other.end_; ++w) words_[w] |= other.words_[w];
    begin_ = std::min(begin_, other.begin_);
    end_ = std::max(end_, other.end_);
    return *this;
  }

  NodeSet& operator-=(const NodeSet& other) {
    for (std::size_t w = std::max(begin_, other.begin_); w < std::min(end_, other.end_); ++w)
      words_[w] &= ~other.words_[w];
    return *this;
  }

  // Calls `visit(row)` in ascending order. `visit` may erase the row it is given.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t w = begin_; w < end_; ++w) visit_bits(w, words_[w], visit);
  }
  // The same for rows in both sets.
  template <typename Visit>
  static void for_each_common(const NodeSet& a, const NodeSet& b, Visit visit) {
    for (std::size_t w = std::max(a.begin_, b.begin_); w < std::min(a.end_, b.end_); ++w)
      visit_bits(w, a.words_[w] & b.words_[w], visit);
  }

  friend bool operator==(const NodeSet& a, const NodeSet& b) { return a.words_ == b.words_; }

 private:
  // std::popcount is a call into a library on the machines we build for; this becomes vector code.
  static std::size_t bits_in(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<std::size_t>((word * 0x0101010101010101) >> 56);
  }
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

  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::vector<std::uint64_t> words_;
  std::size_t begin_ = kNowhere;  // no row is in a word before this one
  std::size_t end_ = 0;           // nor in this one or a later one
};

}  // namespace berth
