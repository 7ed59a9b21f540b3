// Attempt: one attempt to schedule a pod, from the pop to the end of its binding.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "berth/cycle.h"
#include "berth/loop.h"
#include "berth/queued_pod.h"
#include "framework/framework.h"

namespace berth {

struct Attempt {
  Attempt(QueuedPod popped, const Framework& profile, const Cluster& cluster)
      : queued(std::move(popped)), framework(profile), cycle(queued.pod, cluster) {}

  const Pod& pod() const { return *queued.pod; }
  // Records the outcome of a step of the binding cycle.
  void end_with(Outcome outcome) {
    if (!outcome.ok()) failure = std::make_unique<Outcome>(std::move(outcome));
  }

  QueuedPod queued;
  const Framework& framework;
  Cycle cycle;
  TimePoint started;                 // when measured: of the scheduling cycle
  std::optional<TimePoint> held;     // since when the pod waits on Permit; nullopt: it does not
  bool wait_is_over = false;         // it was let go before its binding cycle began
  std::string node;                  // where the pod is assumed; empty before
  bool has_pre_bind_work = true;     // of the binding cycle: what the preflight found
  std::unique_ptr<Outcome> failure;  // of the binding cycle: what ended it
};

}  // namespace berth
