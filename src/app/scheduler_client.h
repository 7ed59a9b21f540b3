// How commands reach the HTTPS server of a running scheduler: whom they ask, as whom, and what they
// say when they are refused.
#pragma once

#include <iosfwd>
#include <string>

#include "berth/result.h"
#include "kube/api_client.h"
#include "kube/client_config.h"

namespace berth::app {

struct SchedulerAddress {
  std::string server = "https://127.0.0.1:10259";
  std::string kubeconfig{};  // who we are
  std::string token{};
  std::string token_file{};
  std::string client_certificate{}, client_key{};  // files
  std::string certificate_authority{};
  bool insecure_skip_tls_verify = false;
};

// What does not go together; empty: all does.
std::string check_address(const SchedulerAddress& address);

// Warnings go to `err`. To a server without TLS no credentials are sent.
Result<kube::ClientConfig> scheduler_client_config(const SchedulerAddress& address,
                                                   std::ostream& err);

// Why there was no answer, or not the one that was wanted, and what to do about it. `role` is what a
// ClusterRole must have; `missing` what a server does not do that has no such page.
Error explain_refusal(const kube::ApiFailure& failure, const std::string& server,
                      const std::string& role, const std::string& missing);

}  // namespace berth::app
