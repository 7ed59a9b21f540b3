// ClientConfig: the address of the API server, and our credentials. Found as upstream's components
// find it (shell.md §1.4): from a kubeconfig, from --master, or from what a pod finds in its own
// cluster.
//
// $KUBECONFIG is not read, as by upstream's control plane components; commands for people find theirs
// by kubectl_config.h. Any thread.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/result.h"

namespace berth::kube {

struct Kubeconfig;

// A program that prints credentials (client.authentication.k8s.io).
struct ExecPlugin {
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string api_version;
  std::string install_hint;
  bool provide_cluster_info = false;
  bool needs_terminal = false;  // interactiveMode Always
  // Longer than this it is not waited for. client-go waits for ever.
  std::chrono::milliseconds timeout = std::chrono::minutes(1);
};

struct Impersonation {
  std::string user;  // empty: none
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

struct ClientConfig {
  std::string server;     // "https://10.0.0.1:6443", with a scheme, without a slash at the end
  std::string proxy_url;  // empty: from the environment

  // Trust. Inline PEM has precedence over a file.
  std::string ca_file, ca_data;
  std::string tls_server_name;  // empty: the server's own
  bool insecure_skip_tls_verify = false;

  // Identity; all of it is empty if the server is not spoken to over TLS, so that no credential
  // ever goes over the wire in the clear.
  std::string cert_file, cert_data;
  std::string key_file, key_data;
  std::string token;
  std::string token_file;  // read again from time to time; has precedence over `token`
  std::string username, password;
  std::optional<ExecPlugin> exec;
  Impersonation impersonate;

  bool uses_tls() const { return server.starts_with("https://"); }
};

// What a pod finds about its cluster in its environment and files.
struct PodEnvironment {
  std::string service_host;  // KUBERNETES_SERVICE_HOST
  std::string service_port;  // KUBERNETES_SERVICE_PORT
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};
// That of this process.
PodEnvironment pod_environment();

// `master` takes the place of the kubeconfig's server. With neither of them the pod's own cluster.
// `warnings` takes sentences for the log; they are given whether it works or not.
Result<ClientConfig> load_client_config(const std::string& master, const std::string& kubeconfig,
                                        const PodEnvironment& pod,
                                        std::vector<std::string>& warnings);

// Of the kubeconfig's current context.
Result<ClientConfig> client_config_of(const Kubeconfig& file, const std::string& master);

// Of a component that may live without: neither a kubeconfig nor a pod's cluster is nothing.
// (--authentication-kubeconfig, --authorization-kubeconfig)
Result<std::optional<ClientConfig>> load_optional_client_config(const std::string& kubeconfig,
                                                                const PodEnvironment& pod);

// Only the pod's own cluster.
Result<ClientConfig> in_cluster_config(const PodEnvironment& pod,
                                       std::vector<std::string>& warnings);

}  // namespace berth::kube
