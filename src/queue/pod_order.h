// PodOrder: which pod is tried first. The QueueSort plugin decides; of pods that it calls equal, the
// one that entered the queue earlier goes first. A plugin that throws counts as calling them equal.
#pragma once

#include "berth/observer.h"
#include "berth/plugin.h"
#include "berth/queued_pod.h"

namespace berth {

class PodOrder {
 public:
  explicit PodOrder(Observer& observer) : observer_(observer) {}

  // Before the first comparison.
  void set_sort(const QueueSortPlugin& sort) { sort_ = &sort; }

  bool before(const QueuedPod& a, const QueuedPod& b) const {
    if (less(a, b)) return true;
    return a.sequence < b.sequence && !less(b, a);
  }

 private:
  // An exception in the middle of a heap's repair would leave the heap broken.
  bool less(const QueuedPod& a, const QueuedPod& b) const noexcept;

  const QueueSortPlugin* sort_ = nullptr;
  Observer& observer_;
};

}  // namespace berth
