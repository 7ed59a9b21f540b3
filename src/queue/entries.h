// Entries: all pods of the queue, found by namespace and name.
//
// An entry lives in a slot, a small number by which the heaps and lists of the queue know it, and
// does not move while it is there. Slots are reused, the lowest first, so that a queue that has
// become short frees its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/hash_index.h"
#include "berth/queued_pod.h"

namespace berth {

// Where a pod is.
enum class QueuePlace : std::uint8_t { kNowhere, kActive, kBackoff, kErrorBackoff, kUnschedulable };

using Slot = HashIndex::Slot;
inline constexpr Slot kNoSlot = HashIndex::kNone;

struct QueueEntry {
  QueuedPod queued;  // without a pod: the slot is free
  QueuePlace place = QueuePlace::kNowhere;
  // For an unschedulable pod: its class, its position in the class, and the number of moves in
  // slices that had begun before it was put there.
  std::uint32_t pod_class = 0;
  std::uint32_t position = 0;
  std::uint32_t moves_before = 0;

  const Pod& pod() const { return *queued.pod; }
};

class Entries {
 public:
  // The slot must be in use.
  QueueEntry& operator[](Slot slot) { return chunks_[slot / kChunk].entries[slot % kChunk]; }
  const QueueEntry& operator[](Slot slot) const {
    return chunks_[slot / kChunk].entries[slot % kChunk];
  }
  std::size_t size() const { return by_name_.size(); }

  // Every entry's slot is below this.
  Slot slots() const { return used_; }
  bool used(Slot slot) const { return chunks_[slot / kChunk].entries && (*this)[slot].queued.pod; }
  // How many entries are allocated.
  std::size_t capacity() const;

  // kNoSlot when there is no pod of that namespace and name.
  Slot find(const Pod& pod) const;

  // No other entry has the pod's namespace and name.
  Slot insert(QueuedPod queued);
  // Removes the entry and returns its pod.
  QueuedPod take(Slot slot);

  template <typename Visit>
  void for_each(Visit visit) const {
    for (Slot slot = 0; slot < used_; ++slot)
      if (used(slot)) visit(slot);
  }

 private:
  static constexpr std::size_t kChunk = 1024;

  static std::uint32_t hash_of(const Pod& pod);
  bool same_name(Slot slot, const Pod& pod) const;

  struct Chunk {
    std::unique_ptr<QueueEntry[]> entries;  // null: none of them is used
    std::size_t used = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t spare_ = 0;  // chunks of which nothing is used, but which are allocated
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> free_;
  Slot used_ = 0;  // slots from here on have never been used
  HashIndex by_name_;
};

}  // namespace berth
