// What a scheduler process is told when it is made: what the user wants of it, and what it takes
// from the machine that it runs on.
#pragma once

#include <cstdint>
#include <string>

#include "berth/loop.h"
#include "berth/observer.h"
#include "berth/plugin_table.h"
#include "config/configuration.h"
#include "config/flags/command.h"
#include "kube/client_config.h"
#include "net/http_client.h"

namespace berth::app {

// All that the command line, the files and the environment say.
struct SchedulerSetup {
  config::SchedulerCommand command;
  config::Configuration configuration;
  kube::ClientConfig client;
  PluginTable plugins;  // that profiles may name
  bool runs_pod_group_controller = false;
};

// Clocks, network and chance: what a simulation replaces. All that is referred to outlives the
// process.
struct SchedulerHost {
  Loop& world;
  Loop& election;  // of the lease's renewal; may be the world's
  std::string name;
  std::uint64_t seed = 0;
  net::MakeHttpTransport transport = {};  // empty: connections to API server and extenders
  Observer* observer = nullptr;           // sees what the scheduler does; null: nobody
};

}  // namespace berth::app
