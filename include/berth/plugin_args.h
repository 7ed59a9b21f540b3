// The arguments of plugins: pluginConfig of a KubeSchedulerConfiguration, read and checked
// (shell.md §2.7). A plugin of yours gets its own as JSON text, in OpaqueArgs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "berth/loop.h"
#include "berth/node_selector.h"
#include "berth/pod.h"
#include "berth/symbols.h"

namespace berth::config {

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

  // What was written and has no place above; validate() reports it.
  std::optional<std::string> unknown_strategy = std::nullopt;  // a type that does not exist
  bool ratio_given = false;                                    // requestedToCapacityRatio, even {}
};

struct PodTopologySpreadArgs {
  bool system_defaults = true;  // defaultingType System, else List
  std::vector<TopologySpreadConstraint> default_constraints;
  SymbolHold symbols;  // of default_constraints

  // What was written and has no place above; validate() reports it.
  std::string unknown_defaulting_type = {};
  std::vector<std::string> unknown_actions =
      {};  // whenUnsatisfiable of each constraint, else empty
};

struct VolumeBindingArgs {
  std::int64_t bind_timeout_seconds = 600;
  std::vector<UtilizationShapePoint> shape;
  bool shape_given = false;  // even if empty
};

// Of the plugin of scheduler-plugins, with its names and defaults.
struct CoschedulingArgs {
  std::int64_t permit_waiting_time_seconds = 60;
  std::int64_t pod_group_backoff_seconds = 0;
  std::int32_t pod_group_reject_percentage = 10;
};

// Arguments of a plugin that is not ours, as JSON text.
struct OpaqueArgs {
  std::string json;
};

// std::monostate: the plugin takes none.
using PluginArgs =
    std::variant<std::monostate, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
                 NodeAffinityArgs, NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs,
                 PodTopologySpreadArgs, VolumeBindingArgs, CoschedulingArgs, OpaqueArgs>;

}  // namespace berth::config
