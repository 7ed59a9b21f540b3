// Fills in the defaults of a configuration. Only for this room.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::config {

// The content of a file, before defaults: what is absent stays absent.
struct WrittenLeaderElection {
  std::optional<bool> leader_elect;
  Duration lease_duration{0};
  Duration renew_deadline{0};
  Duration retry_period{0};
  std::string resource_lock;
  std::string resource_name;
  std::string resource_namespace;
};

struct WrittenProfile {
  std::optional<std::string> scheduler_name;
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;  // args already with defaults
};

struct WrittenConfiguration {
  std::optional<std::int32_t> parallelism;
  WrittenLeaderElection leader_election;
  ClientConnection client_connection{"", "", "", 0, 0};  // empty and 0: the default
  std::optional<bool> enable_profiling;
  std::optional<bool> enable_contention_profiling;
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  std::optional<std::int64_t> pod_initial_backoff_seconds;
  std::optional<std::int64_t> pod_max_backoff_seconds;
  std::vector<WrittenProfile> profiles;
  std::vector<ExtenderConfig> extenders;
  bool delay_cache_until_active = false;
};

Configuration with_defaults(WrittenConfiguration written, const FeatureGates& gates);

// Every plugin that some list of `plugins` enables, sorted, each once.
std::vector<std::string_view> enabled_plugins(const Plugins& plugins);

}  // namespace berth::config
