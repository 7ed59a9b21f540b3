// Where a group of pods may be placed, and which place is best (TopologyAwareWorkloadScheduling).
//
// TopologyPlacementGenerator proposes one set of nodes for each value of the label that the
// PodGroup's topology constraint names; pods of the group that are on nodes already decide which
// one it is. Without a constraint all nodes are one set. PodGroupPodsCount prefers the set that
// takes the most pods of the group. They read the PodGroup, the nodes' labels and where the group's
// pods are, and reject no pod themselves.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/plugin_table.h"
#include "framework/group_plugins.h"

namespace berth::plugins {

class TopologyPlacementGenerator final : public PlacementGeneratePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "TopologyPlacementGenerator"; }
  Dependence dependence() const override { return Dependence::kRow; }  // it gives no such answer
  std::optional<std::vector<EventRegistration>> events_to_register() const override {
    return std::vector<EventRegistration>{};
  }
  // In the order of the label's values.
  Generated generate(const PodGroup& group, const GroupState* scheduled,
                     const Cluster& cluster) const override;
};

class PodGroupPodsCount final : public PlacementScorePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "PodGroupPodsCount"; }
  Dependence dependence() const override { return Dependence::kRow; }  // it gives no such answer
  std::optional<std::vector<EventRegistration>> events_to_register() const override {
    return std::vector<EventRegistration>{};
  }
  Score score_placement(const TriedPlacement& placement, const Cluster& cluster) const override;
  void normalize_placements(std::span<Score> scores) const override;
};

}  // namespace berth::plugins
