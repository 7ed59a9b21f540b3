#include "app/scheduler_client.h"

#include <fmt/format.h>

#include <ostream>
#include <utility>
#include <vector>

namespace berth::app {
namespace {

std::string server_of(std::string server) {
  if (server.find("://") == std::string::npos) server = "https://" + server;
  while (server.ends_with('/')) server.pop_back();
  return server;
}

}  // namespace

std::string check_address(const SchedulerAddress& address) {
  if (address.insecure_skip_tls_verify && !address.certificate_authority.empty())
    return "--certificate-authority and --insecure-skip-tls-verify exclude each other";
  if (!address.token.empty() && !address.token_file.empty())
    return "--token and --token-file exclude each other";
  if (address.client_certificate.empty() != address.client_key.empty())
    return "--client-certificate and --client-key go together";
  if (const std::size_t scheme = address.server.find("://"); scheme != std::string::npos) {
    const std::string_view name = std::string_view(address.server).substr(0, scheme);
    if (name != "https" && name != "http")
      return fmt::format("--server: \"{}\" is neither https:// nor http://", address.server);
  }
  return {};
}

Result<kube::ClientConfig> scheduler_client_config(const SchedulerAddress& address,
                                                   std::ostream& err) {
  kube::ClientConfig config;
  if (!address.kubeconfig.empty()) {
    std::vector<std::string> warnings;
    Result<kube::ClientConfig> loaded =
        kube::load_client_config("", address.kubeconfig, kube::pod_environment(), warnings);
    for (const std::string& warning : warnings) err << "berth: " << warning << '\n';
    if (!loaded) return fail(loaded.error());
    config = std::move(*loaded);
  }
  // Of a kubeconfig only what says who we are, and whom to trust, holds for the scheduler, too.
  config.server = server_of(address.server);
  config.proxy_url.clear();
  config.tls_server_name.clear();
  config.insecure_skip_tls_verify = address.insecure_skip_tls_verify;
  if (!address.certificate_authority.empty() || address.insecure_skip_tls_verify) {
    config.ca_data.clear();
    config.ca_file = address.insecure_skip_tls_verify ? "" : address.certificate_authority;
  }
  if (!address.client_certificate.empty()) {
    config.cert_file = address.client_certificate;
    config.key_file = address.client_key;
    config.cert_data.clear();
    config.key_data.clear();
  }
  if (!address.token.empty() || !address.token_file.empty()) {
    config.token_file = address.token_file;
    config.token = address.token;
    config.username.clear();
    config.password.clear();
    config.exec.reset();
  }
  if (config.uses_tls()) return config;
  // No credential goes over the wire in the clear.
  kube::ClientConfig bare;
  bare.server = config.server;
  return bare;
}

Error explain_refusal(const kube::ApiFailure& failure, const std::string& server,
                      const std::string& role, const std::string& missing) {
  const Error& error = failure.error;
  const auto told = [&error](std::string message) { return Error{error.kind, std::move(message)}; };
  const ApiStatus& status = failure.status;
  if (status.code == 0) {
    const bool distrusted = error.message.find("certificate") != std::string::npos ||
                            error.message.find("x509") != std::string::npos;
    return told(fmt::format(
        "cannot ask the scheduler at {}: {}{}", server, error.message,
        distrusted
            ? " (--certificate-authority FILE names whom to trust; a scheduler without a "
              "certificate of its own makes one that only --insecure-skip-tls-verify accepts)"
            : ""));
  }
  if (status.code == 401) {
    return told(
        fmt::format("the scheduler at {} does not know who asks: {} (--kubeconfig FILE or "
                    "--token-file FILE says who)",
                    server, error.message));
  }
  if (status.code == 403) {
    return told(fmt::format("the scheduler at {} refuses: {} (a ClusterRole with {} allows it)",
                            server, error.message, role));
  }
  // A Status of its own is about the pod; any other 404 is about the page.
  const bool no_page = status.code == 404 && !status.causes.empty() &&
                       status.causes.front().reason == "UnexpectedServerResponse";
  if (no_page) {
    return told(fmt::format("the server at {} {}: it is no berth scheduler", server, missing));
  }
  return told(error.message);
}

}  // namespace berth::app
