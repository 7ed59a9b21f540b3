// Plugin arguments as upstream writes them.
#include <utility>

#include "base/time_text.h"
#include "config/core_json.h"
#include "config/plugin_args.h"

namespace berth::config {
namespace {

JsonValue typed(std::string_view kind) {
  JsonValue tree = JsonValue::object();
  tree.add("apiVersion", JsonValue::of_text("kubescheduler.config.k8s.io/v1"));
  tree.add("kind", JsonValue::of_text(kind));
  return tree;
}

JsonValue list_of(const std::vector<std::string>& texts) {
  JsonValue list = JsonValue::array();
  for (const std::string& text : texts) list.items.push_back(JsonValue::of_text(text));
  return list;
}

JsonValue list_of(const std::vector<ResourceWeight>& resources) {
  JsonValue list = JsonValue::array();
  for (const ResourceWeight& resource : resources) {
    JsonValue entry = JsonValue::object();
    entry.add("name", JsonValue::of_text(resource.name));
    entry.add("weight", JsonValue::of_int(resource.weight));
    list.items.push_back(std::move(entry));
  }
  return list;
}

JsonValue list_of(const std::vector<UtilizationShapePoint>& shape) {
  JsonValue list = JsonValue::array();
  for (const UtilizationShapePoint& point : shape) {
    JsonValue entry = JsonValue::object();
    entry.add("score", JsonValue::of_int(point.score));
    entry.add("utilization", JsonValue::of_int(point.utilization));
    list.items.push_back(std::move(entry));
  }
  return list;
}

JsonValue tree_of(const std::monostate&) { return {}; }

JsonValue tree_of(const DefaultPreemptionArgs& args) {
  JsonValue tree = typed("DefaultPreemptionArgs");
  tree.add("minCandidateNodesAbsolute", JsonValue::of_int(args.min_candidate_nodes_absolute));
  tree.add("minCandidateNodesPercentage", JsonValue::of_int(args.min_candidate_nodes_percentage));
  return tree;
}

JsonValue tree_of(const DynamicResourcesArgs& args) {
  JsonValue tree = typed("DynamicResourcesArgs");
  if (args.binding_timeout) {
    tree.add("bindingTimeout", JsonValue::of_text(go_duration(*args.binding_timeout)));
  }
  tree.add("filterTimeout", args.filter_timeout
                                ? JsonValue::of_text(go_duration(*args.filter_timeout))
                                : JsonValue{});
  return tree;
}

JsonValue tree_of(const InterPodAffinityArgs& args) {
  JsonValue tree = typed("InterPodAffinityArgs");
  tree.add("hardPodAffinityWeight", JsonValue::of_int(args.hard_pod_affinity_weight));
  tree.add("ignorePreferredTermsOfExistingPods",
           JsonValue::of_bool(args.ignore_preferred_terms_of_existing_pods));
  return tree;
}

JsonValue tree_of(const NodeAffinityArgs& args) {
  JsonValue tree = typed("NodeAffinityArgs");
  if (args.added_affinity) tree.add("addedAffinity", to_tree(*args.added_affinity, args.symbols));
  return tree;
}

JsonValue tree_of(const NodeResourcesBalancedAllocationArgs& args) {
  JsonValue tree = typed("NodeResourcesBalancedAllocationArgs");
  if (!args.resources.empty()) tree.add("resources", list_of(args.resources));
  return tree;
}

std::string_view strategy_text(const NodeResourcesFitArgs& args) {
  if (args.unknown_strategy) return *args.unknown_strategy;
  switch (args.strategy) {
    case ScoringStrategyType::kLeastAllocated: return "LeastAllocated";
    case ScoringStrategyType::kMostAllocated: return "MostAllocated";
    case ScoringStrategyType::kRequestedToCapacityRatio: return "RequestedToCapacityRatio";
  }
  return "";
}

JsonValue tree_of(const NodeResourcesFitArgs& args) {
  JsonValue strategy = JsonValue::object();
  if (args.ratio_given || !args.shape.empty()) {
    JsonValue ratio = JsonValue::object();
    if (!args.shape.empty()) ratio.add("shape", list_of(args.shape));
    strategy.add("requestedToCapacityRatio", std::move(ratio));
  }
  if (!args.resources.empty()) strategy.add("resources", list_of(args.resources));
  if (!strategy_text(args).empty()) strategy.add("type", JsonValue::of_text(strategy_text(args)));

  JsonValue tree = typed("NodeResourcesFitArgs");
  if (!args.ignored_resource_groups.empty()) {
    tree.add("ignoredResourceGroups", list_of(args.ignored_resource_groups));
  }
  if (!args.ignored_resources.empty()) {
    tree.add("ignoredResources", list_of(args.ignored_resources));
  }
  tree.add("scoringStrategy", std::move(strategy));
  return tree;
}

JsonValue tree_of(const PodTopologySpreadArgs& args) {
  JsonValue tree = typed("PodTopologySpreadArgs");
  if (!args.default_constraints.empty()) {
    JsonValue constraints = JsonValue::array();
    for (const TopologySpreadConstraint& constraint : args.default_constraints) {
      constraints.items.push_back(to_tree(constraint, args.symbols));
    }
    tree.add("defaultConstraints", std::move(constraints));
  }
  std::string_view type = args.system_defaults ? "System" : "List";
  if (!args.unknown_defaulting_type.empty()) type = args.unknown_defaulting_type;
  tree.add("defaultingType", JsonValue::of_text(type));
  return tree;
}

JsonValue tree_of(const VolumeBindingArgs& args) {
  JsonValue tree = typed("VolumeBindingArgs");
  tree.add("bindTimeoutSeconds", JsonValue::of_int(args.bind_timeout_seconds));
  if (!args.shape.empty()) tree.add("shape", list_of(args.shape));
  return tree;
}

JsonValue tree_of(const CoschedulingArgs& args) {
  JsonValue tree = typed("CoschedulingArgs");
  tree.add("permitWaitingTimeSeconds", JsonValue::of_int(args.permit_waiting_time_seconds));
  tree.add("podGroupBackoffSeconds", JsonValue::of_int(args.pod_group_backoff_seconds));
  tree.add("podGroupRejectPercentage", JsonValue::of_int(args.pod_group_reject_percentage));
  return tree;
}

JsonValue tree_of(const OpaqueArgs& args) {
  Result<JsonValue> tree = parse_json(args.json);
  // Text that is not JSON can only come from code; it is shown as text.
  return tree ? std::move(*tree) : JsonValue::of_text(args.json);
}

}  // namespace

JsonValue to_tree(const PluginArgs& args) {
  return std::visit([](const auto& typed_args) { return tree_of(typed_args); }, args);
}

}  // namespace berth::config
