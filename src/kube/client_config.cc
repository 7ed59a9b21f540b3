#include "kube/client_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "base/go_quote.h"
#include "berth/labels.h"
#include "kube/kubeconfig.h"
#include "wire/json_text.h"

namespace berth::kube {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kNothingGiven =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
    "environment variable";

// The error of opening a file, if it cannot be read.
std::string unreadable(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? std::string() : text.error().message;
}

void check_user(const std::string& name, const KubeconfigUser& user, Texts& complaints) {
  const auto add = [&]<typename... T>(fmt::format_string<T...> text, T&&... args) {
    complaints.push_back(fmt::format(text, std::forward<T>(args)...));
  };
  if (!user.client_certificate.empty() || !user.client_certificate_data.empty()) {
    if (!user.client_certificate.empty() && !user.client_certificate_data.empty()) {
      add("client-cert-data and client-cert are both specified for {}. client-cert-data will "
          "override.",
          name);
    }
    if (!user.client_key.empty() && !user.client_key_data.empty()) {
      add("client-key-data and client-key are both specified for {}; client-key-data will override",
          name);
    }
    if (user.client_key.empty() && user.client_key_data.empty()) {
      add("client-key-data or client-key must be specified for {} to use the clientCert "
          "authentication method.",
          name);
    }
    if (!user.client_certificate.empty()) {
      if (const std::string why = unreadable(user.client_certificate); !why.empty()) {
        add("unable to read client-cert {} for {} due to {}", user.client_certificate, name, why);
      }
    }
    if (!user.client_key.empty()) {
      if (const std::string why = unreadable(user.client_key); !why.empty()) {
        add("unable to read client-key {} for {} due to {}", user.client_key, name, why);
      }
    }
  }
  if (user.exec) {
    if (user.auth_provider) {
      add("authProvider cannot be provided in combination with an exec plugin for {}", name);
    }
    if (user.exec->command.empty()) {
      add("command must be specified for {} to use exec authentication plugin", name);
    }
    if (user.exec->api_version.empty()) {
      add("apiVersion must be specified for {} to use exec authentication plugin", name);
    }
    for (const auto& [variable, value] : user.exec->env) {
      if (variable.empty()) {
        add("env variable name must be specified for {} to use exec authentication plugin", name);
      }
    }
    const std::string& mode = user.exec_interactive_mode;
    if (mode.empty()) {
      add("interactiveMode must be specified for {} to use exec authentication plugin", name);
    } else if (mode != "Never" && mode != "IfAvailable" && mode != "Always") {
      add("invalid interactiveMode for {}: {}", name, go_quoted(mode));
    }
  }
  if (!user.token.empty() && (!user.username.empty() || !user.password.empty())) {
    add("more than one authentication method found for {}; found [token basicAuth], only one is "
        "allowed",
        name);
  }
  const Impersonation& as = user.impersonate;
  if (as.user.empty() && (!as.uid.empty() || !as.groups.empty() || !as.extra.empty())) {
    add("requesting uid, groups or user-extra for {} without impersonating a user", name);
  }
}

bool is_proxy_url(std::string_view url) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"http://", "https://", "socks5://"},
      [url](std::string_view scheme) { return url.starts_with(scheme); });
}

