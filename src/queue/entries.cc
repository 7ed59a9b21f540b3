#include "queue/entries.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/keyed_hash.h"

namespace berth {

std::uint32_t Entries::hash_of(const Pod& pod) {
  const std::uint64_t name = hash_text(pod.name());
  const std::uint64_t mixed =
      (name ^ std::hash<Symbol>{}(pod.meta().namespace_name)) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::uint32_t>(mixed >> 32);
}

bool Entries::same_name(Slot slot, const Pod& pod) const {
  const Pod& other = (*this)[slot].pod();
  return other.meta().namespace_name == pod.meta().namespace_name && other.name() == pod.name();
}

Slot Entries::find(const Pod& pod) const {
  if (size() == 0) return kNoSlot;
  return by_name_.find(hash_of(pod), [&](Slot slot) { return same_name(slot, pod); });
}

Slot Entries::insert(QueuedPod queued) {
  Slot slot = used_;
  if (!free_.empty()) {
    slot = free_.top();
    free_.pop();
  } else {
    if (used_ % kChunk == 0) chunks_.emplace_back();
    ++used_;
  }
  Chunk& chunk = chunks_[slot / kChunk];
  if (!chunk.entries)
    chunk.entries = std::make_unique<QueueEntry[]>(kChunk);
  else if (chunk.used == 0)
    --spare_;
  ++chunk.used;
  QueueEntry& entry = (*this)[slot];
  entry.queued = std::move(queued);
  entry.place = QueuePlace::kNowhere;
  by_name_.insert(hash_of(entry.pod()), slot);
  return slot;
}

QueuedPod Entries::take(Slot slot) {
  by_name_.erase(hash_of((*this)[slot].pod()), slot);
  free_.push(slot);
  QueuedPod taken = std::exchange((*this)[slot].queued, QueuedPod{});
  Chunk& chunk = chunks_[slot / kChunk];
  if (--chunk.used > 0) return taken;
  // One empty chunk is kept, so that a queue whose length varies around a multiple of kChunk does
  // not allocate each time.
  if (spare_ > 0)
    chunk.entries.reset();
  else
    ++spare_;
  return taken;
}

std::size_t Entries::capacity() const {
  return kChunk * static_cast<std::size_t>(std::ranges::count_if(
                      chunks_, [](const Chunk& chunk) { return chunk.entries != nullptr; }));
}

}  // namespace berth
