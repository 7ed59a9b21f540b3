// KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): what a user may say about how the
// scheduler behaves, with defaults filled in and checked. shell.md §2 has every field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/node_selector.h"
#include "api/pod.h"
#include "base/loop.h"

namespace berth::config {

// ---- arguments of plugins (§2.7)

struct DefaultPreemptionArgs {
  std::int32_t min_candidate_nodes_percentage = 10;
  std::int32_t min_candidate_nodes_absolute = 100;
};

struct DynamicResourcesArgs {
  std::optional<Duration> filter_timeout;
  std::optional<Duration> binding_timeout;
};

struct InterPodAffinityArgs {
  std::int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;
};

struct NodeAffinityArgs {
  std::optional<NodeAffinity> added_affinity;
  SymbolHold symbols;  // of added_affinity
};

struct ResourceWeight {
  std::string name;
  std::int64_t weight = 1;
  friend bool operator==(const ResourceWeight&, const ResourceWeight&) = default;
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceWeight> resources{{"cpu", 1}, {"memory", 1}};
};

struct UtilizationShapePoint {
  std::int32_t utilization = 0;
  std::int32_t score = 0;
  friend bool operator==(const UtilizationShapePoint&, const UtilizationShapePoint&) = default;
};

enum class ScoringStrategyType : std::uint8_t {
  kLeastAllocated,
  kMostAllocated,
  kRequestedToCapacityRatio,
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  ScoringStrategyType strategy = ScoringStrategyType::kLeastAllocated;
  std::vector<ResourceWeight> resources{{"cpu", 1}, {"memory", 1}};
  std::vector<UtilizationShapePoint> shape;  // of kRequestedToCapacityRatio

  // What was written and has no place above; validate() has something to say about it.
  std::optional<std::string> unknown_strategy = std::nullopt;  // a type that does not exist
  bool ratio_given = false;                                    // requestedToCapacityRatio, even {}
};

struct PodTopologySpreadArgs {
  bool system_defaults = true;  // defaultingType System, else List
  std::vector<TopologySpreadConstraint> default_constraints;
  SymbolHold symbols;  // of default_constraints

  // What was written and has no place above; validate() has something to say about it.
  std::string unknown_defaulting_type = {};
  std::vector<std::string> unknown_actions =
      {};  // whenUnsatisfiable of each constraint, else empty
};

struct VolumeBindingArgs {
  std::int64_t bind_timeout_seconds = 600;
  std::vector<UtilizationShapePoint> shape;
  bool shape_given = false;  // even if empty
};

// Arguments of a plugin that is not ours, as JSON text.
struct OpaqueArgs {
  std::string json;
};

// std::monostate: the plugin takes none.
using PluginArgs =
    std::variant<std::monostate, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
                 NodeAffinityArgs, NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs,
                 PodTopologySpreadArgs, VolumeBindingArgs, OpaqueArgs>;

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
};
inline constexpr std::size_t kExtensionPoints = 15;

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
