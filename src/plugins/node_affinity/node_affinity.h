// NodeAffinity rejects nodes that the pod's nodeSelector and required node affinity do not allow,
// or that the profile's addedAffinity does not, and prefers those that match more weight of
// preferred terms. A pod whose terms name its nodes (metadata.name) is tried only there.
// Reads the nodes' labels and names and the pod's nodeSelector and node affinity.
// Changes its mind when a node is added or its labels change.
#pragma once

#include <memory>

#include "berth/node_selector.h"
#include "berth/plugin_table.h"

namespace berth::plugins {

class NodeAffinity final : public PreFilterPlugin,
                           public FilterPlugin,
                           public ObstaclePlugin,
                           public PreScorePlugin,
                           public ScorePlugin,
                           public SignPlugin {
 public:
  // The affinity that the profile adds to every pod's.
  struct Added {
    std::optional<NodeSelector> required;
    std::vector<NodeSelectorTerm> written;  // what `required` is made of
    NodePreferences preferred;
    bool prefers = false;  // some preferred term was given, even one without weight
    SymbolHold symbols;    // of the above
  };
  explicit NodeAffinity(Added added) : added_(std::move(added)) {}
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodeAffinity"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kRow; }

  PreFilterResult pre_filter(Cycle& cycle) const override;
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
  Result<QueueingHint> after_node_change(const Pod& pod, const AnyObject& before,
                                         const AnyObject& after) const;

  Added added_;
};

}  // namespace berth::plugins
