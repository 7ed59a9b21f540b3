#include "config/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/time_text.h"
#include "config/defaults.h"
#include "config/load.h"
#include "config/plugin_args.h"
#include "config/type_meta.h"
#include "wire/json_tree.h"
#include "wire/yaml_text.h"

namespace berth::config {
namespace {

void add_text(JsonValue& tree, std::string_view name, std::string_view text) {
  tree.add(name, JsonValue::of_text(text));
}

void add_text_if_any(JsonValue& tree, std::string_view name, std::string_view text) {
  if (!text.empty()) add_text(tree, name, text);
}

void add_if_true(JsonValue& tree, std::string_view name, bool value) {
  if (value) tree.add(name, JsonValue::of_bool(true));
}

JsonValue tree_of(const ClientConnection& connection) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "acceptContentTypes", connection.accept_content_types);
  tree.add("burst", JsonValue::of_int(connection.burst));
  add_text(tree, "contentType", connection.content_type);
  add_text(tree, "kubeconfig", connection.kubeconfig);
  tree.add("qps", JsonValue::of_number(fmt::format("{}", connection.qps)));
  return tree;
}

JsonValue tree_of(const LeaderElection& election) {
  JsonValue tree = JsonValue::object();
  tree.add("leaderElect", JsonValue::of_bool(election.leader_elect));
  add_text(tree, "leaseDuration", go_duration(election.lease_duration));
  add_text(tree, "renewDeadline", go_duration(election.renew_deadline));
  add_text(tree, "resourceLock", election.resource_lock);
  add_text(tree, "resourceName", election.resource_name);
  add_text(tree, "resourceNamespace", election.resource_namespace);
  add_text(tree, "retryPeriod", go_duration(election.retry_period));
  return tree;
}

JsonValue tree_of(const ExtenderTls& tls) {
  JsonValue tree = JsonValue::object();
  add_text_if_any(tree, "caData", base64(tls.ca_data));
  add_text_if_any(tree, "caFile", tls.ca_file);
  add_text_if_any(tree, "certData", base64(tls.cert_data));
  add_text_if_any(tree, "certFile", tls.cert_file);
  add_if_true(tree, "insecure", tls.insecure);
  add_text_if_any(tree, "keyData", base64(tls.key_data));
  add_text_if_any(tree, "keyFile", tls.key_file);
  add_text_if_any(tree, "serverName", tls.server_name);
  return tree;
}

JsonValue tree_of(const ExtenderConfig& extender) {
  JsonValue tree = JsonValue::object();
  add_text_if_any(tree, "bindVerb", extender.bind_verb);
  add_if_true(tree, "enableHTTPS", extender.enable_https);
  add_text_if_any(tree, "filterVerb", extender.filter_verb);
  constexpr Duration kDefaultTimeout = std::chrono::seconds(5);
  add_text(
      tree, "httpTimeout",
      go_duration(extender.http_timeout == Duration{0} ? kDefaultTimeout : extender.http_timeout));
  add_if_true(tree, "ignorable", extender.ignorable);
  if (!extender.managed_resources.empty()) {
    JsonValue resources = JsonValue::array();
    for (const ManagedResource& resource : extender.managed_resources) {
      JsonValue entry = JsonValue::object();
      add_if_true(entry, "ignoredByScheduler", resource.ignored_by_scheduler);
      add_text(entry, "name", resource.name);
      resources.items.push_back(std::move(entry));
    }
    tree.add("managedResources", std::move(resources));
  }
  add_if_true(tree, "nodeCacheCapable", extender.node_cache_capable);
  add_text_if_any(tree, "preemptVerb", extender.preempt_verb);
  add_text_if_any(tree, "prioritizeVerb", extender.prioritize_verb);
  if (extender.tls) tree.add("tlsConfig", tree_of(*extender.tls));
  add_text(tree, "urlPrefix", extender.url_prefix);
  if (extender.weight != 0) tree.add("weight", JsonValue::of_int(extender.weight));
  return tree;
}

