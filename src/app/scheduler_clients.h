// The clients of a scheduler: one API server under several names, each with a limit of its own, so
// that a binding never waits behind an event, nor the lease behind either (shell.md §6.1).
#pragma once

#include "app/scheduler_setup.h"
#include "kube/http_api_client.h"
#include "kube/write_gate.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::app {

struct SchedulerClients {
  // `gate` is for what the main client writes. All that is referred to outlives them.
  SchedulerClients(const SchedulerSetup& setup, const SchedulerHost& host, kube::WriteGate* gate,
                   const telemetry::Log& log, telemetry::ClientMetrics& metrics);

  kube::HttpApiClient main;  // lists, watches, bindings, statuses, deletions
  kube::HttpApiClient events;
  kube::HttpApiClient lease;  // on the election's loop
};

}  // namespace berth::app
