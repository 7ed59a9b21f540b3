// Whether plugin arguments make sense (shell.md §2.7).
#include <fmt/format.h>

#include <algorithm>

#include "base/go_quote.h"
#include "berth/node_selector.h"
#include "config/complaints.h"
#include "config/load.h"
#include "config/plugin_args.h"

namespace berth::config {
namespace {

constexpr std::int32_t kMaxPercentage = 100;
constexpr std::int32_t kMaxShapeScore = 10;

void check_range(Complaints& complaints, const std::string& path, std::int32_t value,
                 std::int32_t high) {
  if (value < 0 || value > high) {
    complaints.invalid(path, value, fmt::format("not in valid range [0, {}]", high));
  }
}

void check_shape(Complaints& complaints, const std::string& path,
                 const std::vector<UtilizationShapePoint>& shape) {
  if (shape.empty()) {
    complaints.required(path, "at least one point must be specified");
    return;
  }
  const auto fall = std::ranges::adjacent_find(shape, std::ranges::greater_equal{},
                                               &UtilizationShapePoint::utilization);
  if (fall != shape.end()) {
    const auto index = static_cast<std::size_t>(fall - shape.begin()) + 1;
    complaints.invalid(at(at(path, index), "utilization"), shape[index].utilization,
                       "values must be sorted in increasing order");
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    check_range(complaints, at(at(path, i), "utilization"), shape[i].utilization, kMaxPercentage);
    check_range(complaints, at(at(path, i), "score"), shape[i].score, kMaxShapeScore);
  }
}

void check(Complaints& complaints, const std::string& path, const DefaultPreemptionArgs& args,
           const FeatureGates&) {
  const std::string percentage = at(path, "minCandidateNodesPercentage");
  const std::string absolute = at(path, "minCandidateNodesAbsolute");
  check_range(complaints, percentage, args.min_candidate_nodes_percentage, kMaxPercentage);
  if (args.min_candidate_nodes_absolute < 0) {
    complaints.invalid(absolute, args.min_candidate_nodes_absolute, "not in valid range [0, inf)");
  }
  if (args.min_candidate_nodes_percentage == 0 && args.min_candidate_nodes_absolute == 0) {
    complaints.invalid(percentage, std::int64_t{0},
                       "cannot be zero at the same time as minCandidateNodesAbsolute");
    complaints.invalid(absolute, std::int64_t{0},
                       "cannot be zero at the same time as minCandidateNodesPercentage");
  }
}

void check(Complaints& complaints, const std::string& path, const DynamicResourcesArgs& args,
           const FeatureGates& gates) {
  if (args.filter_timeout) {
    const std::string field = at(path, "filterTimeout");
    if (!gates.enabled("DRASchedulerFilterTimeout")) {
      // Parity: upstream misspells its own gate.
      complaints.forbidden(field, "DRASchedulingFilterTimeout feature gate is disabled");
    } else if (*args.filter_timeout < Duration{0}) {
      complaints.invalid(field, *args.filter_timeout, "must be zero or positive");
    }
  }
  if (args.binding_timeout) {
    const std::string field = at(path, "bindingTimeout");
    if (!gates.enabled("DRADeviceBindingConditions") ||
        !gates.enabled("DRAResourceClaimDeviceStatus")) {
      complaints.forbidden(field,
                           "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature "
                           "gate is disabled");
    } else if (*args.binding_timeout < std::chrono::seconds(1)) {
      complaints.invalid(field, *args.binding_timeout, "must be at least 1 second");
    }
  }
}

void check(Complaints& complaints, const std::string& path, const InterPodAffinityArgs& args,
           const FeatureGates&) {
  check_range(complaints, at(path, "hardPodAffinityWeight"), args.hard_pod_affinity_weight,
              kMaxPercentage);
}

void check(Complaints& complaints, const std::string& path, const NodeAffinityArgs& args,
           const FeatureGates&) {
  if (!args.added_affinity || !args.symbols.table()) return;
  const Symbols& symbols = *args.symbols.table();
  const auto check_term = [&](const NodeSelectorTerm& term, const std::string& place) {
    if (!term.empty()) complaints.add(CompiledNodeTerm(term, symbols, place).errors());
  };
  const std::string affinity = at(path, "addedAffinity");
  if (const auto& required = args.added_affinity->required) {
    const std::string terms =
        at(affinity, "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    for (std::size_t i = 0; i < required->size(); ++i) check_term((*required)[i], at(terms, i));
  }
  const auto& preferred = args.added_affinity->preferred;
  const std::string terms = at(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    if (preferred[i].weight != 0) check_term(preferred[i].preference, at(terms, i));
  }
}

void check(Complaints& complaints, const std::string& path,
           const NodeResourcesBalancedAllocationArgs& args, const FeatureGates&) {
  std::vector<std::string_view> seen;
  for (std::size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceWeight& resource = args.resources[i];
    const std::string place = at(at(path, "resources"), i);
    if (std::ranges::find(seen, resource.name) != seen.end()) {
      complaints.duplicate(at(place, "name"), go_quoted(resource.name));
    }
    seen.push_back(resource.name);
    if (resource.weight != 1) {
      complaints.invalid(at(place, "weight"), resource.weight, "must be 1");
    }
  }
}

// Parity: not when the file is checked, but when the plugin is built; see validate() below.
void check(Complaints&, const std::string&, const NodeResourcesFitArgs&, const FeatureGates&) {}

std::string_view action_of(const PodTopologySpreadArgs& args, std::size_t index) {
  switch (args.default_constraints[index].when_unsatisfiable) {
    case UnsatisfiableAction::kDoNotSchedule: return "DoNotSchedule";
    case UnsatisfiableAction::kScheduleAnyway: return "ScheduleAnyway";
    case UnsatisfiableAction::kUnknown: break;
  }
  return index < args.unknown_actions.size() ? std::string_view(args.unknown_actions[index]) : "";
}

void check_constraint(Complaints& complaints, const std::string& path,
                      const PodTopologySpreadArgs& args, std::size_t index) {
  const TopologySpreadConstraint& constraint = args.default_constraints[index];
  const auto key_of = [&](const TopologySpreadConstraint& one) -> std::string_view {
    return one.topology_key.empty() ? "" : args.symbols.text(one.topology_key);
  };
  if (constraint.max_skew <= 0) {
    complaints.invalid(at(path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)");
  }
  const std::string_view key = key_of(constraint);
  if (key.empty()) {
    complaints.required(at(path, "topologyKey"), "can not be empty");
  } else {
    complaints.check_name(at(path, "topologyKey"), key);
  }
  const std::string_view action = action_of(args, index);
  if (action.empty()) {
    complaints.required(at(path, "whenUnsatisfiable"), "can not be empty");
  } else if (constraint.when_unsatisfiable == UnsatisfiableAction::kUnknown) {
    complaints.unsupported(at(path, "whenUnsatisfiable"), action,
                           {"DoNotSchedule", "ScheduleAnyway"});
  }
  if (constraint.label_selector) {
    complaints.forbidden(at(path, "labelSelector"),
                         "constraint must not define a selector, as they deduced for each pod");
  }
  for (std::size_t i = 0; i < index; ++i) {
    if (key_of(args.default_constraints[i]) != key || action_of(args, i) != action) continue;
    complaints.duplicate(path, go_quoted(fmt::format("{{{}, {}}}", key, action)));
    break;
  }
}

void check(Complaints& complaints, const std::string& path, const PodTopologySpreadArgs& args,
           const FeatureGates&) {
  const std::string type = at(path, "defaultingType");
  if (!args.unknown_defaulting_type.empty()) {
    complaints.unsupported(type, args.unknown_defaulting_type, {"System", "List"});
  } else if (args.system_defaults && !args.default_constraints.empty()) {
    complaints.invalid(type, "\"System\"", "when .defaultConstraints are not empty");
  }
  for (std::size_t i = 0; i < args.default_constraints.size(); ++i) {
    check_constraint(complaints, at(at(path, "defaultConstraints"), i), args, i);
  }
}

void check(Complaints& complaints, const std::string& path, const VolumeBindingArgs& args,
           const FeatureGates& gates) {
  if (args.bind_timeout_seconds < 0) {
    complaints.invalid(at(path, "bindTimeoutSeconds"), args.bind_timeout_seconds,
                       "invalid BindTimeoutSeconds, should not be a negative value");
  }
  const std::string shape = at(path, "shape");
  if (gates.enabled("StorageCapacityScoring")) {
    check_shape(complaints, shape, args.shape);
  } else if (args.shape_given || !args.shape.empty()) {
    std::string points;
    for (const UtilizationShapePoint& point : args.shape) {
      points += fmt::format("{}{{\"Utilization\":{},\"Score\":{}}}", points.empty() ? "" : ",",
                            point.utilization, point.score);
    }
    complaints.invalid(shape, std::string_view("[" + points + "]"),
                       "unexpected field `shape`, remove it or turn on the feature gate "
                       "StorageCapacityScoring");
  }
}

// When the plugin is built; see validate() below.
void check(Complaints&, const std::string&, const CoschedulingArgs&, const FeatureGates&) {}

void check(Complaints&, const std::string&, const std::monostate&, const FeatureGates&) {}
void check(Complaints&, const std::string&, const OpaqueArgs&, const FeatureGates&) {}

}  // namespace

std::vector<std::string> check_args(const PluginArgs& args, const std::string& path,
                                    const FeatureGates& gates) {
  Complaints complaints;
  std::visit([&](const auto& typed) { check(complaints, path, typed, gates); }, args);
  return complaints.take();
}

std::vector<std::string> validate(const CoschedulingArgs& args) {
  Complaints complaints;
  // Parity: zero is allowed all the same.
  constexpr std::string_view kNotNegative = "must be greater than 0";
  if (args.permit_waiting_time_seconds < 0) {
    complaints.invalid("permitWaitingTimeSeconds", args.permit_waiting_time_seconds, kNotNegative);
  }
  if (args.pod_group_backoff_seconds < 0) {
    complaints.invalid("podGroupBackoffSeconds", args.pod_group_backoff_seconds, kNotNegative);
  }
  if (args.pod_group_reject_percentage < 0 || args.pod_group_reject_percentage > kMaxPercentage) {
    complaints.invalid("podGroupRejectPercentage", args.pod_group_reject_percentage,
                       "must be between 0 and 100");
  }
  return complaints.take();
}

std::vector<std::string> validate(const NodeResourcesFitArgs& args) {
  Complaints complaints;
  for (std::size_t i = 0; i < args.ignored_resources.size(); ++i) {
    complaints.check_name(at("ignoredResources", i), args.ignored_resources[i]);
  }
  for (std::size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string& group = args.ignored_resource_groups[i];
    const std::string path = at("ignoredResourceGroups", i);
    if (group.contains('/')) {
      complaints.invalid(path, std::string_view(go_quoted(group)),
                         "resource group name can't contain '/'");
    }
    complaints.check_name(path, group);
  }
  if (args.unknown_strategy) {
    complaints.unsupported("scoringStrategy.type", *args.unknown_strategy,
                           {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"});
  }
  for (std::size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceWeight& resource = args.resources[i];
    if (resource.weight > 0 && resource.weight <= 100) continue;
    complaints.invalid(
        at(at("scoringStrategy.resources", i), "weight"), resource.weight,
        fmt::format("resource weight of {} not in valid range (0, 100]", resource.name));
  }
  const std::string ratio = "scoringStrategy.requestedToCapacityRatio";
  const bool given = args.ratio_given || !args.shape.empty();
  if (!args.unknown_strategy && args.strategy == ScoringStrategyType::kRequestedToCapacityRatio) {
    if (given) {
      check_shape(complaints, at(ratio, "shape"), args.shape);
    } else {
      complaints.required(ratio, "must be specified when type is RequestedToCapacityRatio");
    }
  } else if (given) {
    complaints.forbidden(ratio, "must be nil when type is not RequestedToCapacityRatio");
  }
  return complaints.take();
}

}  // namespace berth::config
