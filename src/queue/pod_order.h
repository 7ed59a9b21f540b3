// PodOrder: who is tried first. The QueueSort plugin decides; among pods that it holds equal, the
// one that came earlier. A plugin that throws has no opinion.
#pragma once

#include "framework/observer.h"
#include "framework/plugin.h"
#include "framework/queued_pod.h"

namespace berth {

class PodOrder {
 public:
  PodOrder(const QueueSortPlugin& sort, Observer& observer) : sort_(sort), observer_(observer) {}

  bool before(const QueuedPod& a, const QueuedPod& b) const {
    if (less(a, b)) return true;
    return a.sequence < b.sequence && !less(b, a);
  }

 private:
  // An exception in the middle of a heap's repair would leave the heap broken.
  bool less(const QueuedPod& a, const QueuedPod& b) const noexcept;

  const QueueSortPlugin& sort_;
  Observer& observer_;
};

}  // namespace berth
