// NodeVolumeLimits rejects nodes where more volumes would be attached than a CSI driver can attach
// there, by the limits of the node's CSINode, and nodes without a driver that asks not to be done
// without (CSIDriver's preventPodSchedulingIfMissing). Volumes that a node has already cost
// nothing; those of in-tree types count as their drivers' (csi_translation.h). Reads the volumes of
// the pod and of the pods on nodes, the claims, volumes and classes behind them, CSINodes,
// CSIDrivers and VolumeAttachments.
// Changes its mind when a CSINode comes or allows more, when a pod with volumes or an attachment
// goes, or when a claim that the pod names comes.
#pragma once

#include <memory>

#include "berth/plugin_table.h"
#include "plugins/signature.h"

namespace berth::plugins {

class AttachTable;

class NodeVolumeLimits final : public PreFilterPlugin,
                               public FilterPlugin,
                               public SignVolumesPlugin,
                               public ObstaclePlugin {
 public:
  // `needs_driver`: nodes without a driver that asks for it are rejected (VolumeLimitScaling).
  NodeVolumeLimits(const Cluster& cluster, bool needs_driver);
  ~NodeVolumeLimits() override;
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "NodeVolumeLimits"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kObjects; }

  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 private:
  struct WantedByNode;
  static WantedByNode wanted_by(const Cluster& cluster, const Pod& pod);
  void filter_on_trial(const Cycle& cycle, const WantedByNode& by_node, FilterPass& pass) const;
  void filter_kept(const Cycle& cycle, const WantedByNode& by_node, FilterPass& pass) const;

  std::unique_ptr<AttachTable> table_;
  bool needs_driver_;
};

}  // namespace berth::plugins
