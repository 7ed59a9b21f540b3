#include "search/selection.h"

#include <algorithm>
#include <bit>

#include "base/vector_clones.h"

namespace berth {
namespace {

constexpr std::size_t kWord = 64;  // rows
constexpr std::uint64_t kFull = ~std::uint64_t{0};

// Of the rows of a full word, as vector code: their maximum, and how many have a total.
BERTH_VECTOR_CLONES std::int64_t highest_of(const std::int64_t* totals) {
  std::int64_t highest = totals[0];
  for (std::size_t i = 1; i < kWord; ++i) highest = std::max(highest, totals[i]);
  return highest;
}

BERTH_VECTOR_CLONES std::uint64_t rows_with(const std::int64_t* totals, std::int64_t total) {
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < kWord; ++i) rows += totals[i] == total ? 1 : 0;
  return rows;
}

template <typename Visit>
void visit_rows(std::size_t word, std::uint64_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1)
    visit(word * kWord + static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

Maxima find_maxima(const NodeSet& feasible, std::span<const std::int64_t> totals) {
  Maxima maxima;
  feasible.for_each_word([&](std::size_t word, std::uint64_t bits) {
    if (bits != kFull) {
      visit_rows(word, bits, [&](std::size_t row) { maxima.add(totals[row]); });
      return;
    }
    const std::int64_t* const here = &totals[word * kWord];
    if (const std::int64_t highest = highest_of(here); highest >= maxima.total)
      maxima.add(highest, rows_with(here, highest));
  });
  return maxima;
}

Selection select(const NodeSet& feasible, std::span<const std::int64_t> totals, Random& random) {
  const Maxima maxima = find_maxima(feasible, totals);
  std::uint64_t before = maxima.draw(random);  // the one to be chosen
  NodeRow chosen = kNoRow;
  feasible.for_each_word([&](std::size_t word, std::uint64_t bits) {
    if (chosen != kNoRow) return;
    if (bits == kFull) {
      const std::uint64_t here = rows_with(&totals[word * kWord], maxima.total);
      if (here <= before) {
        before -= here;
        return;
      }
    }
    visit_rows(word, bits, [&](std::size_t row) {
      if (totals[row] == maxima.total && before-- == 0) chosen = static_cast<NodeRow>(row);
    });
  });
  return {chosen, maxima.total};
}

}  // namespace berth
