// Attempt: one pod's try, from the pop to the end of its binding.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/loop.h"
#include "framework/cycle.h"
#include "framework/framework.h"
#include "framework/queued_pod.h"

namespace berth {

struct Attempt {
  Attempt(QueuedPod popped, const Framework& profile, const Cluster& cluster)
      : queued(std::move(popped)), framework(profile), cycle(queued.pod, cluster) {}

  const Pod& pod() const { return *queued.pod; }
  // A step of the binding cycle has come to this.
  void end_with(Outcome outcome) {
    if (!outcome.ok()) failure = std::make_unique<Outcome>(std::move(outcome));
  }

  QueuedPod queued;
  const Framework& framework;
  Cycle cycle;
  TimePoint started;                 // when measured: of the scheduling cycle
  std::optional<TimePoint> held;     // since when Permit holds it; absent: it let it go
  std::string node;                  // where the pod is assumed; empty before
  bool has_pre_bind_work = true;     // of the binding cycle: what the preflight found
  std::unique_ptr<Outcome> failure;  // of the binding cycle: what ended it
};

}  // namespace berth
