// NodeSet: a set of node rows, one bit each.
//
// A two-level bitmap: one bit per row, and above it one bit per word of 64 rows that may have rows.
// Sparse sets cost the rows they hold; dense sets are visited word by word. insert() and erase()
// take rows below capacity(). Sets of different capacity are not equal.
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
  explicit NodeSet(std::size_t rows) { reserve_rows(rows); }
  NodeSet(const NodeSet&) = default;
  NodeSet(NodeSet&& other) noexcept
      : words_(std::move(other.words_)),
        filled_(std::move(other.filled_)),
        begin_(std::exchange(other.begin_, kNoSpan)),
        end_(std::exchange(other.end_, 0)) {}
  NodeSet& operator=(NodeSet&& other) noexcept {
    words_ = std::move(other.words_);
    filled_ = std::move(other.filled_);
    begin_ = std::exchange(other.begin_, kNoSpan);
    end_ = std::exchange(other.end_, 0);
    return *this;
  }
  NodeSet& operator=(const NodeSet& other) {
    if (words_.size() != other.words_.size()) return *this = NodeSet(other);
    const std::size_t end = std::max(end_, other.end_);
    for (std::size_t s = std::min(begin_, other.begin_); s < end; ++s) {
      visit_words(s, filled_[s] | other.filled_[s],
                  [&](std::size_t w) { words_[w] = other.words_[w]; });
      filled_[s] = other.filled_[s];
    }
    begin_ = other.begin_;
    end_ = other.end_;
    return *this;
  }

  std::size_t capacity() const { return words_.size() * kFan; }
  void reserve_rows(std::size_t rows) {
    if (rows <= capacity()) return;
    words_.resize((rows + kFan - 1) / kFan);
    filled_.resize((words_.size() + kFan - 1) / kFan);
  }

  void insert(NodeRow row) {
    const std::size_t word = row / kFan, span = word / kFan;
    words_[word] |= bit(row);
    filled_[span] |= bit(word);
    begin_ = std::min(begin_, span);
    end_ = std::max(end_, span + 1);
  }
  void erase(NodeRow row) { words_[row / kFan] &= ~bit(row); }
  bool contains(NodeRow row) const {
    return row / kFan < words_.size() && (words_[row / kFan] & bit(row)) != 0;
  }
  void clear() {
    for (std::size_t s = begin_; s < end_; ++s) {
      visit_words(s, filled_[s], [&](std::size_t w) { words_[w] = 0; });
      filled_[s] = 0;
    }
    begin_ = kNoSpan;
    end_ = 0;
  }

  // The lowest row, or kNoRow.
  NodeRow first() const {
    for (std::size_t s = begin_; s < end_; ++s)
      for (std::uint64_t rest = filled_[s]; rest != 0; rest &= rest - 1) {
        const std::size_t word = first_of(s, rest);
        if (words_[word] != 0) return static_cast<NodeRow>(first_of(word, words_[word]));
      }
    return kNoRow;
  }
  bool empty() const { return first() == kNoRow; }
  std::size_t count() const {
    std::size_t total = 0;
    for (std::size_t s = begin_; s < end_; ++s)
      visit_words(s, filled_[s], [&](std::size_t w) { total += rows_in(words_[w]); });
    return total;
  }

  NodeSet& operator&=(const NodeSet& other) {
    for (std::size_t s = begin_; s < end_; ++s) {
      const std::uint64_t common = s < other.filled_.size() ? filled_[s] & other.filled_[s] : 0;
      visit_words(s, filled_[s] & ~common, [&](std::size_t w) { words_[w] = 0; });
      visit_words(s, common, [&](std::size_t w) { words_[w] &= other.words_[w]; });
      filled_[s] = common;
    }
    return *this;
  }

  NodeSet& operator|=(const NodeSet& other) {
    reserve_rows(other.capacity());
    for (std::size_t s = other.begin_; s < other.end_; ++s) {
      visit_words(s, other.filled_[s], [&](std::size_t w) { words_[w] |= other.words_[w]; });
      filled_[s] |= other.filled_[s];
    }
    begin_ = std::min(begin_, other.begin_);
    end_ = std::max(end_, other.end_);
    return *this;
  }

  NodeSet& operator-=(const NodeSet& other) {
    for (std::size_t s = std::max(begin_, other.begin_); s < std::min(end_, other.end_); ++s)
      visit_words(s, filled_[s] & other.filled_[s],
                  [&](std::size_t w) { words_[w] &= ~other.words_[w]; });
    return *this;
  }

  // Calls `visit(row)` in ascending order. `visit` may erase the row it is given.
  template <typename Visit>
  void for_each(Visit visit) const {
    for_each_word([&](std::size_t word, std::uint64_t bits) { visit_bits(word, bits, visit); });
  }
  // The same for rows in both sets.
  template <typename Visit>
  static void for_each_common(const NodeSet& a, const NodeSet& b, Visit visit) {
    for (std::size_t s = std::max(a.begin_, b.begin_); s < std::min(a.end_, b.end_); ++s)
      for (std::uint64_t rest = a.filled_[s] & b.filled_[s]; rest != 0; rest &= rest - 1) {
        const std::size_t word = first_of(s, rest);
        visit_bits(word, a.words_[word] & b.words_[word], visit);
      }
  }

  // For kernels: `visit(word, bits)` for the words that have rows, in ascending order. Bit i of a
  // word is row 64 * word + i. `visit` may erase these rows.
  template <typename Visit>
  void for_each_word(Visit visit) const {
    for (std::size_t s = begin_; s < end_; ++s)
      for (std::uint64_t rest = filled_[s]; rest != 0; rest &= rest - 1) {
        const std::size_t word = first_of(s, rest);
        if (words_[word] != 0) visit(word, words_[word]);
      }
  }
  // How many rows a word has. std::popcount is a call into a library on the machines we build for;
  // this becomes vector code.
  static std::size_t rows_in(std::uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555;
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<std::size_t>((bits * 0x0101010101010101) >> 56);
  }
  // Keeps those rows of a word that `mask` names.
  void keep(std::size_t word, std::uint64_t mask) { words_[word] &= mask; }

  friend bool operator==(const NodeSet& a, const NodeSet& b) { return a.words_ == b.words_; }

 private:
  static std::uint64_t bit(std::size_t at) { return std::uint64_t{1} << (at % kFan); }
  // The row of a word, or the word of a span, that is the lowest bit.
  static std::size_t first_of(std::size_t part, std::uint64_t bits) {
    return part * kFan + static_cast<std::size_t>(std::countr_zero(bits));
  }
  // Those words of a span that have a bit in `words`. Full spans, and full words below, are the
  // rule where it counts; a plain loop over them can become vector code.
  template <typename Visit>
  static void visit_words(std::size_t span, std::uint64_t words, Visit visit) {
    if (words == ~std::uint64_t{0}) {
      for (std::size_t i = 0; i < kFan; ++i) visit(span * kFan + i);
      return;
    }
    for (; words != 0; words &= words - 1) visit(first_of(span, words));
  }
  template <typename Visit>
  static void visit_bits(std::size_t word, std::uint64_t rest, Visit& visit) {
    const NodeRow first = static_cast<NodeRow>(word * kFan);
    if (rest == ~std::uint64_t{0}) {
      if (first > kNoRow - kFan) std::unreachable();  // numbers of rows do not wrap around
      for (NodeRow i = 0; i < kFan; ++i) visit(first + i);
      return;
    }
    for (; rest != 0; rest &= rest - 1) visit(static_cast<NodeRow>(first_of(word, rest)));
  }

  static constexpr std::size_t kFan = 64;  // rows a word, words a span
  static constexpr std::size_t kNoSpan = ~std::size_t{0};

  std::vector<std::uint64_t> words_;
  // One bit per word of words_: 0 means that the word is empty, 1 that it may not be.
  std::vector<std::uint64_t> filled_;
  std::size_t begin_ = kNoSpan;  // no row is in a span before this one
  std::size_t end_ = 0;          // nor in this one or a later one
};

}  // namespace berth
