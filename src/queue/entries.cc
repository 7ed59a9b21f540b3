#include "queue/entries.h"

#include <functional>
#include <utility>

#include "base/check.h"

namespace berth {

std::uint32_t Entries::hash_of(const Pod& pod) {
  const std::uint64_t name = std::hash<std::string_view>{}(pod.name());
  const std::uint64_t mixed =
      (name ^ std::hash<Symbol>{}(pod.meta().namespace_name)) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::uint32_t>(mixed >> 32);
}

bool Entries::same_name(Slot slot, const Pod& pod) const {
  const Pod& other = (*this)[slot].pod();
  return other.meta().namespace_name == pod.meta().namespace_name && other.name() == pod.name();
}

Slot Entries::find(const Pod& pod) const {
  if (size_ == 0) return kNoSlot;
  const std::uint32_t hash = hash_of(pod);
  for (std::size_t cell = home(hash); cells_[cell].slot != kNoSlot; cell = next(cell))
    if (cells_[cell].hash == hash && same_name(cells_[cell].slot, pod)) return cells_[cell].slot;
  return kNoSlot;
}

Slot Entries::insert(QueuedPod queued) {
  if ((size_ + 1) * 3 > cells_.size() * 2) grow();
  Slot slot = used_;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    if (used_ % kChunk == 0) chunks_.push_back(std::make_unique<QueueEntry[]>(kChunk));
    ++used_;
  }
  QueueEntry& entry = (*this)[slot];
  entry.queued = std::move(queued);
  entry.place = QueuePlace::kNowhere;
  place({hash_of(entry.pod()), slot});
  ++size_;
  return slot;
}

QueuedPod Entries::take(Slot slot) {
  unplace(slot);
  free_.push_back(slot);
  --size_;
  return std::exchange((*this)[slot].queued, QueuedPod{});
}

void Entries::place(Cell cell) {
  std::size_t at = home(cell.hash);
  while (cells_[at].slot != kNoSlot) at = next(at);
  cells_[at] = cell;
}

void Entries::grow() {
  std::vector<Cell> before(cells_.empty() ? 16 : cells_.size() * 2);
  std::swap(before, cells_);
  for (const Cell& cell : before)
    if (cell.slot != kNoSlot) place(cell);
}

void Entries::unplace(Slot slot) {
  std::size_t hole = home(hash_of((*this)[slot].pod()));
  while (cells_[hole].slot != slot) {
    BERTH_CHECK(cells_[hole].slot != kNoSlot);
    hole = next(hole);
  }
  // Whoever was pushed past the hole moves back into it, so that no search ends too early.
  for (std::size_t at = next(hole); cells_[at].slot != kNoSlot; at = next(at)) {
    const std::size_t mask = cells_.size() - 1;
    const std::size_t distance_from_home = (at - home(cells_[at].hash)) & mask;
    const std::size_t distance_from_hole = (at - hole) & mask;
    if (distance_from_home < distance_from_hole) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = Cell{};
}

}  // namespace berth
