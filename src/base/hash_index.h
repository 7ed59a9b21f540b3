// HashIndex: finds small numbers (slots) by a hash of what the caller keeps under them.
//
// Open addressing with linear probing, at most two thirds full and, if it is large, at least an
// eighth. The hash stands beside the slot, so that neither probing nor growing visits what the
// slots stand for: a table of a million grows in milliseconds. The caller compares entries of equal
// hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth {

class HashIndex {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot kNone = ~Slot{0};

  std::size_t size() const { return size_; }

  // The first slot of that hash for which `is_it` holds; kNone when there is none.
  template <typename IsIt>
  Slot find(std::uint32_t hash, IsIt is_it) const {
    if (size_ == 0) return kNone;
    for (std::size_t cell = home(hash); cells_[cell].slot != kNone; cell = next(cell))
      if (cells_[cell].hash == hash && is_it(cells_[cell].slot)) return cells_[cell].slot;
    return kNone;
  }

  void insert(std::uint32_t hash, Slot slot) {
    if ((size_ + 1) * 3 > cells_.size() * 2) resize(cells_.empty() ? 16 : cells_.size() * 2);
    place({hash, slot});
    ++size_;
  }

  // The slot is there, with that hash.
  void erase(std::uint32_t hash, Slot slot) {
    std::size_t hole = home(hash);
    while (cells_[hole].slot != slot) {
      BERTH_CHECK(cells_[hole].slot != kNone);
      hole = next(hole);
    }
    // Entries that were pushed past the hole move back into it, so that no search ends too early.
    for (std::size_t at = next(hole); cells_[at].slot != kNone; at = next(at)) {
      const std::size_t mask = cells_.size() - 1;
      const std::size_t distance_from_home = (at - home(cells_[at].hash)) & mask;
      const std::size_t distance_from_hole = (at - hole) & mask;
      if (distance_from_home < distance_from_hole) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = Cell{};
    --size_;
    if (cells_.size() > kAlwaysKept && size_ * 8 < cells_.size()) resize(cells_.size() / 2);
  }
  // What is allocated, in slots.
  std::size_t capacity() const { return cells_.size(); }

 private:
  static constexpr std::size_t kAlwaysKept = 1024;

  struct Cell {
    std::uint32_t hash = 0;
    Slot slot = kNone;
  };

  std::size_t home(std::uint32_t hash) const { return hash & (cells_.size() - 1); }
  std::size_t next(std::size_t cell) const { return (cell + 1) & (cells_.size() - 1); }
  void place(Cell cell) {
    std::size_t at = home(cell.hash);
    while (cells_[at].slot != kNone) at = next(at);
    cells_[at] = cell;
  }
  void resize(std::size_t count) {
    std::vector<Cell> before(count);
    std::swap(before, cells_);
    for (const Cell& cell : before)
      if (cell.slot != kNone) place(cell);
  }

  std::size_t size_ = 0;
  std::vector<Cell> cells_;  // a power of two
};

}  // namespace berth
