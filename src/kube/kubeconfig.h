// A kubeconfig file, read: clusters, users and contexts by name, with relative paths made relative
// to the file's folder. Used by client_config.cc, kubectl_config.cc and tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "kube/client_config.h"

namespace berth::kube {

struct KubeconfigCluster {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;
  std::string certificate_authority_data;  // decoded
  std::string proxy_url;

  friend bool operator==(const KubeconfigCluster&, const KubeconfigCluster&) = default;
};

struct KubeconfigUser {
  std::string client_certificate, client_certificate_data;
  std::string client_key, client_key_data;
  std::string token, token_file;
  std::string username, password;
  Impersonation impersonate;
  std::optional<ExecPlugin> exec;
  std::string exec_interactive_mode;  // as written, or its default
  bool auth_provider = false;         // a kind of plugin that no longer exists
};

struct KubeconfigContext {
  std::string cluster;
  std::string user;
  std::string namespace_name;
};

struct Kubeconfig {
  std::string current_context;
  std::map<std::string, KubeconfigCluster> clusters;
  std::map<std::string, KubeconfigUser> users;
  std::map<std::string, KubeconfigContext> contexts;
};

// `folder` is where relative paths begin.
Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& folder);
// `stat <path>: no such file or directory`, or `error loading config file "<path>": …`.
Result<Kubeconfig> load_kubeconfig(const std::string& path);

}  // namespace berth::kube
