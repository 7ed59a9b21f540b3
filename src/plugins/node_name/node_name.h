// NodeName leaves a pod that names a node in spec.nodeName no other: PreFilter narrows the search to
// it, and Filter rejects the others wherever it is asked about them.
// Reads spec.nodeName and the nodes' names.
// Changes its mind when a node is added.
#pragma once

#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

class NodeName final : public PreFilterPlugin,
                       public FilterPlugin,
                       public ObstaclePlugin,
                       public SignPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodeName"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kRow; }
  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  // Of rows that PreFilter left out, which are all that Filter would reject.
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;
};

}  // namespace berth::plugins
