// InterPodAffinity rejects nodes that are not near the pods which the pod requires, nodes that are
// near pods which it must avoid, and nodes near pods that want to avoid it; it prefers nodes by the
// preferred terms of the pod and of those that are there already. What is near is a matter of a
// term's topology key. Reads the pod's affinity and labels, the pods on nodes and theirs, the
// nodes' labels and the labels of namespaces. Changes its mind when pods come, go or get other
// labels, and when nodes are added or relabelled.
//
// filtering.cc, scoring.cc and hints.cc are its three phases, obstacles.cc says why a node is
// rejected; terms.h is the pod's side of them.
#pragma once

#include <cstdint>
#include <memory>

#include "berth/plugin_table.h"
#include "plugins/inter_pod_affinity/terms.h"

namespace berth::plugins {

class InterPodAffinity final : public PreFilterPlugin,
                               public FilterPlugin,
                               public ObstaclePlugin,
                               public PreScorePlugin,
                               public ScorePlugin,
                               public SignPlugin {
 public:
  InterPodAffinity(const config::InterPodAffinityArgs& args, const Cluster& cluster);
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "InterPodAffinity"; }
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

 private:
  // The result of PreScore for Score; Skip when there are no preferred terms.
  Outcome weigh(Cycle& cycle) const;
  Result<QueueingHint> after_assigned_pod_change(const Pod& pod, const AnyObject& before,
                                                 const AnyObject& after) const;
  Result<QueueingHint> after_node_change(const Pod& pod, const AnyObject& before,
                                         const AnyObject& after) const;
  Outcome count_pod(Cycle& cycle, const Pod& pod, NodeRow row, std::int64_t change) const;

  std::int32_t hard_pod_affinity_weight_;
  bool ignore_preferred_terms_of_existing_pods_;
  std::unique_ptr<SelectedNamespaces> namespaces_;
  std::unique_ptr<HintTerms> hint_terms_;
};

}  // namespace berth::plugins
