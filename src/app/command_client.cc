#include "app/command_client.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "api/envelope.h"
#include "app/version.h"

namespace berth::app {
namespace {

kube::HttpApiClientOptions command_client_options(kube::ClientConfig config, Duration timeout) {
  kube::HttpApiClientOptions options;
  options.config = std::move(config);
  options.user_agent = fmt::format("berth/{}", kVersion);
  options.qps = -1;
  options.content_type = kJsonContentType;
  options.timeout = timeout;
  return options;
}

}  // namespace

CommandClient::CommandClient(kube::ClientConfig config, Duration timeout,
                             const std::vector<int>& signals,
                             std::unique_ptr<telemetry::LogSink> log)
    : signals_(signals.empty() ? nullptr
                               : std::make_unique<SignalWatch>(
                                     signals, [this](int signal) { on_signal(signal); })),
      log_(std::make_shared<telemetry::LogOutput>(
          telemetry::LogOptions{.verbosity = -1}, [this] { return loop_.wall_now(); },
          log ? std::move(log) : std::make_unique<telemetry::StringSink>(unread_))),
      client_(command_client_options(std::move(config), timeout), loop_, log_, metrics_) {
  // A server that ends a TLS connection must not end the command.
  ignore_broken_pipes();
}

void CommandClient::on_signal(int signal) {
  if (++signals_seen_ > 1) std::_Exit(128 + signal);
  stop();
}

}  // namespace berth::app
