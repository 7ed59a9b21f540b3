// NodePorts rejects nodes where a host port that the pod wants is taken.
// Reads the host ports in use on the nodes and those of the pod's sidecars and containers.
// Changes its mind when a pod that has such a port goes away, or when a node is added.
#pragma once

#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

class NodePorts final : public PreFilterPlugin,
                        public FilterPlugin,
                        public ObstaclePlugin,
                        public SignPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodePorts"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kRow; }

  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;

  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;
};

}  // namespace berth::plugins
