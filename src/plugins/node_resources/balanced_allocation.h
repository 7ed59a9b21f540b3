// NodeResourcesBalancedAllocation prefers nodes whose resources the pod would leave more evenly
// used than they are without it. Reads the pod's requests, and allocatable and requested resources
// by node. A pod that requests none of the configured resources is none of its business. Rejects
// nothing, so no event can change its mind.
#pragma once

#include <memory>

#include "berth/plugin_table.h"
#include "plugins/device_class_resources.h"
#include "plugins/node_resources/allocation.h"
#include "plugins/node_resources/request.h"

namespace berth::plugins {

class NodeResourcesBalancedAllocation final : public PreScorePlugin,
                                              public ScorePlugin,
                                              public SignPlugin {
 public:
  NodeResourcesBalancedAllocation(const config::NodeResourcesBalancedAllocationArgs& args,
                                  const Handle& handle);
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodeResourcesBalancedAllocation"; }
  Dependence dependence() const override { return Dependence::kRow; }
  bool score_keys(Cycle& cycle, RowKeys& keys) const override;

  Outcome pre_score(Cycle& cycle, const NodeSet& feasible) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  bool normalizes() const override { return false; }

  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 private:
  ScoredAmounts scored(const Cycle& cycle) const;

  ScoredResources resources_;
  RequestGates gates_;
  std::shared_ptr<DeviceClassResources> classes_;  // null: extended resources are no devices
};

}  // namespace berth::plugins
