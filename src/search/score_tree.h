// ScoreTree: finds the best rows of each group without visiting all rows.
//
// Rows have a group and, some of them, a score. Maxima and how many rows reach them are kept per
// group over blocks of 64 rows, over 64 such blocks, and over all:
//
//     group        all rows                  best, how many have it
//       ├─ 4,096 rows   4,096 rows   …       the same of these
//       │    ├─ 64 ─ 64 ─ 64 …               the same of these
//       │    │   rows                        score or none
//
// so that a changed row costs one step per level, or 64 where it was the only best one, and reading
// the best of a group costs none. All groups number rows alike, so that the n-th of equally good
// rows does not depend on the groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/node_set.h"

namespace berth {

class ScoreTree {
 public:
  using Group = std::uint8_t;
  static constexpr std::size_t kMaxGroups = 64;
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min();

  struct Best {
    std::int32_t score = kNone;
    std::uint32_t rows = 0;  // with that score
  };

  // By row: group (below `groups`) and score (kNone: none).
  void assign(std::vector<Group> group_by_row, std::size_t groups,
              std::span<const std::int32_t> scores);
  void set(NodeRow row, std::int32_t score);
  // Sets the scores of many rows of a tree with one group, from `scores` by row.
  void set(const NodeSet& rows, std::span<const std::int32_t> scores);
  // Sets the score, and moves the row to another group.
  void move(NodeRow row, Group group, std::int32_t score);
  // Adds an empty group, up to kMaxGroups.
  Group add_group();

  std::size_t groups() const { return tops_.size(); }
  std::size_t rows() const { return scores_.size(); }
  Group group(NodeRow row) const { return group_by_row_[row]; }
  std::span<const std::int32_t> scores() const { return scores_; }
  const Best& best(Group group) const { return tops_[group]; }
  // How many rows of the group have a score.
  std::uint32_t scored(Group group) const { return scored_[group]; }
  // The n-th row, counting from 0 in the order of row numbers, among the best rows of `groups`.
  // There must be more than n.
  NodeRow nth_best(std::span<const Group> groups, std::uint64_t n) const;

  std::size_t bytes() const;

 private:
  static constexpr std::size_t kFan = 64;

  std::size_t at_block(Group group, std::size_t block) const { return group * blocks_ + block; }
  std::size_t at_super(Group group, std::size_t super) const { return group * supers_ + super; }
  Best of_rows(Group group, std::size_t block) const;
  // The same where there is one group.
  Best of_rows(std::size_t block) const;
  Best of_blocks(Group group, std::size_t super) const;
  Best of_supers(Group group) const;
  // A row's score, or the best of a part, has changed: returns whether the whole must be computed
  // again.
  static bool replace(Best& whole, const Best& before, const Best& after);

  std::vector<std::int32_t> scores_;  // by row, filled up to whole blocks
  std::vector<Group> group_by_row_;
  std::size_t blocks_ = 0, supers_ = 0;
  std::vector<Best> by_block_, by_super_, tops_;
  std::vector<std::uint32_t> scored_;
};

}  // namespace berth
