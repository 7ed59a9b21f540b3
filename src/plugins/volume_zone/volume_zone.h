// VolumeZone rejects nodes outside the zones and regions that the labels of the pod's volumes name.
// A claim that is missing, or not bound although it should be by now, rejects the pod.
// Reads the claims that the pod names, the labels of their volumes, and the nodes' zone labels.
// Changes its mind when nodes come or change their labels, when such claims or volumes come or
// change, and when a class comes that binds only after scheduling.
#pragma once

#include <memory>

#include "berth/plugin_table.h"
#include "plugins/signature.h"

namespace berth::plugins {

class VolumeZone final : public PreFilterPlugin,
                         public FilterPlugin,
                         public SignVolumesPlugin,
                         public ObstaclePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "VolumeZone"; }
  std::span<const std::string_view> reasons() const override;
  Dependence dependence() const override { return Dependence::kObjects; }

  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;
};

}  // namespace berth::plugins
