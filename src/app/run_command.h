// `berth run`: a whole cluster in one process. The embedded API server, the scheduler on the same
// loop, and nodes on which pods "start" when they are bound; with --demo also something to watch.
#pragma once

#include <iosfwd>
#include <string>

#include "app/embedded_server.h"
#include "berth/plugin_table.h"
#include "berth/result.h"

namespace berth::app {

struct RunOptions {
  EmbeddedServerOptions server;
  std::string config;
  std::string feature_gates;
  bool demo = false;
  bool exit_when_idle = false;
  int verbosity = 0;
};

// Until SIGINT or SIGTERM, or until nothing is left to do if that was asked for. `plugins` are those
// that profiles may name.
Result<void> run_cluster(const RunOptions& options, PluginTable plugins, std::ostream& out,
                         std::ostream& err);

}  // namespace berth::app
