#include "app/scheduler_clients.h"

#include <fmt/format.h>

#include <string>

#include "kube/leader_election.h"

namespace berth::app {
namespace {

// Parity: API servers' audit logs and priority rules know schedulers by this form.
std::string user_agent(const SchedulerSetup& setup, std::string_view suffix) {
  const std::string& reported = setup.command.options.versions.reported;
  return fmt::format("kube-scheduler/{} (linux/amd64) kubernetes/berth/{}",
                     reported.substr(0, reported.find('-')), suffix);
}

kube::HttpApiClientOptions client_options(const SchedulerSetup& setup, const SchedulerHost& host,
                                          std::string_view suffix) {
  const config::ClientConnection& connection = setup.configuration.client_connection;
  kube::HttpApiClientOptions options;
  options.config = setup.client;
  options.user_agent = user_agent(setup, suffix);
  options.qps = connection.qps;
  options.burst = connection.burst;
  options.content_type = connection.content_type;
  options.accept_content_types = connection.accept_content_types;
  options.transport = host.transport;
  return options;
}

kube::HttpApiClientOptions main_client_options(const SchedulerSetup& setup,
                                               const SchedulerHost& host, kube::WriteGate* gate) {
  kube::HttpApiClientOptions options = client_options(setup, host, "scheduler");
  options.write_gate = gate;
  return options;
}

kube::HttpApiClientOptions lease_client_options(const SchedulerSetup& setup,
                                                const SchedulerHost& host) {
  kube::HttpApiClientOptions options = client_options(setup, host, "leader-election");
  options.timeout =
      kube::LeaderElector::request_timeout(setup.configuration.leader_election.renew_deadline);
  return options;
}

}  // namespace

SchedulerClients::SchedulerClients(const SchedulerSetup& setup, const SchedulerHost& host,
                                   kube::WriteGate* gate, const telemetry::Log& log,
                                   telemetry::ClientMetrics& metrics)
    : main(main_client_options(setup, host, gate), host.world, log, metrics),
      events(client_options(setup, host, "scheduler"), host.world, log, metrics),
      lease(lease_client_options(setup, host), host.election, log, metrics) {}

}  // namespace berth::app
