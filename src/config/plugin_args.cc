#include "config/plugin_args.h"

#include <utility>

#include "config/core_json.h"

namespace berth::config {
namespace {

// What decoders of arguments need besides the text.
struct Surroundings {
  const FeatureGates& gates;
  Interner& interner;
};

// apiVersion and kind have been looked at before.
bool is_type_meta(std::string_view name) { return name == "apiVersion" || name == "kind"; }

void decode(StrictDecoder& in, const JsonValue& json, ResourceWeight& out) {
  out.weight = 0;
  in.object("v1.ResourceSpec", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "name") return in.read(value, out.name);
    if (name == "weight") return in.read(value, out.weight);
    return false;
  });
}

void decode(StrictDecoder& in, const JsonValue& json, UtilizationShapePoint& out) {
  in.object("v1.UtilizationShapePoint", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "utilization") return in.read(value, out.utilization);
    if (name == "score") return in.read(value, out.score);
    return false;
  });
}

bool decode_resources(StrictDecoder& in, const JsonValue& json, std::vector<ResourceWeight>& out) {
  return in.list("v1.ResourceSpec", json, out,
                 [](StrictDecoder& decoder, const JsonValue& item, ResourceWeight& resource) {
                   decode(decoder, item, resource);
                 });
}

bool decode_shape(StrictDecoder& in, const JsonValue& json,
                  std::vector<UtilizationShapePoint>& out) {
  return in.list("v1.UtilizationShapePoint", json, out,
                 [](StrictDecoder& decoder, const JsonValue& item, UtilizationShapePoint& point) {
                   decode(decoder, item, point);
                 });
}

// An empty list means the default one, a weight of 0 means 1.
void default_resources(std::vector<ResourceWeight>& resources) {
  if (resources.empty()) resources = NodeResourcesFitArgs{}.resources;
  for (ResourceWeight& resource : resources) {
    if (resource.weight == 0) resource.weight = 1;
  }
}

// ---- one function for the defaults and one for decoding, per kind

template <typename Args>
PluginArgs plain_defaults(const FeatureGates&) {
  return Args{};
}

PluginArgs dynamic_resources_defaults(const FeatureGates& gates) {
  DynamicResourcesArgs args;
  if (gates.enabled("DRASchedulerFilterTimeout")) args.filter_timeout = std::chrono::seconds(10);
  if (gates.enabled("DRADeviceBindingConditions") &&
      gates.enabled("DRAResourceClaimDeviceStatus")) {
    args.binding_timeout = std::chrono::minutes(10);
  }
  return args;
}

PluginArgs volume_binding_defaults(const FeatureGates& gates) {
  VolumeBindingArgs args;
  if (gates.enabled("StorageCapacityScoring")) args.shape = {{0, 10}, {100, 0}};
  return args;
}

PluginArgs decode_default_preemption(StrictDecoder& in, const JsonValue& json,
                                     const Surroundings&) {
  std::optional<std::int32_t> percentage;
  std::optional<std::int32_t> absolute;
  in.object("v1.DefaultPreemptionArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "minCandidateNodesPercentage") return in.read(value, percentage);
    if (name == "minCandidateNodesAbsolute") return in.read(value, absolute);
    return is_type_meta(name);
  });
  DefaultPreemptionArgs args;
  args.min_candidate_nodes_percentage = percentage.value_or(args.min_candidate_nodes_percentage);
  args.min_candidate_nodes_absolute = absolute.value_or(args.min_candidate_nodes_absolute);
  return args;
}

PluginArgs decode_dynamic_resources(StrictDecoder& in, const JsonValue& json,
                                    const Surroundings& surroundings) {
  DynamicResourcesArgs args;
  in.object("v1.DynamicResourcesArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "filterTimeout") return in.read(value, args.filter_timeout);
    if (name == "bindingTimeout") return in.read(value, args.binding_timeout);
    return is_type_meta(name);
  });
  const auto defaults =
      std::get<DynamicResourcesArgs>(dynamic_resources_defaults(surroundings.gates));
  if (!args.filter_timeout) args.filter_timeout = defaults.filter_timeout;
  if (!args.binding_timeout) args.binding_timeout = defaults.binding_timeout;
  return args;
}

