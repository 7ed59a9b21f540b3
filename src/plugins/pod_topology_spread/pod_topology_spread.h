// PodTopologySpread spreads pods over zones, nodes or whatever domains a node label makes. It
// rejects nodes whose domain would have more matching pods than the emptiest one, by more than
// maxSkew (DoNotSchedule), and prefers nodes in emptier domains (ScheduleAnyway). Reads the pod's
// topologySpreadConstraints or, where it has none, default ones for the pods of its Services and
// controller; the nodes' labels and taints; the labels of pods on nodes.
// Changes its mind when pods of the namespace come, go or change their labels, or when nodes do.
//
// constraints.cc reads the constraints, filtering.cc, scoring.cc and hints.cc are its three phases.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "berth/plugin_table.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/default_selector.h"

namespace berth::plugins {

class PodTopologySpread final : public PreFilterPlugin,
                                public FilterPlugin,
                                public ObstaclePlugin,
                                public PreScorePlugin,
                                public ScorePlugin,
                                public SignPlugin {
 public:
  // What of the feature gates concerns it.
  struct Gates {
    bool match_label_keys = true;       // MatchLabelKeysInPodTopologySpread
    bool comparison_operators = false;  // TaintTolerationComparisonOperators
  };

  PodTopologySpread(const config::PodTopologySpreadArgs& args, Gates gates, const Cluster& cluster);
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "PodTopologySpread"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kDomain; }
  bool filter_keys(const Cycle& cycle, RowKeys& keys) const override;
  bool score_keys(Cycle& cycle, RowKeys& keys) const override;

  PreFilterResult pre_filter(Cycle& cycle) const override;
  Outcome add_pod(Cycle& cycle, const Pod& pod, NodeRow row) const override;
  Outcome remove_pod(Cycle& cycle, const Pod& pod, NodeRow row) const override;
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;

  Outcome pre_score(Cycle& cycle, const NodeSet& feasible) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  Outcome normalize(const Cycle& cycle, const NodeSet& feasible,
                    std::span<Score> by_row) const override;

  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;
  bool signs_any() const override { return default_constraints_.empty(); }

 private:
  // The constraints that count for the pod: its own if it has any at all, else the default ones.
  Result<std::vector<SpreadConstraint>> constraints(const Pod& pod,
                                                    UnsatisfiableAction action) const;
  TolerationRules rules(const Symbols& symbols) const {
    return {symbols, gates_.comparison_operators};
  }
  Outcome count(Cycle& cycle, const Pod& pod, NodeRow row, std::int32_t by) const;

  Result<QueueingHint> after_own_change(const Pod& pod, const AnyObject& before,
                                        const AnyObject& after) const;
  Result<QueueingHint> after_assigned_pod_change(const Pod& pod, const AnyObject& before,
                                                 const AnyObject& after) const;
  Result<QueueingHint> after_node_change(const Pod& pod, const AnyObject& before,
                                         const AnyObject& after) const;

  Gates gates_;
  bool system_defaults_;
  std::vector<TopologySpreadConstraint> default_constraints_;
  SymbolHold symbols_;                          // of default_constraints_
  mutable DefaultSelectors default_selectors_;  // a memory, and only on the world thread
};

}  // namespace berth::plugins
