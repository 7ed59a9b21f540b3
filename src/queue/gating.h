// Gating: PreEnqueue plugins decide whether a pod may enter the queue at all (core.md §5.8).
#pragma once

#include <vector>

#include "framework/measurements.h"
#include "framework/observer.h"
#include "framework/plugin.h"
#include "framework/queued_pod.h"
#include "queue/hints.h"

namespace berth {

class Gating {
 public:
  Gating(const Hints& hints, Observer& observer);

  // Asks the profile's plugins, the one that gates the pod now first, until one refuses. Afterwards
  // queued.gated() is the answer, and who refused is among the rejectors.
  void judge(QueuedPod& queued) const;

 private:
  const PreEnqueuePlugin* who_refuses(const QueuedPod& queued, std::uint32_t profile) const;
  bool admits(const PreEnqueuePlugin& plugin, const Pod& pod) const;

  const Hints& hints_;
  Observer& observer_;
  Measurements* measured_;
  std::vector<ProfileMeasurements*> profiles_;  // when measured
};

}  // namespace berth
