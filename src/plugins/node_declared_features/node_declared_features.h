// NodeDeclaredFeatures rejects nodes whose kubelet does not declare a feature that the pod needs.
// Reads the nodes' declared features, and of the pod what needs one: rules that restart all
// containers, a user namespace beside the host's network, and options of mounts. Changes its mind when a node is added
// or declares other features, or when the pod itself changes. Without the gate NodeDeclaredFeatures
// it rejects nothing.
#pragma once

#include <bitset>
#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

// A bit per feature that a node may declare, in the order of their names.
using NodeFeatures = std::bitset<9>;

NodeFeatures features_needed_by(const PodSpec& spec);
NodeFeatures features_declared_by(const Node& node, const Symbols& symbols);

class NodeDeclaredFeatures final : public PreFilterPlugin,
                                   public FilterPlugin,
                                   public ObstaclePlugin,
                                   public SignPlugin {
 public:
  explicit NodeDeclaredFeatures(bool enabled) : enabled_(enabled) {}
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodeDeclaredFeatures"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kRow; }

  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;

  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 private:
  bool enabled_;
};

}  // namespace berth::plugins