void check_cluster(const std::string& name, const KubeconfigCluster& cluster, Texts& complaints) {
  if (cluster == KubeconfigCluster()) {
    complaints.emplace_back("cluster has no server defined");
    return;
  }
  if (cluster.server.empty()) {
    complaints.push_back(name.empty()
                             ? std::string("default cluster has no server defined")
                             : fmt::format("no server found for cluster {}", go_quoted(name)));
  }
  if (!cluster.proxy_url.empty() && !is_proxy_url(cluster.proxy_url)) {
    const std::string_view url = cluster.proxy_url;
    const std::size_t colon = url.find("://");
    complaints.push_back(fmt::format(
        "invalid 'proxy-url' {} for cluster {}: unsupported scheme {}, must be http, https, or "
        "socks5",
        go_quoted(url), go_quoted(name),
        go_quoted(colon == std::string_view::npos ? std::string_view() : url.substr(0, colon))));
  }
  if (cluster.certificate_authority.empty()) return;
  if (!cluster.certificate_authority_data.empty()) {
    complaints.push_back(
        fmt::format("certificate-authority-data and certificate-authority are both specified for "
                    "{}. certificate-authority-data will override.",
                    name));
  }
  if (const std::string why = unreadable(cluster.certificate_authority); !why.empty()) {
    complaints.push_back(fmt::format("unable to read certificate-authority {} for {} due to {}",
                                     cluster.certificate_authority, name, why));
  }
}

template <typename T>
T find_or_empty(const std::map<std::string, T>& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? T() : found->second;
}

// With a scheme, without query, fragment and a slash at the end.
Result<std::string> server_url(std::string_view server) {
  // Parity: a server without a scheme is spoken to in the clear.
  std::string url(server);
  if (!url.contains("://")) url.insert(0, "http://");
  const std::size_t host = url.find("://") + 3;
  const std::string_view scheme = std::string_view(url).substr(0, host - 3);
  const std::string_view authority =
      std::string_view(url).substr(host, url.find_first_of("/?#", host) - host);
  const bool blank = std::ranges::any_of(
      url, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
  if (blank || authority.empty() || (scheme != "http" && scheme != "https")) {
    return fail(ErrorKind::kInvalid,
                fmt::format("host must be a URL or a host:port pair: {}", go_quoted(server)));
  }
  url.resize(std::min(url.find_first_of("?#", host), url.size()));
  while (url.ends_with('/')) url.pop_back();
  return url;
}

bool may_be_in_cluster(const PodEnvironment& pod) {
  return !pod.service_host.empty() && !pod.service_port.empty() &&
         unreadable(pod.service_account + "/token").empty();
}

}  // namespace

Result<ClientConfig> client_config_of(const Kubeconfig& file, const std::string& master) {
  Texts complaints;
  if (!file.current_context.empty() && !file.contexts.contains(file.current_context)) {
    complaints.push_back(
        fmt::format("context was not found for specified context: {}", file.current_context));
  }
  const KubeconfigContext context = find_or_empty(file.contexts, file.current_context);
  KubeconfigUser user = find_or_empty(file.users, context.user);
  check_user(context.user, user, complaints);
  KubeconfigCluster cluster = find_or_empty(file.clusters, context.cluster);
  if (!master.empty()) {
    cluster.server = master;
    cluster.tls_server_name.clear();  // was the other server's
  }
  check_cluster(context.cluster, cluster, complaints);
  if (complaints.size() == 1 && cluster == KubeconfigCluster()) {
    return fail(ErrorKind::kNotFound, std::string(kNothingGiven));
  }
  if (!complaints.empty()) {
    return fail(ErrorKind::kInvalid,
                fmt::format("invalid configuration: {}", aggregate(complaints).message));
  }

  ClientConfig config;
  Result<std::string> server = server_url(cluster.server);
  if (!server) return fail(std::move(server.error()));
  config.server = std::move(*server);
  config.proxy_url = cluster.proxy_url;
  config.impersonate = user.impersonate;
  if (!config.uses_tls()) return config;
  if (user.auth_provider) {
    return fail(ErrorKind::kInvalid,
                fmt::format("the auth-provider of user {} is not supported; use exec",
                            go_quoted(context.user)));
  }
  if (user.token.empty() && !user.token_file.empty()) {
    if (std::string why = unreadable(user.token_file); !why.empty()) {
      return fail(ErrorKind::kInvalid, std::move(why));
    }
  }
  config.token = std::move(user.token);
  config.token_file = std::move(user.token_file);
  if (!user.client_certificate.empty() || !user.client_certificate_data.empty()) {
    config.cert_file = std::move(user.client_certificate);
    config.cert_data = std::move(user.client_certificate_data);
    config.key_file = std::move(user.client_key);
    config.key_data = std::move(user.client_key_data);
  }
  config.username = std::move(user.username);
  config.password = std::move(user.password);
  config.exec = std::move(user.exec);
  config.ca_file = std::move(cluster.certificate_authority);
  config.ca_data = std::move(cluster.certificate_authority_data);
  config.tls_server_name = std::move(cluster.tls_server_name);
  config.insecure_skip_tls_verify = cluster.insecure_skip_tls_verify;
  return config;
}

