#include "search/score_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/vector_clones.h"

namespace berth {
namespace {

constexpr std::size_t kBlockRows = 64;

// Of a block's scores, as vector code: the highest, and how many there are of one.
BERTH_VECTOR_CLONES std::int32_t highest_in_block(const std::int32_t* scores) {
  std::int32_t highest = scores[0];
  for (std::size_t i = 1; i < kBlockRows; ++i) highest = std::max(highest, scores[i]);
  return highest;
}

BERTH_VECTOR_CLONES std::uint32_t count_in_block(const std::int32_t* scores, std::int32_t score) {
  std::uint32_t rows = 0;
  for (std::size_t i = 0; i < kBlockRows; ++i) rows += scores[i] == score ? 1U : 0U;
  return rows;
}

ScoreTree::Best best_of(std::span<const ScoreTree::Best> parts) {
  ScoreTree::Best best;
  for (const ScoreTree::Best& part : parts) best.score = std::max(best.score, part.score);
  if (best.score == ScoreTree::kNone) return best;
  for (const ScoreTree::Best& part : parts) best.rows += part.score == best.score ? part.rows : 0;
  return best;
}

}  // namespace

void ScoreTree::assign(std::vector<Group> group_by_row, std::size_t groups,
                       std::span<const std::int32_t> scores) {
  BERTH_CHECK(groups <= kMaxGroups && group_by_row.size() == scores.size());
  blocks_ = (scores.size() + kFan - 1) / kFan;
  supers_ = (blocks_ + kFan - 1) / kFan;
  scores_.assign(blocks_ * kFan, kNone);
  std::ranges::copy(scores, scores_.begin());
  group_by_row_ = std::move(group_by_row);
  group_by_row_.resize(blocks_ * kFan);
  by_block_.assign(groups * blocks_, {});
  by_super_.assign(groups * supers_, {});
  tops_.assign(groups, {});
  scored_.assign(groups, 0);
  if (groups == 1) {
    // Most classes: block by block, which is vector code.
    for (std::size_t block = 0; block < blocks_; ++block) by_block_[block] = of_rows(block);
    scored_[0] = static_cast<std::uint32_t>(scores_.size()) -
                 static_cast<std::uint32_t>(std::ranges::count(scores_, kNone));
  } else {
    for (std::size_t row = 0; row < scores_.size(); ++row) {
      const std::int32_t score = scores_[row];
      if (score == kNone) continue;
      ++scored_[group_by_row_[row]];
      Best& best = by_block_[at_block(group_by_row_[row], row / kFan)];
      if (score > best.score) best = {score, 0};
      if (score == best.score) ++best.rows;
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    const Group group = static_cast<Group>(g);
    for (std::size_t super = 0; super < supers_; ++super)
      by_super_[at_super(group, super)] = of_blocks(group, super);
    tops_[g] = of_supers(group);
  }
}

void ScoreTree::set(NodeRow row, std::int32_t score) {
  const std::int32_t before = scores_[row];
  if (before == score) return;
  const Group group = group_by_row_[row];
  scores_[row] = score;
  if (before == kNone) ++scored_[group];
  if (score == kNone) --scored_[group];
  const std::size_t number = row / kFan, above = number / kFan;
  Best& block = by_block_[at_block(group, number)];
  const Best block_before = block;
  if (replace(block, {before, 1}, {score, 1})) block = of_rows(group, number);
  Best& super = by_super_[at_super(group, above)];
  const Best super_before = super;
  if (replace(super, block_before, block)) super = of_blocks(group, above);
  if (replace(tops_[group], super_before, super)) tops_[group] = of_supers(group);
}

void ScoreTree::set(const NodeSet& rows, std::span<const std::int32_t> scores) {
  constexpr std::size_t kFew = 8;  // rows: every level is computed anew for more
  if (rows.count() < kFew) {
    rows.for_each([&](NodeRow row) { set(row, scores[row]); });
    return;
  }
  BERTH_CHECK(groups() == 1);
  constexpr std::size_t kNoSuper = ~std::size_t{0};
  std::size_t last = kNoSuper;
  const auto finish_super = [&] {
    if (last != kNoSuper) by_super_[last] = of_blocks(0, last);
  };
  rows.for_each_word([&](std::size_t block, std::uint64_t bits) {
    if (block / kFan != last) finish_super();
    last = block / kFan;
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t row = block * kFan + static_cast<std::size_t>(std::countr_zero(bits));
      if (scores_[row] == kNone) ++scored_[0];
      if (scores[row] == kNone) --scored_[0];
      scores_[row] = scores[row];
    }
    by_block_[block] = of_rows(block);
  });
  finish_super();
  tops_[0] = of_supers(0);
}

bool ScoreTree::replace(Best& whole, const Best& before, const Best& after) {
  if (before.score == after.score && before.rows == after.rows) return false;
  if (before.score != kNone && before.score == whole.score) whole.rows -= before.rows;
  if (after.score != kNone && after.score > whole.score)
    whole = after;
  else if (after.score != kNone && after.score == whole.score)
    whole.rows += after.rows;
  return whole.rows == 0 && whole.score != kNone;
}

void ScoreTree::move(NodeRow row, Group group, std::int32_t score) {
  if (group_by_row_[row] != group) {
    set(row, kNone);
    group_by_row_[row] = group;
  }
  set(row, score);
}

ScoreTree::Group ScoreTree::add_group() {
  const auto group = static_cast<Group>(tops_.size());
  BERTH_CHECK(tops_.size() < kMaxGroups);
  by_block_.resize(by_block_.size() + blocks_);
  by_super_.resize(by_super_.size() + supers_);
  tops_.emplace_back();
  scored_.push_back(0);
  return group;
}

ScoreTree::Best ScoreTree::of_rows(Group group, std::size_t block) const {
  // Reads every row of the block and masks those of other groups: vector code.
  const std::int32_t* const scores = &scores_[block * kFan];
  const Group* const groups = &group_by_row_[block * kFan];
  Best best;
  for (std::size_t i = 0; i < kFan; ++i)
    best.score = std::max(best.score, groups[i] == group ? scores[i] : kNone);
  if (best.score == kNone) return best;
  for (std::size_t i = 0; i < kFan; ++i)
    best.rows += groups[i] == group && scores[i] == best.score ? 1U : 0U;
  return best;
}

ScoreTree::Best ScoreTree::of_rows(std::size_t block) const {
  static_assert(kBlockRows == kFan);
  const std::int32_t* const scores = &scores_[block * kFan];
  const std::int32_t highest = highest_in_block(scores);
  if (highest == kNone) return {};
  return {highest, count_in_block(scores, highest)};
}

ScoreTree::Best ScoreTree::of_blocks(Group group, std::size_t super) const {
  const std::size_t first = super * kFan;
  return best_of(
      std::span(by_block_).subspan(at_block(group, first), std::min(kFan, blocks_ - first)));
}

ScoreTree::Best ScoreTree::of_supers(Group group) const {
  return best_of(std::span(by_super_).subspan(at_super(group, 0), supers_));
}

NodeRow ScoreTree::nth_best(std::span<const Group> groups, std::uint64_t n) const {
  // Descends the tree, skipping the parts before the n-th.
  const auto skip_to = [&](std::size_t from, std::size_t to, auto rows_in) {
    for (std::size_t part = from; part < to; ++part) {
      std::uint64_t here = 0;
      for (const Group group : groups) here += rows_in(group, part);
      if (n < here) return part;
      n -= here;
    }
    BERTH_CHECK(false);
    return to;
  };
  const auto reaching = [&](Group group, const Best& part) {
    return part.score == tops_[group].score ? part.rows : 0U;
  };
  const std::size_t super = skip_to(0, supers_, [&](Group group, std::size_t part) {
    return reaching(group, by_super_[at_super(group, part)]);
  });
  const std::size_t block = skip_to(super * kFan, std::min((super + 1) * kFan, blocks_),
                                    [&](Group group, std::size_t part) {
                                      return reaching(group, by_block_[at_block(group, part)]);
                                    });
  return static_cast<NodeRow>(
      skip_to(block * kFan, (block + 1) * kFan, [&](Group group, std::size_t row) {
        return group_by_row_[row] == group && scores_[row] == tops_[group].score ? 1U : 0U;
      }));
}

std::size_t ScoreTree::bytes() const {
  return scores_.capacity() * sizeof(std::int32_t) + group_by_row_.capacity() * sizeof(Group) +
         (by_block_.capacity() + by_super_.capacity() + tops_.capacity()) * sizeof(Best);
}

}  // namespace berth
