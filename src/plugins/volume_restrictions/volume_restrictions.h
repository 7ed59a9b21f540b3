// VolumeRestrictions rejects nodes where a pod has a disk that the pod wants too and that one node
// or one writer must have to itself (GCE, EBS, iSCSI, RBD), and every node while a claim for one
// pod only (ReadWriteOncePod) is in use by another pod. A claim that does not exist rejects the
// pod. Reads the volumes of the pod and of the pods on nodes, and the access modes of claims.
// Changes its mind when a pod with such a volume goes, a node comes, or the missing claim does.
#pragma once

#include <memory>

#include "berth/plugin_table.h"
#include "plugins/signature.h"

namespace berth::plugins {

class VolumeRestrictions final : public PreFilterPlugin,
                                 public FilterPlugin,
                                 public SignVolumesPlugin,
                                 public ObstaclePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "VolumeRestrictions"; }
  std::span<const std::string_view> reasons() const override;
  // dependence() stays kAnything: a pod anywhere may have the claim.

  PreFilterResult pre_filter(Cycle& cycle) const override;
  Outcome add_pod(Cycle& cycle, const Pod& pod, NodeRow row) const override;
  Outcome remove_pod(Cycle& cycle, const Pod& pod, NodeRow row) const override;
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 private:
  Outcome count(Cycle& cycle, const Pod& pod, int times) const;
};

}  // namespace berth::plugins
