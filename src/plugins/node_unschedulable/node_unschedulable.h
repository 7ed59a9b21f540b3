// NodeUnschedulable keeps pods off cordoned nodes, unless they tolerate the unschedulable taint.
// Reads node.spec.unschedulable and the pod's tolerations; the taint itself, which usually stands
// beside it, is TaintToleration's business.
// Changes its mind when a node is added or uncordoned, or when the pod's tolerations change.
#pragma once

#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

class NodeUnschedulable final : public PreFilterPlugin,
                                public FilterPlugin,
                                public ObstaclePlugin,
                                public SignPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodeUnschedulable"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kRow; }
  // Parity: upstream's has nothing to do here, but counts as an evaluation.
  PreFilterResult pre_filter(Cycle&) const override { return PreFilterResult::success(); }
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;
};

}  // namespace berth::plugins
