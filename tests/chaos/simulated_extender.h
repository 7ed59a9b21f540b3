// SimulatedExtender: a webhook that schedulers ask about nodes and scores, and that may bind for
// them. It has opinions that change and fails at times; what else goes wrong is the network's.
#pragma once

#include <string>

#include "berth/random.h"
#include "config/configuration.h"
#include "net/http_message.h"
#include "simulated_server.h"

namespace berth::chaos {

class SimulatedExtender {
 public:
  // `server` outlives it.
  SimulatedExtender(SimulatedServer& server, Random random);

  // What schedulers are told of it.
  const config::ExtenderConfig& config() const { return config_; }
  net::HttpHandler handler();
  // From now on it has nothing against any node, and does what it is asked.
  void lift() { moody_ = false; }

 private:
  std::string filter(const JsonValue& asked);
  std::string prioritize(const JsonValue& asked);
  bool bind(const JsonValue& asked);

  SimulatedServer& server_;
  Random random_;
  config::ExtenderConfig config_;
  bool moody_ = true;
};

}  // namespace berth::chaos