PodEnvironment pod_environment() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);  // read before threads start
    return std::string(value ? value : "");
  };
  PodEnvironment pod;
  pod.service_host = variable("KUBERNETES_SERVICE_HOST");
  pod.service_port = variable("KUBERNETES_SERVICE_PORT");
  return pod;
}

Result<ClientConfig> in_cluster_config(const PodEnvironment& pod,
                                       std::vector<std::string>& warnings) {
  if (pod.service_host.empty() || pod.service_port.empty()) {
    return fail(ErrorKind::kNotFound,
                "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
                "KUBERNETES_SERVICE_PORT must be defined");
  }
  ClientConfig config;
  config.token_file = pod.service_account + "/token";
  Result<std::string> token = read_file(config.token_file);
  if (!token) return fail(std::move(token.error()));
  config.token = std::move(*token);
  const std::string ca = pod.service_account + "/ca.crt";
  if (const std::string why = unreadable(ca); why.empty()) {
    config.ca_file = ca;
  } else {
    warnings.push_back(
        fmt::format("Expected to load root CA config from {}, but got err: {}", ca, why));
  }
  const bool ipv6 = pod.service_host.contains(':');
  config.server = fmt::format("https://{}{}{}:{}", ipv6 ? "[" : "", pod.service_host,
                              ipv6 ? "]" : "", pod.service_port);
  return config;
}

Result<ClientConfig> load_client_config(const std::string& master, const std::string& kubeconfig,
                                        const PodEnvironment& pod,
                                        std::vector<std::string>& warnings) {
  if (kubeconfig.empty() && master.empty()) {
    warnings.emplace_back(
        "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might "
        "not work.");
    Result<ClientConfig> config = in_cluster_config(pod, warnings);
    if (config) return config;
    warnings.push_back(
        fmt::format("error creating inClusterConfig, falling back to default config: {}",
                    config.error().message));
  }
  Kubeconfig file;
  if (!kubeconfig.empty()) {
    Result<Kubeconfig> loaded = load_kubeconfig(kubeconfig);
    if (!loaded) return fail(std::move(loaded.error()));
    file = std::move(*loaded);
  }
  Result<ClientConfig> config = client_config_of(file, master);
  const bool empty = !config && config.error().message == kNothingGiven;
  if (empty && may_be_in_cluster(pod)) return in_cluster_config(pod, warnings);
  return config;
}

Result<std::optional<ClientConfig>> load_optional_client_config(const std::string& kubeconfig,
                                                                const PodEnvironment& pod) {
  if (!kubeconfig.empty()) {
    Result<Kubeconfig> loaded = load_kubeconfig(kubeconfig);
    if (!loaded) return fail(std::move(loaded.error()));
    Result<ClientConfig> config = client_config_of(*loaded, "");
    if (!config) return fail(std::move(config.error()));
    return std::optional<ClientConfig>(std::move(*config));
  }
  std::vector<std::string> warnings;
  Result<ClientConfig> config = in_cluster_config(pod, warnings);
  if (config) return std::optional<ClientConfig>(std::move(*config));
  if (config.error().kind == ErrorKind::kNotFound) return std::optional<ClientConfig>();
  return fail(std::move(config.error()));
}

}  // namespace berth::kube
