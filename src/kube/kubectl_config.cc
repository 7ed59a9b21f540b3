#include "kube/kubectl_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/file.h"
#include "kube/kubeconfig.h"

namespace berth::kube {
namespace {

struct KubeconfigFiles {
  std::vector<std::string> paths;
  bool must_exist = false;
  std::string shown;  // for messages
};

KubeconfigFiles files_to_read(const std::string& kubeconfig,
                              const KubectlEnvironment& environment) {
  if (!kubeconfig.empty()) return {{kubeconfig}, true, kubeconfig};
  KubeconfigFiles files;
  std::string_view rest = environment.kubeconfig;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (const std::string_view path = rest.substr(0, colon); !path.empty())
      files.paths.emplace_back(path);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  if (files.paths.empty() && !environment.home.empty())
    files.paths.push_back(environment.home + "/.kube/config");
  files.shown = fmt::format("{}", fmt::join(files.paths, ", "));
  return files;
}

// What `into` has stays.
void merge_kubeconfig(Kubeconfig& into, Kubeconfig from) {
  if (into.current_context.empty()) into.current_context = std::move(from.current_context);
  into.clusters.merge(from.clusters);
  into.users.merge(from.users);
  into.contexts.merge(from.contexts);
}

// Nothing: none of the files exists.
Result<std::optional<Kubeconfig>> read_kubeconfigs(const KubeconfigFiles& files) {
  std::optional<Kubeconfig> merged;
  for (const std::string& path : files.paths) {
    Result<Kubeconfig> read = load_kubeconfig(path);
    if (!read) {
      if (read.error().kind == ErrorKind::kNotFound && !files.must_exist) continue;
      return fail(std::move(read.error()));
    }
    if (!merged) merged.emplace();
    merge_kubeconfig(*merged, std::move(*read));
  }
  return merged;
}

std::string contexts_of(const Kubeconfig& file) {
  std::vector<std::string_view> names;
  for (const auto& [name, context] : file.contexts) names.push_back(name);
  if (names.empty()) return "it has none";
  return fmt::format("it has {}", fmt::join(names, ", "));
}

// Empty: the context can be used. A command must not fall back to another server, or to nobody's
// credentials, because of a misspelt name.
std::string context_fault(const Kubeconfig& file, const std::string& shown) {
  const std::string& name = file.current_context;
  if (name.empty())
    return fmt::format("{} has no current context: --context NAME chooses one ({})", shown,
                       contexts_of(file));
  const auto context = file.contexts.find(name);
  if (context == file.contexts.end())
    return fmt::format("{} has no context \"{}\" ({})", shown, name, contexts_of(file));
  const auto& [cluster_name, user_name, namespace_name] = context->second;
  if (cluster_name.empty())
    return fmt::format("{}: the context \"{}\" names no cluster", shown, name);
  const auto cluster = file.clusters.find(cluster_name);
  if (cluster == file.clusters.end())
    return fmt::format("{}: the context \"{}\" names the cluster \"{}\", which is not there", shown,
                       name, cluster_name);
  if (cluster->second.server.empty())
    return fmt::format("{}: the cluster \"{}\" has no server", shown, cluster_name);
  if (!user_name.empty() && !file.users.contains(user_name))
    return fmt::format("{}: the context \"{}\" names the user \"{}\", which is not there", shown,
                       name, user_name);
  return {};
}

Result<KubectlConfig> own_cluster_config(const PodEnvironment& pod) {
  std::vector<std::string> unread;
  Result<ClientConfig> client = in_cluster_config(pod, unread);
  if (!client) return fail(std::move(client.error()));
  KubectlConfig config;
  config.client = std::move(*client);
  const Result<std::string> name = read_file(pod.service_account + "/namespace");
  if (name && !trimmed(*name).empty()) config.namespace_name = trimmed(*name);
  return config;
}

}  // namespace

KubectlEnvironment kubectl_environment() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);  // read before threads start
    return std::string(value ? value : "");
  };
  return {variable("KUBECONFIG"), variable("HOME"), pod_environment()};
}

Result<KubectlConfig> load_kubectl_config(const std::string& kubeconfig, const std::string& context,
                                          const KubectlEnvironment& environment) {
  const KubeconfigFiles files = files_to_read(kubeconfig, environment);
  Result<std::optional<Kubeconfig>> read = read_kubeconfigs(files);
  if (!read) return fail(std::move(read.error()));
  if (!*read) {
    if (context.empty() && !environment.pod.service_host.empty())
      return own_cluster_config(environment.pod);
    return fail(ErrorKind::kNotFound,
                fmt::format("which cluster? --kubeconfig FILE says where it is ({})",
                            files.paths.empty() ? "neither $KUBECONFIG nor $HOME is set"
                                                : files.shown + " does not exist"));
  }
  Kubeconfig& file = **read;
  if (!context.empty()) file.current_context = context;
  if (std::string fault = context_fault(file, files.shown); !fault.empty())
    return fail(ErrorKind::kInvalid, std::move(fault));
  Result<ClientConfig> client = client_config_of(file, "");
  if (!client)
    return fail(client.error().kind, fmt::format("{}: {}", files.shown, client.error().message));
  KubectlConfig config;
  config.client = std::move(*client);
  config.context = file.current_context;
  const KubeconfigContext& chosen = file.contexts.at(config.context);
  config.user = chosen.user;
  if (!chosen.namespace_name.empty()) config.namespace_name = chosen.namespace_name;
  return config;
}

}  // namespace berth::kube