PluginArgs decode_inter_pod_affinity(StrictDecoder& in, const JsonValue& json,
                                     const Surroundings&) {
  InterPodAffinityArgs args;
  std::optional<std::int32_t> weight;
  in.object("v1.InterPodAffinityArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "hardPodAffinityWeight") return in.read(value, weight);
    if (name == "ignorePreferredTermsOfExistingPods") {
      return in.read(value, args.ignore_preferred_terms_of_existing_pods);
    }
    return is_type_meta(name);
  });
  args.hard_pod_affinity_weight = weight.value_or(args.hard_pod_affinity_weight);
  return args;
}

PluginArgs decode_node_affinity(StrictDecoder& in, const JsonValue& json,
                                const Surroundings& surroundings) {
  NodeAffinityArgs args;
  args.symbols = surroundings.interner.hold();
  in.object("v1.NodeAffinityArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name != "addedAffinity") return is_type_meta(name);
    NodeAffinity affinity;
    decode(in, value, args.symbols, affinity);
    args.added_affinity =
        value.is_null() ? std::nullopt : std::optional<NodeAffinity>(std::move(affinity));
    return true;
  });
  return args;
}

PluginArgs decode_balanced_allocation(StrictDecoder& in, const JsonValue& json,
                                      const Surroundings&) {
  NodeResourcesBalancedAllocationArgs args;
  args.resources.clear();
  in.object("v1.NodeResourcesBalancedAllocationArgs", json,
            [&](std::string_view name, const JsonValue& value) {
              if (name == "resources") return decode_resources(in, value, args.resources);
              return is_type_meta(name);
            });
  default_resources(args.resources);
  return args;
}

constexpr std::pair<std::string_view, ScoringStrategyType> kStrategies[] = {
    {"LeastAllocated", ScoringStrategyType::kLeastAllocated},
    {"MostAllocated", ScoringStrategyType::kMostAllocated},
    {"RequestedToCapacityRatio", ScoringStrategyType::kRequestedToCapacityRatio},
};

void decode_ratio(StrictDecoder& in, const JsonValue& json, NodeResourcesFitArgs& args) {
  args.ratio_given = !json.is_null();
  in.object("v1.RequestedToCapacityRatioParam", json,
            [&](std::string_view name, const JsonValue& value) {
              return name == "shape" && decode_shape(in, value, args.shape);
            });
}

void decode_strategy(StrictDecoder& in, const JsonValue& json, NodeResourcesFitArgs& args) {
  if (json.is_null()) return;  // as if it were not there
  std::string type;
  args.resources.clear();
  in.object("v1.ScoringStrategy", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "type") return in.read(value, type, "v1.ScoringStrategyType");
    if (name == "resources") return decode_resources(in, value, args.resources);
    if (name != "requestedToCapacityRatio") return false;
    decode_ratio(in, value, args);
    return true;
  });
  default_resources(args.resources);
  // Parity: the type is filled in only with the whole strategy; without one the strategy is
  // invalid.
  args.unknown_strategy = type;
  for (const auto& [text, known] : kStrategies) {
    if (text != type) continue;
    args.strategy = known;
    args.unknown_strategy.reset();
  }
}

PluginArgs decode_fit(StrictDecoder& in, const JsonValue& json, const Surroundings&) {
  NodeResourcesFitArgs args;
  in.object("v1.NodeResourcesFitArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "ignoredResources") return in.read(value, args.ignored_resources);
    if (name == "ignoredResourceGroups") return in.read(value, args.ignored_resource_groups);
    if (name != "scoringStrategy") return is_type_meta(name);
    decode_strategy(in, value, args);
    return true;
  });
  return args;
}

PluginArgs decode_topology_spread(StrictDecoder& in, const JsonValue& json,
                                  const Surroundings& surroundings) {
  PodTopologySpreadArgs args;
  args.symbols = surroundings.interner.hold();
  std::string type;
  in.object("v1.PodTopologySpreadArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "defaultingType") {
      return in.read(value, type, "v1.PodTopologySpreadConstraintsDefaulting");
    }
    if (name != "defaultConstraints") return is_type_meta(name);
    args.unknown_actions.clear();
    return in.list("v1.TopologySpreadConstraint", value, args.default_constraints,
                   [&](StrictDecoder&, const JsonValue& item, TopologySpreadConstraint& out) {
                     decode(in, item, args.symbols, out, args.unknown_actions.emplace_back());
                   });
  });
  args.system_defaults = type.empty() || type == "System";
  if (!args.system_defaults && type != "List") args.unknown_defaulting_type = type;
  return args;
}

