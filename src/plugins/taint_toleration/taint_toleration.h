// TaintToleration rejects nodes with a NoSchedule or NoExecute taint that the pod does not
// tolerate, and prefers those with the fewest PreferNoSchedule taints that it does not tolerate.
// Reads the nodes' taints and the pod's tolerations.
// Changes its mind when a node is added or its taints change, or when the pod's tolerations change.
#pragma once

#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

class TaintToleration final : public PreFilterPlugin,
                              public FilterPlugin,
                              public ObstaclePlugin,
                              public PreScorePlugin,
                              public ScorePlugin,
                              public SignPlugin {
 public:
  // `comparison_operators`: tolerations may use Lt and Gt (TaintTolerationComparisonOperators).
  explicit TaintToleration(bool comparison_operators)
      : comparison_operators_(comparison_operators) {}
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "TaintToleration"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kRow; }

  // Parity: upstream's has nothing to do here, but counts as an evaluation.
  PreFilterResult pre_filter(Cycle&) const override { return PreFilterResult::success(); }
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  Outcome pre_score(Cycle& cycle, const NodeSet& feasible) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  Outcome normalize(const Cycle& cycle, const NodeSet& feasible,
                    std::span<Score> by_row) const override;

  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 private:
  TolerationRules rules(const Symbols& symbols) const { return {symbols, comparison_operators_}; }
  bool repels(const Node& node, const Pod& pod) const;
  Result<QueueingHint> after_node_change(const Pod& pod, const AnyObject& before,
                                         const AnyObject& after) const;

  bool comparison_operators_;
};

}  // namespace berth::plugins
