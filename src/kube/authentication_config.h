// AuthenticationConfig: which certificates and headers of a caller an API server believes, as it
// publishes them for servers that stand beside it: the ConfigMap
// kube-system/extension-apiserver-authentication (shell.md §4.2). Read once at the start, then
// watched. The scheduler's own HTTPS server believes the same. World thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/object_watch.h"
#include "telemetry/log.h"
#include "wire/json_tree.h"

namespace berth::kube {

struct AuthenticationSettings {
  std::string client_ca;  // PEM; empty: no client certificates

  // Of a proxy that names the caller.
  std::string request_header_ca;           // PEM; empty: no proxy is believed
  std::vector<std::string> allowed_names;  // of its certificate; empty: any that the CA signed
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_header_prefixes;

  friend bool operator==(const AuthenticationSettings&, const AuthenticationSettings&) = default;
};

// The content of a v1 ConfigMap. What is missing there, or cannot be read, stays as it was
// `before`; `complaints` has a sentence about each of the latter.
AuthenticationSettings read_authentication_settings(const JsonValue& config_map,
                                                    const AuthenticationSettings& before,
                                                    std::vector<std::string>& complaints);

class AuthenticationConfig {
 public:
  using Changed = std::function<void(const AuthenticationSettings&)>;

  // `changed` is called whenever the settings become others. The client is that of authentication;
  // it and `loop` outlive this.
  AuthenticationConfig(Loop& loop, ApiClient& client, Random random, Changed changed,
                       telemetry::Log log);
  AuthenticationConfig(const AuthenticationConfig&) = delete;
  AuthenticationConfig& operator=(const AuthenticationConfig&) = delete;

  // Reads it once. That there is no such ConfigMap is no error: nothing is believed until there is.
  Task<Result<void>> load(CancelToken cancel = {});

  // Follows it until `cancel`; what goes wrong is tried again, with growing pauses. When the
  // ConfigMap goes away, what it said last stays.
  Task<void> watch(CancelToken cancel);

  const AuthenticationSettings& settings() const { return settings_; }

 private:
  void take(const JsonValue& config_map);

  ApiClient& client_;
  const Changed changed_;
  const telemetry::Log log_;
  ObjectWatch watch_;
  AuthenticationSettings settings_;
};

}  // namespace berth::kube