PluginArgs decode_volume_binding(StrictDecoder& in, const JsonValue& json,
                                 const Surroundings& surroundings) {
  VolumeBindingArgs args;
  std::optional<std::int64_t> timeout;
  in.object("v1.VolumeBindingArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "bindTimeoutSeconds") return in.read(value, timeout);
    if (name != "shape") return is_type_meta(name);
    args.shape_given = !value.is_null();
    return decode_shape(in, value, args.shape);
  });
  args.bind_timeout_seconds = timeout.value_or(args.bind_timeout_seconds);
  if (args.shape.empty()) {
    args.shape = std::get<VolumeBindingArgs>(volume_binding_defaults(surroundings.gates)).shape;
  }
  return args;
}

PluginArgs decode_coscheduling(StrictDecoder& in, const JsonValue& json, const Surroundings&) {
  std::optional<std::int64_t> waiting;
  std::optional<std::int64_t> backoff;
  std::optional<std::int32_t> percentage;
  in.object("v1.CoschedulingArgs", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "permitWaitingTimeSeconds") return in.read(value, waiting);
    if (name == "podGroupBackoffSeconds") return in.read(value, backoff);
    if (name == "podGroupRejectPercentage") return in.read(value, percentage);
    return is_type_meta(name);
  });
  CoschedulingArgs args;
  args.permit_waiting_time_seconds = waiting.value_or(args.permit_waiting_time_seconds);
  args.pod_group_backoff_seconds = backoff.value_or(args.pod_group_backoff_seconds);
  args.pod_group_reject_percentage = percentage.value_or(args.pod_group_reject_percentage);
  return args;
}

struct ArgsKind {
  std::string_view plugin;
  std::size_t index;  // of the kind in PluginArgs
  PluginArgs (*defaults)(const FeatureGates& gates);
  PluginArgs (*decode)(StrictDecoder& in, const JsonValue& json, const Surroundings& surroundings);
};

template <typename Args, std::size_t i = 0>
constexpr std::size_t index_of() {
  if constexpr (std::is_same_v<std::variant_alternative_t<i, PluginArgs>, Args>) {
    return i;
  } else {
    return index_of<Args, i + 1>();
  }
}

constexpr ArgsKind kArgsKinds[] = {
    {"DefaultPreemption", index_of<DefaultPreemptionArgs>(), plain_defaults<DefaultPreemptionArgs>,
     decode_default_preemption},
    {"DynamicResources", index_of<DynamicResourcesArgs>(), dynamic_resources_defaults,
     decode_dynamic_resources},
    {"InterPodAffinity", index_of<InterPodAffinityArgs>(), plain_defaults<InterPodAffinityArgs>,
     decode_inter_pod_affinity},
    {"NodeAffinity", index_of<NodeAffinityArgs>(), plain_defaults<NodeAffinityArgs>,
     decode_node_affinity},
    {"NodeResourcesBalancedAllocation", index_of<NodeResourcesBalancedAllocationArgs>(),
     plain_defaults<NodeResourcesBalancedAllocationArgs>, decode_balanced_allocation},
    {"NodeResourcesFit", index_of<NodeResourcesFitArgs>(), plain_defaults<NodeResourcesFitArgs>,
     decode_fit},
    {"PodTopologySpread", index_of<PodTopologySpreadArgs>(), plain_defaults<PodTopologySpreadArgs>,
     decode_topology_spread},
    {"VolumeBinding", index_of<VolumeBindingArgs>(), volume_binding_defaults,
     decode_volume_binding},
    {"Coscheduling", index_of<CoschedulingArgs>(), plain_defaults<CoschedulingArgs>,
     decode_coscheduling},
};

const ArgsKind* find_kind(std::string_view plugin) {
  for (const ArgsKind& kind : kArgsKinds) {
    if (kind.plugin == plugin) return &kind;
  }
  return nullptr;
}

}  // namespace

bool takes_args(std::string_view plugin) { return find_kind(plugin) != nullptr; }

PluginArgs default_args(std::string_view plugin, const FeatureGates& gates) {
  return find_kind(plugin)->defaults(gates);
}

PluginArgs decode_args(std::string_view plugin, StrictDecoder& in, const JsonValue& json,
                       const FeatureGates& gates, Interner& interner) {
  return find_kind(plugin)->decode(in, json, {gates, interner});
}

bool is_kind_of(std::string_view plugin, const PluginArgs& args) {
  return find_kind(plugin)->index == args.index();
}

}  // namespace berth::config
