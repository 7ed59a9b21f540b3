// unstable_sort: sorts by swapping, and leaves elements that compare equal (or that do not even
// compare consistently) in the very order in which Go's sort.Slice leaves them.
//
// Which of several equally important pods is evicted follows from that order, so it is part of
// upstream's decisions. The method is pattern-defeating quicksort: insertion sort for short ranges,
// a median as pivot, a bounded attempt at ranges that seem sorted already, elements equal to the
// pivot set apart, three swaps to break a pattern after a lopsided split, and heap sort when the
// splits stay bad. Every threshold below is observable in the result.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace berth {

template <typename T, typename Less>
class UnstableSort {
 public:
  UnstableSort(std::span<T> elements, Less less) : elements_(elements), less_(std::move(less)) {}

  void run() {
    quick(0, static_cast<Index>(elements_.size()),
          static_cast<int>(std::bit_width(elements_.size())));
  }

 private:
  using Index = std::ptrdiff_t;
  enum class Looks : std::uint8_t { kAscending, kDescending, kUnknown };
  struct Pivot {
    Index at;
    Looks looks;
  };
  struct Split {
    Index at;
    bool was_partitioned;  // nothing had to be swapped
  };

  static constexpr Index kInsertionLength = 12;
  static constexpr Index kNintherLength = 50;
  static constexpr Index kRepairLength = 50;
  static constexpr int kRepairs = 5;
  static constexpr int kAllSwapped = 12;  // every comparison of a ninther

  T& at(Index index) { return elements_[static_cast<std::size_t>(index)]; }
  bool less(Index a, Index b) { return less_(at(a), at(b)); }
  void swap(Index a, Index b) { std::swap(at(a), at(b)); }

  // The range [first, end); `patience` is how many lopsided splits are put up with.
  void quick(Index first, Index end, int patience) {
    bool balanced = true;
    bool partitioned = true;
    while (end - first > kInsertionLength) {
      if (patience == 0) return heap(first, end);
      const Index length = end - first;
      if (!balanced) {
        break_pattern(first, end);
        --patience;
      }
      Pivot pivot = choose(first, end);
      if (pivot.looks == Looks::kDescending) {
        for (Index i = first, j = end - 1; i < j; ++i, --j) swap(i, j);
        pivot = {end - 1 - (pivot.at - first), Looks::kAscending};
      }
      if (balanced && partitioned && pivot.looks == Looks::kAscending && repair(first, end)) return;
      // Not above what stands before the range: so it is the range's lowest, and maybe not alone.
      if (first > 0 && !less(first - 1, pivot.at)) {
        first = split_off_equal(first, end, pivot.at);
        continue;
      }
      const Split split = partition(first, end, pivot.at);
      partitioned = split.was_partitioned;
      const Index left = split.at - first, right = end - split.at;
      balanced = std::min(left, right) >= length / 8;
      if (left < right) {
        quick(first, split.at, patience);
        first = split.at + 1;
      } else {
        quick(split.at + 1, end, patience);
        end = split.at;
      }
    }
    for (Index i = first + 1; i < end; ++i)
      for (Index j = i; j > first && less(j, j - 1); --j) swap(j, j - 1);
  }

  Split partition(Index first, Index end, Index pivot) {
    swap(first, pivot);
    Index i = first + 1, j = end - 1;
    const auto close_in = [&] {
      while (i <= j && less(i, first)) ++i;
      while (i <= j && !less(j, first)) --j;
      return i <= j;
    };
    bool swapped = false;
    while (close_in()) {
      swap(i++, j--);
      swapped = true;
    }
    swap(j, first);
    return {j, !swapped};
  }

  // Moves the elements equal to the pivot to the front; returns where the rest begins.
  Index split_off_equal(Index first, Index end, Index pivot) {
    swap(first, pivot);
    Index i = first + 1, j = end - 1;
    while (true) {
      while (i <= j && !less(first, i)) ++i;
      while (i <= j && less(first, j)) --j;
      if (i > j) return i;
      swap(i++, j--);
    }
  }

  // Whether the range could be sorted by moving a few elements.
  bool repair(Index first, Index end) {
    Index i = first + 1;
    for (int step = 0; step < kRepairs; ++step) {
      while (i < end && !less(i, i - 1)) ++i;
      if (i == end) return true;
      if (end - first < kRepairLength) return false;
      swap(i, i - 1);
      if (i - first >= 2)
        for (Index j = i - 1; j >= 1 && less(j, j - 1); --j) swap(j, j - 1);
      if (end - i >= 2)
        for (Index j = i + 1; j < end && less(j, j - 1); ++j) swap(j, j - 1);
    }
    return false;
  }

  Pivot choose(Index first, Index end) {
    const Index quarter = (end - first) / 4;
    int swaps = 0;
    Index a = first + quarter, b = first + 2 * quarter, c = first + 3 * quarter;
    if (end - first >= kNintherLength) {
      a = median(a - 1, a, a + 1, swaps);
      b = median(b - 1, b, b + 1, swaps);
      c = median(c - 1, c, c + 1, swaps);
    }
    b = median(a, b, c, swaps);
    if (swaps == 0) return {b, Looks::kAscending};
    return {b, swaps == kAllSwapped ? Looks::kDescending : Looks::kUnknown};
  }

  Index median(Index a, Index b, Index c, int& swaps) {
    order(a, b, swaps);
    order(b, c, swaps);
    order(a, b, swaps);
    return b;
  }
  void order(Index& a, Index& b, int& swaps) {
    if (!less(b, a)) return;
    std::swap(a, b);
    ++swaps;
  }

  // Three elements around the middle change places with drawn ones; the draw follows from the
  // length.
  void break_pattern(Index first, Index end) {
    const auto length = static_cast<std::uint64_t>(end - first);
    const std::uint64_t mask = (std::uint64_t{1} << std::bit_width(length)) - 1;
    std::uint64_t draw = length;
    const Index middle = first + (end - first) / 4 * 2;
    for (Index i = -1; i <= 1; ++i) {
      draw ^= draw << 13;
      draw ^= draw >> 7;
      draw ^= draw << 17;
      std::uint64_t other = draw & mask;
      if (other >= length) other -= length;
      swap(middle + i, first + static_cast<Index>(other));
    }
  }

  void heap(Index first, Index end) {
    const Index length = end - first;
    for (Index i = (length - 1) / 2; i >= 0; --i) sift_down(i, length, first);
    for (Index i = length - 1; i >= 0; --i) {
      swap(first, first + i);
      sift_down(0, i, first);
    }
  }
  void sift_down(Index root, Index length, Index first) {
    while (2 * root + 1 < length) {
      Index child = 2 * root + 1;
      if (child + 1 < length && less(first + child, first + child + 1)) ++child;
      if (!less(first + root, first + child)) return;
      swap(first + root, first + child);
      root = child;
    }
  }

  std::span<T> elements_;
  Less less_;
};

template <typename T, typename Less>
void unstable_sort(std::span<T> elements, Less less) {
  UnstableSort<T, Less>(elements, std::move(less)).run();
}

}  // namespace berth
