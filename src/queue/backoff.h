// Backoff: how long a pod that failed has to wait, and the pods that are waiting (core.md §5.2).
//
// Two heaps by the end of the wait: pods that plugins rejected, whose head may be popped early when
// the active queue is empty, and pods whose attempt ended in an error, which always wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/indexed_heap.h"
#include "berth/loop.h"
#include "queue/entries.h"
#include "queue/pod_order.h"

namespace berth {

struct QueueOptions {
  Duration initial_backoff = std::chrono::seconds(1);
  Duration max_backoff = std::chrono::seconds(10);
  Duration max_unschedulable = std::chrono::minutes(5);
  bool pop_from_backoff = true;  // gate SchedulerPopFromBackoffQ
  // Calls hints of HintScope::kClass for every pod of a class, too, and compares (hint_difference).
  bool verify_hints = false;
};

// initial · 2^(count-1), at most max, without overflow.
Duration backoff_duration(Duration initial, Duration max, std::int32_t count);

class BackoffQueue {
 public:
  BackoffQueue(Entries& entries, const PodOrder& order, const QueueOptions& options);

  // A pod whose wait ends in the current second is still backing off.
  bool backing_off(QueuedPod& queued, WallTime now) const {
    return backing_off(queued, now, options_.max_backoff);
  }
  // The same, with another limit: the wait is computed here if it was not before.
  bool backing_off(QueuedPod& queued, WallTime now, Duration longest) const;

  // The entry is in no other queue. With rejectors it goes to the first heap, without to the
  // second.
  void push(Slot slot);
  void remove(Slot slot);
  void fix(Slot slot);  // after its pod changed

  // The pod that may be popped early.
  bool has_rejected() const { return !rejected_.empty(); }
  Slot first_rejected() const { return rejected_.top(); }

  // Takes out up to `most` pods whose wait is over, rejected pods first.
  void take_completed(WallTime now, std::size_t most, std::vector<Slot>& completed);

  std::size_t size() const { return rejected_.size() + errors_.size(); }
  bool empty() const { return size() == 0; }
  // After its timestamp changed: its wait is counted from the new one.
  void restart(Slot slot);

 private:
  struct ByEnd {
    const BackoffQueue* queue;
    bool then_by_order;
    bool operator()(Slot a, Slot b) const;
  };
  using Heap = IndexedHeap<ByEnd>;

  WallTime end_of(QueuedPod& queued) const { return end_of(queued, options_.max_backoff); }
  WallTime end_of(QueuedPod& queued, Duration longest) const;
  // With popping from backoff, waits end at whole seconds, so that QueueSort decides within one.
  WallTime aligned(WallTime time) const;
  Heap& heap_of(Slot slot);

  Entries& entries_;
  const PodOrder& order_;
  const QueueOptions& options_;
  Heap rejected_;
  Heap errors_;
};

}  // namespace berth
