// NodeResourcesFit rejects nodes that have too little left of what the pod requests, or no place
// for another pod, and prefers nodes by how full they would be (least, most, or by a shape). Reads
// the pod's requests, and allocatable and requested resources and the number of pods by node.
// Changes its mind when a pod goes or asks for less, when a node is added or gets more, or when a
// DeviceClass takes over a resource: what a node has none of then is none of its business.
//
// filtering.cc, scoring.cc and hints.cc are its three phases, placement_scoring.cc is for groups.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "berth/plugin_table.h"
#include "framework/group_plugins.h"
#include "plugins/device_class_resources.h"
#include "plugins/node_resources/allocation.h"
#include "plugins/node_resources/request.h"
#include "plugins/normalize.h"

namespace berth::plugins {

class NodeResourcesFit final : public PreFilterPlugin,
                               public FilterPlugin,
                               public ObstaclePlugin,
                               public PreScorePlugin,
                               public ScorePlugin,
                               public PlacementScorePlugin,
                               public SignPlugin {
 public:
  NodeResourcesFit(const config::NodeResourcesFitArgs& args, const Handle& handle);
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodeResourcesFit"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kRow; }
  bool score_keys(Cycle& cycle, RowKeys& keys) const override;

  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;

  Outcome pre_score(Cycle& cycle, const NodeSet& feasible) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  bool normalizes() const override { return false; }
  Score score_placement(const TriedPlacement& placement, const Cluster& cluster) const override;

  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 private:
  // Whether the configuration says to ignore this resource.
  bool is_ignored(std::string_view resource) const;
  // Whether a DeviceClass stands behind it: where a node has none of it, it is for DynamicResources
  // to find devices.
  bool is_devices(Symbol resource) const { return classes_ && classes_->find(resource); }
  ScoredAmounts scored(const Cycle& cycle) const;

  Result<QueueingHint> after_pod_scale_down(const Pod& pod, const AnyObject& before,
                                            const AnyObject& after) const;
  Result<QueueingHint> after_node_change(const Pod& pod, const AnyObject& before,
                                         const AnyObject& after) const;
  bool scaled_down(const Pod& wanting, const Pod& before, const Pod& after) const;
  bool fits_empty_node(const Resources& request, const Resources& allocatable) const;

  std::set<std::string, std::less<>> ignored_resources_;
  std::set<std::string, std::less<>> ignored_resource_groups_;
  config::ScoringStrategyType strategy_;
  BrokenLinear shape_;  // of RequestedToCapacityRatio
  ScoredResources resources_;
  ResourceList defaults_;  // what scoring assumes for a container without requests
  RequestGates gates_;
  std::shared_ptr<DeviceClassResources> classes_;  // null: extended resources are no devices
};

}  // namespace berth::plugins