JsonValue tree_of(const PluginRef& plugin) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "name", plugin.name);
  tree.add("weight", JsonValue::of_int(plugin.weight));
  return tree;
}

JsonValue tree_of(const Plugins& plugins) {
  JsonValue tree = JsonValue::object();
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    const PluginSet& set = plugins.sets[i];
    JsonValue entry = JsonValue::object();
    if (!set.disabled.empty()) {
      JsonValue list = JsonValue::array();
      for (const std::string& name : set.disabled)
        list.items.push_back(tree_of(PluginRef{name, 0}));
      entry.add("disabled", std::move(list));
    }
    if (!set.enabled.empty()) {
      JsonValue list = JsonValue::array();
      for (const PluginRef& plugin : set.enabled) list.items.push_back(tree_of(plugin));
      entry.add("enabled", std::move(list));
    }
    tree.add(lower_first(to_string(static_cast<ExtensionPoint>(i))), std::move(entry));
  }
  return tree;
}

JsonValue tree_of(const Profile& profile) {
  JsonValue configs = JsonValue::array();
  const std::vector<std::string_view> enabled = enabled_plugins(profile.plugins);
  for (const std::string_view name : enabled) {
    for (const PluginConfig& config : profile.plugin_config) {
      if (config.name != name || std::holds_alternative<std::monostate>(config.args)) continue;
      JsonValue entry = JsonValue::object();
      entry.add("args", to_tree(config.args));
      add_text(entry, "name", name);
      configs.items.push_back(std::move(entry));
    }
  }
  JsonValue tree = JsonValue::object();
  if (profile.percentage_of_nodes_to_score) {
    tree.add("percentageOfNodesToScore", JsonValue::of_int(*profile.percentage_of_nodes_to_score));
  }
  if (!configs.items.empty()) tree.add("pluginConfig", std::move(configs));
  tree.add("plugins", tree_of(profile.plugins));
  add_text(tree, "schedulerName", profile.scheduler_name);
  return tree;
}

JsonValue tree_of(const Configuration& configuration) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "apiVersion", kGroupVersion);
  add_text(tree, "kind", kConfigurationKind);
  tree.add("clientConnection", tree_of(configuration.client_connection));
  add_if_true(tree, "delayCacheUntilActive", configuration.delay_cache_until_active);
  tree.add("enableContentionProfiling",
           JsonValue::of_bool(configuration.enable_contention_profiling));
  tree.add("enableProfiling", JsonValue::of_bool(configuration.enable_profiling));
  if (!configuration.extenders.empty()) {
    JsonValue extenders = JsonValue::array();
    for (const ExtenderConfig& extender : configuration.extenders) {
      extenders.items.push_back(tree_of(extender));
    }
    tree.add("extenders", std::move(extenders));
  }
  tree.add("leaderElection", tree_of(configuration.leader_election));
  tree.add("parallelism", JsonValue::of_int(configuration.parallelism));
  tree.add("percentageOfNodesToScore",
           JsonValue::of_int(configuration.percentage_of_nodes_to_score));
  tree.add("podInitialBackoffSeconds",
           JsonValue::of_int(configuration.pod_initial_backoff_seconds));
  tree.add("podMaxBackoffSeconds", JsonValue::of_int(configuration.pod_max_backoff_seconds));
  JsonValue profiles = JsonValue::array();
  for (const Profile& profile : configuration.profiles) profiles.items.push_back(tree_of(profile));
  tree.add("profiles", std::move(profiles));
  sort_members(tree);
  return tree;
}

}  // namespace

std::string to_yaml(const Configuration& configuration) {
  return to_go_yaml(tree_of(configuration));
}

std::string to_json(const Configuration& configuration) {
  return berth::to_json(tree_of(configuration));
}

}  // namespace berth::config
