// Gating: PreEnqueue plugins decide whether a pod may enter the queue at all (core.md §5.8).
#pragma once

#include <vector>

#include "berth/measurements.h"
#include "berth/observer.h"
#include "berth/plugin.h"
#include "berth/queued_pod.h"
#include "queue/hints.h"

namespace berth {

class Gating {
 public:
  Gating(const Hints& hints, Observer& observer);
  // After the profiles of the hints are set.
  void measure_profiles();

  // Runs the profile's PreEnqueue plugins, beginning with the one that gates the pod now, until one
  // refuses. Sets the gating plugin, which is added to the rejectors, or clears it if all admit the
  // pod.
  void run_pre_enqueue_plugins(QueuedPod& queued) const;

 private:
  const PreEnqueuePlugin* find_refusing_plugin(const QueuedPod& queued,
                                               std::uint32_t profile) const;
  bool run_pre_enqueue_plugin(const PreEnqueuePlugin& plugin, const Pod& pod) const;

  const Hints& hints_;
  Observer& observer_;
  Observer* measured_;
  std::vector<ProfileMeasurements*> profiles_;  // when measured
};

}  // namespace berth
