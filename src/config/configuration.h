// KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): what a user may configure about how
// the scheduler behaves, with defaults filled in and checked. shell.md §2 has every field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/plugin_args.h"

namespace berth::config {

struct PluginConfig {
  std::string name;
  PluginArgs args;
};

// ---- plugins of a profile (§2.4, §2.5)

struct PluginRef {
  std::string name;
  std::int32_t weight = 0;
  friend bool operator==(const PluginRef&, const PluginRef&) = default;
};

struct PluginSet {
  std::vector<PluginRef> enabled;
  std::vector<std::string> disabled;
  friend bool operator==(const PluginSet&, const PluginSet&) = default;
};

enum class ExtensionPoint : std::uint8_t {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
  kMultiPoint,
  kPlacementGenerate,
  kPlacementScore,
  kPodGroupPostFilter,
};
inline constexpr std::size_t kExtensionPoints = 16;

struct Plugins {
  PluginSet sets[kExtensionPoints];

  PluginSet& at(ExtensionPoint point) { return sets[static_cast<std::size_t>(point)]; }
  const PluginSet& at(ExtensionPoint point) const { return sets[static_cast<std::size_t>(point)]; }
};

struct Profile {
  std::string scheduler_name;
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  Plugins plugins;  // merged with the defaults; multiPoint not expanded yet
  std::vector<PluginConfig> plugin_config;
};

// ---- the rest

struct LeaderElection {
  bool leader_elect = true;
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "kube-scheduler";
  std::string resource_namespace = "kube-system";
};

struct ClientConnection {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;
  std::int32_t burst = 100;
};

struct ExtenderTls {
  bool insecure = false;
  std::string server_name;
  std::string cert_file, key_file, ca_file;
  std::string cert_data, key_data, ca_data;  // decoded
};

struct ManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

struct ExtenderConfig {
  std::string url_prefix;
  std::string filter_verb, prioritize_verb, preempt_verb, bind_verb;
  std::int64_t weight = 0;
  bool enable_https = false;
  std::optional<ExtenderTls> tls;
  Duration http_timeout{0};  // 0: 5 s
  bool node_cache_capable = false;
  std::vector<ManagedResource> managed_resources;
  bool ignorable = false;
};

struct Configuration {
  std::int32_t parallelism = 16;
  LeaderElection leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  std::int32_t percentage_of_nodes_to_score = 0;
  std::int64_t pod_initial_backoff_seconds = 1;
  std::int64_t pod_max_backoff_seconds = 10;
  std::vector<Profile> profiles;
  std::vector<ExtenderConfig> extenders;
  bool delay_cache_until_active = false;
};

}  // namespace berth::config
