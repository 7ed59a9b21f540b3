// The metrics of the whole program in one registry: what /metrics shows (shell.md §3). The
// scheduler's own come from MetricsObserver, into the same registry.
#pragma once

#include "config/flags/scheduler_options.h"
#include "telemetry/metrics.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::app {

struct ProgramMetrics {
  // With those that never change filled in: versions, feature gates.
  explicit ProgramMetrics(const config::SchedulerOptions& options);

  telemetry::Registry registry;
  telemetry::ClientMetrics client;
  telemetry::WatchMetrics watch;
  telemetry::WorkQueueMetrics work_queues;
  telemetry::LeaderElectionMetrics leader_election;
  telemetry::ServingMetrics serving;
  telemetry::ProcessInfoMetrics info;
};

}  // namespace berth::app
