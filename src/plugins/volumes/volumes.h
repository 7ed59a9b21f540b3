// The four plugins about volumes: VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone.
//
// A pod without volumes that they have to judge (configMaps, secrets, emptyDirs and the like need
// nothing of a node) passes them untouched: they skip, and score nothing. Judging claims and disks
// themselves is not built yet; a pod that has one is told so, in PreFilter, and stays pending.
// Read the pod's volumes; the events they register are those that will matter to them.
#pragma once

#include <memory>

#include "framework/plugin_table.h"

namespace berth::plugins {

// What the four have in common.
class VolumePlugin : public PreFilterPlugin, public FilterPlugin, public SignPlugin {
 public:
  Dependence dependence() const override { return Dependence::kObjects; }

  PreFilterResult pre_filter(Cycle& cycle) const override;
  // PreFilter leaves no pod to be filtered.
  void filter(const Cycle&, FilterPass&) const override {}
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 protected:
  // Whether a volume from such a source is this plugin's business.
  virtual bool judges(VolumeSource source) const = 0;
};

// Keeps pods off nodes where a volume is in use that cannot be shared.
class VolumeRestrictions final : public VolumePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);
  std::string_view name() const override { return "VolumeRestrictions"; }
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 protected:
  bool judges(VolumeSource source) const override;
};

// Keeps pods off nodes that cannot attach as many volumes.
class NodeVolumeLimits final : public VolumePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);
  std::string_view name() const override { return "NodeVolumeLimits"; }
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 protected:
  bool judges(VolumeSource source) const override;
};

// Finds or provisions volumes for the pod's claims.
class VolumeBinding final : public VolumePlugin,
                            public PreScorePlugin,
                            public ScorePlugin,
                            public ReservePlugin,
                            public PreBindPlugin {
 public:
  // `scores_capacity`: nodes are scored by the storage that is left (StorageCapacityScoring).
  explicit VolumeBinding(bool scores_capacity) : scores_capacity_(scores_capacity) {}
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);
  std::string_view name() const override { return "VolumeBinding"; }

  Outcome pre_score(Cycle& cycle, const NodeSet& feasible) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  Outcome reserve(Cycle&, std::string_view) const override { return Outcome::success(); }
  void unreserve(Cycle&, std::string_view) const override {}
  PreBindPreFlight pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const override;
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view node_name,
                         CancelToken cancel) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 protected:
  bool judges(VolumeSource source) const override;

 private:
  bool scores_capacity_;
};

// Keeps pods off nodes outside the zones of their volumes.
class VolumeZone final : public VolumePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);
  std::string_view name() const override { return "VolumeZone"; }
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 protected:
  bool judges(VolumeSource source) const override;
};

}  // namespace berth::plugins
