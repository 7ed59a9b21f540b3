// Entries: the pods of the queue, wherever in it they are, found by namespace and name.
//
// An entry lives in a slot, a small number by which the heaps and lists of the queue know it, and
// does not move while it is there. Slots are reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "framework/queued_pod.h"
#include "queue/scheduling_queue.h"

namespace berth {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

struct QueueEntry {
  QueuedPod queued;  // without a pod: the slot is free
  QueuePlace place = QueuePlace::kNowhere;
  // Among the unschedulable: which group, and where in it.
  std::uint32_t group = 0;
  std::uint32_t position = 0;

  const Pod& pod() const { return *queued.pod; }
};

class Entries {
 public:
  QueueEntry& operator[](Slot slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const QueueEntry& operator[](Slot slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  std::size_t size() const { return size_; }

  // kNoSlot when there is no pod of that namespace and name.
  Slot find(const Pod& pod) const;

  // Of a pod whose namespace and name no other entry has.
  Slot insert(QueuedPod queued);
  // The entry's pod, which is no longer here afterwards.
  QueuedPod take(Slot slot);

  template <typename Visit>
  void for_each(Visit visit) const {
    for (Slot slot = 0; slot < used_; ++slot)
      if ((*this)[slot].queued.pod) visit(slot);
  }

 private:
  static constexpr std::size_t kChunk = 1024;

  // The index by name: open addressing, linear probing, at most two thirds full. The hash is kept
  // in the cell, so that probing and growing do not visit the pods.
  struct Cell {
    std::uint32_t hash = 0;
    Slot slot = kNoSlot;
  };
  static std::uint32_t hash_of(const Pod& pod);
  bool same_name(Slot slot, const Pod& pod) const;
  std::size_t home(std::uint32_t hash) const { return hash & (cells_.size() - 1); }
  std::size_t next(std::size_t cell) const { return (cell + 1) & (cells_.size() - 1); }
  void place(Cell cell);
  void grow();
  void unplace(Slot slot);

  std::vector<std::unique_ptr<QueueEntry[]>> chunks_;
  std::vector<Slot> free_;
  Slot used_ = 0;  // slots from here on have never been used
  std::size_t size_ = 0;
  std::vector<Cell> cells_;  // a power of two
};

}  // namespace berth
