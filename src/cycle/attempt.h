// Attempt: one pod's try, from the pop to the end of its binding.
#pragma once

#include <string>
#include <utility>

#include "base/loop.h"
#include "framework/cycle.h"
#include "framework/framework.h"
#include "framework/queued_pod.h"

namespace berth {

struct Attempt {
  Attempt(QueuedPod popped, const Framework& profile, const Cluster& cluster, TimePoint now)
      : queued(std::move(popped)), framework(profile), cycle(queued.pod, cluster), started(now) {}

  const Pod& pod() const { return *queued.pod; }

  QueuedPod queued;
  const Framework& framework;
  Cycle cycle;
  TimePoint started;
  TimePoint permitted;  // when Permit let it go, or began to hold it
  std::string node;  // where the pod is assumed; empty before
};

}  // namespace berth
