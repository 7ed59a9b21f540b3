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

#include "base/hash_index.h"
#include "framework/queued_pod.h"
#include "queue/scheduling_queue.h"

namespace berth {

using Slot = HashIndex::Slot;
inline constexpr Slot kNoSlot = HashIndex::kNone;

struct QueueEntry {
  QueuedPod queued;  // without a pod: the slot is free
  QueuePlace place = QueuePlace::kNowhere;
  // Among the unschedulable: which class, where in it, and after how many long moves it came.
  std::uint32_t pod_class = 0;
  std::uint32_t position = 0;
  std::uint32_t moves_before = 0;

  const Pod& pod() const { return *queued.pod; }
};

class Entries {
 public:
  QueueEntry& operator[](Slot slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const QueueEntry& operator[](Slot slot) const { return chunks_[slot / kChunk][slot % kChunk]; }
  std::size_t size() const { return by_name_.size(); }

  // Every entry's slot is below this.
  Slot slots() const { return used_; }
  bool used(Slot slot) const { return static_cast<bool>((*this)[slot].queued.pod); }

  // kNoSlot when there is no pod of that namespace and name.
  Slot find(const Pod& pod) const;

  // Of a pod whose namespace and name no other entry has.
  Slot insert(QueuedPod queued);
  // The entry's pod, which is no longer here afterwards.
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

  std::vector<std::unique_ptr<QueueEntry[]>> chunks_;
  std::vector<Slot> free_;
  Slot used_ = 0;  // slots from here on have never been used
  HashIndex by_name_;
};

}  // namespace berth
