// The scheduler against a real API server: clients, informers, leader election, HTTPS, signals, in
// upstream's order of work (shell.md §1.4, steps 7 to 11), until it is told to stop or loses the
// lease.
#pragma once

#include "api/interner.h"
#include "base/loop.h"
#include "base/result.h"
#include "config/configuration.h"
#include "config/flags/command.h"
#include "kube/client_config.h"
#include "telemetry/log.h"

namespace berth::app {

// All that the command line, the files and the environment say.
struct SchedulerSetup {
  config::SchedulerCommand command;
  config::Configuration configuration;
  kube::ClientConfig client;
};

// Makes the calling thread the world and returns when the scheduler is done: the exit code, or why
// the command failed (shell.md §1.6). `interner` is the one that the configuration was read with.
Result<int> run_scheduler_process(SchedulerSetup setup, RealLoop& loop, Interner& interner,
                                  telemetry::Log log);

}  // namespace berth::app
