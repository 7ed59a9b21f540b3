// IndexedHeap: a binary heap of small numbers (slots) that can also find, fix and remove one.
//
// Less(a, b) says that slot a comes out before slot b; it looks at state the caller keeps per slot.
// After that state changed, call fix(slot). Equal elements come out in no particular order, so a
// Less that is a total order gives a deterministic heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth {

template <typename Less>
class IndexedHeap {
 public:
  using Slot = std::uint32_t;

  explicit IndexedHeap(Less less) : less_(std::move(less)) {}

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  bool contains(Slot slot) const { return slot < position_.size() && position_[slot] != kAbsent; }
  Slot top() const { return heap_.front(); }

  // In heap order: good for looking at everything, not for order.
  const std::vector<Slot>& slots() const { return heap_; }

  void push(Slot slot) {
    BERTH_CHECK(!contains(slot));
    if (slot >= position_.size()) position_.resize(slot + 1, kAbsent);
    position_[slot] = static_cast<std::uint32_t>(heap_.size());
    heap_.push_back(slot);
    sift_up(position_[slot]);
  }

  Slot pop() {
    const Slot first = heap_.front();
    remove(first);
    return first;
  }

  // Restores the order after the slot's state changed.
  void fix(Slot slot) { sift_down(sift_up(position_[slot])); }

  void remove(Slot slot) {
    const std::uint32_t hole = position_[slot];
    const Slot last = heap_.back();
    heap_.pop_back();
    position_[slot] = kAbsent;
    if (last == slot) return;
    place(last, hole);
    fix(last);
  }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  void place(Slot slot, std::uint32_t at) {
    heap_[at] = slot;
    position_[slot] = at;
  }

  std::uint32_t sift_up(std::uint32_t at) {
    const Slot slot = heap_[at];
    while (at > 0) {
      const std::uint32_t parent = (at - 1) / 2;
      if (!less_(slot, heap_[parent])) break;
      place(heap_[parent], at);
      at = parent;
    }
    place(slot, at);
    return at;
  }

  void sift_down(std::uint32_t at) {
    const Slot slot = heap_[at];
    for (;;) {
      std::uint32_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && less_(heap_[child + 1], heap_[child])) ++child;
      if (!less_(heap_[child], slot)) break;
      place(heap_[child], at);
      at = child;
    }
    place(slot, at);
  }

  Less less_;
  std::vector<Slot> heap_;
  std::vector<std::uint32_t> position_;  // by slot
};

}  // namespace berth
