#include "config/defaults.h"

#include <algorithm>
#include <utility>

#include "config/load.h"
#include "config/merge.h"
#include "config/plugin_args.h"

namespace berth::config {
namespace {

template <typename T>
T or_default(T value, T fallback) {
  return value == T{} ? std::move(fallback) : std::move(value);
}

LeaderElection with_defaults(WrittenLeaderElection written) {
  const LeaderElection defaults;
  return {
      .leader_elect = written.leader_elect.value_or(defaults.leader_elect),
      .lease_duration = or_default(written.lease_duration, defaults.lease_duration),
      .renew_deadline = or_default(written.renew_deadline, defaults.renew_deadline),
      .retry_period = or_default(written.retry_period, defaults.retry_period),
      .resource_lock = or_default(std::move(written.resource_lock), defaults.resource_lock),
      .resource_name = or_default(std::move(written.resource_name), defaults.resource_name),
      .resource_namespace =
          or_default(std::move(written.resource_namespace), defaults.resource_namespace),
  };
}

ClientConnection with_defaults(ClientConnection written) {
  const ClientConnection defaults;
  written.content_type = or_default(std::move(written.content_type), defaults.content_type);
  written.qps = or_default(written.qps, defaults.qps);
  written.burst = or_default(written.burst, defaults.burst);
  return written;
}

Profile with_defaults(WrittenProfile written, const FeatureGates& gates) {
  Plugins defaults;
  defaults.at(ExtensionPoint::kMultiPoint).enabled = default_multi_point(gates);

  Profile profile;
  profile.scheduler_name = std::move(written.scheduler_name).value_or("");
  profile.percentage_of_nodes_to_score = written.percentage_of_nodes_to_score;
  profile.plugins = merge(defaults, written.plugins);
  profile.plugin_config = std::move(written.plugin_config);
  const std::size_t written_count = profile.plugin_config.size();
  for (const std::string_view name : enabled_plugins(profile.plugins)) {
    if (!takes_args(name)) continue;
    const auto end = profile.plugin_config.begin() + static_cast<std::ptrdiff_t>(written_count);
    const auto said = std::find_if(profile.plugin_config.begin(), end,
                                   [&](const PluginConfig& config) { return config.name == name; });
    if (said != end) continue;
    profile.plugin_config.push_back({std::string(name), default_args(name, gates)});
  }
  return profile;
}

}  // namespace

std::vector<std::string_view> enabled_plugins(const Plugins& plugins) {
  std::vector<std::string_view> names;
  for (const PluginSet& set : plugins.sets) {
    for (const PluginRef& plugin : set.enabled) names.push_back(plugin.name);
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

Configuration with_defaults(WrittenConfiguration written, const FeatureGates& gates) {
  Configuration configuration;
  configuration.parallelism = written.parallelism.value_or(configuration.parallelism);
  configuration.leader_election = with_defaults(std::move(written.leader_election));
  configuration.client_connection = with_defaults(std::move(written.client_connection));
  configuration.enable_profiling = written.enable_profiling.value_or(true);
  configuration.enable_contention_profiling =
      written.enable_contention_profiling.value_or(configuration.enable_profiling);
  configuration.percentage_of_nodes_to_score =
      written.percentage_of_nodes_to_score.value_or(configuration.percentage_of_nodes_to_score);
  configuration.pod_initial_backoff_seconds =
      written.pod_initial_backoff_seconds.value_or(configuration.pod_initial_backoff_seconds);
  configuration.pod_max_backoff_seconds =
      written.pod_max_backoff_seconds.value_or(configuration.pod_max_backoff_seconds);
  configuration.extenders = std::move(written.extenders);
  configuration.delay_cache_until_active = written.delay_cache_until_active;

  if (written.profiles.empty()) written.profiles.emplace_back();
  // With several profiles each must have its own name; validation checks it.
  if (written.profiles.size() == 1 && !written.profiles.front().scheduler_name) {
    written.profiles.front().scheduler_name = "default-scheduler";
  }
  for (WrittenProfile& profile : written.profiles) {
    configuration.profiles.push_back(with_defaults(std::move(profile), gates));
  }
  return configuration;
}

Configuration default_configuration(const FeatureGates& gates) {
  return with_defaults(WrittenConfiguration{}, gates);
}

std::vector<PluginRef> default_multi_point(const FeatureGates& gates) {
  std::vector<PluginRef> plugins{
      {"SchedulingGates", 0}, {"PrioritySort", 0}, {"NodeName", 0},  {"NodeUnschedulable", 0},
      {"TaintToleration", 3}, {"NodeAffinity", 2}, {"NodePorts", 0},
  };
  // Before NodeResourcesFit: a node that forbids preemption for resizes is to be rejected for that.
  if (gates.enabled("InPlacePodVerticalScalingSchedulerPreemption"))
    plugins.push_back({"DeferredPodScheduling", 0});
  plugins.insert(plugins.end(), {
                                    {"NodeResourcesFit", 1},
                                    {"VolumeRestrictions", 0},
                                    {"NodeVolumeLimits", 0},
                                    {"VolumeBinding", 0},
                                    {"VolumeZone", 0},
                                    {"PodTopologySpread", 2},
                                    {"InterPodAffinity", 2},
                                });
  // Before DefaultPreemption: giving back an idle claim is better than evicting a pod.
  if (gates.enabled("DynamicResourceAllocation")) plugins.push_back({"DynamicResources", 2});
  plugins.insert(plugins.end(), {
                                    {"DefaultPreemption", 0},
                                    {"NodeResourcesBalancedAllocation", 1},
                                    {"ImageLocality", 1},
                                    {"DefaultBinder", 0},
                                });
  if (gates.enabled("NodeDeclaredFeatures")) plugins.push_back({"NodeDeclaredFeatures", 0});
  if (gates.enabled("GenericWorkload")) plugins.push_back({"GangScheduling", 0});
  if (gates.enabled("TopologyAwareWorkloadScheduling")) {
    plugins.push_back({"TopologyPlacementGenerator", 0});
    plugins.push_back({"PodGroupPodsCount", 1});
  }
  return plugins;
}

std::string_view to_string(ExtensionPoint point) {
  switch (point) {
    case ExtensionPoint::kPreEnqueue: return "PreEnqueue";
    case ExtensionPoint::kQueueSort: return "QueueSort";
    case ExtensionPoint::kPreFilter: return "PreFilter";
    case ExtensionPoint::kFilter: return "Filter";
    case ExtensionPoint::kPostFilter: return "PostFilter";
    case ExtensionPoint::kPreScore: return "PreScore";
    case ExtensionPoint::kScore: return "Score";
    case ExtensionPoint::kReserve: return "Reserve";
    case ExtensionPoint::kPermit: return "Permit";
    case ExtensionPoint::kPreBind: return "PreBind";
    case ExtensionPoint::kBind: return "Bind";
    case ExtensionPoint::kPostBind: return "PostBind";
    case ExtensionPoint::kMultiPoint: return "MultiPoint";
    case ExtensionPoint::kPlacementGenerate: return "PlacementGenerate";
    case ExtensionPoint::kPlacementScore: return "PlacementScore";
    case ExtensionPoint::kPodGroupPostFilter: return "PodGroupPostFilter";
  }
  return "";
}

}  // namespace berth::config
