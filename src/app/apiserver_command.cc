#include "app/apiserver_command.h"

#include <csignal>

#include "base/signals.h"

namespace berth::app {

Result<void> run_apiserver(const EmbeddedServerOptions& options, std::ostream& out) {
  RealLoop loop;
  ignore_broken_pipes();
  const SignalWatch signals({SIGINT, SIGTERM}, [&loop](int) { loop.stop(); });
  Result<std::unique_ptr<EmbeddedServer>> server = EmbeddedServer::start(loop, options);
  if (!server) return fail(server.error());
  (*server)->introduce(out);
  loop.run();
  return (*server)->stop();
}

}  // namespace berth::app
