// DynamicResources allocates devices for the pod's resource claims and rejects nodes without them.
//
// A pod without claims, and without extended resources that a DeviceClass stands behind, passes it
// untouched: it skips, and scores nothing. Allocating itself is not built yet; a pod that needs it
// is told so, in PreFilter, and stays pending.
// Reads the pod's resource claims and requests, and the DeviceClasses.
#pragma once

#include <memory>

#include "framework/plugin_table.h"

namespace berth::plugins {

class DynamicResources final : public PreEnqueuePlugin,
                               public PreFilterPlugin,
                               public FilterPlugin,
                               public PostFilterPlugin,
                               public ScorePlugin,
                               public ReservePlugin,
                               public PreBindPlugin,
                               public SignPlugin {
 public:
  // `extended_resources`: DeviceClasses may stand behind them (DRAExtendedResource).
  explicit DynamicResources(bool extended_resources) : extended_resources_(extended_resources) {}
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "DynamicResources"; }
  Dependence dependence() const override { return Dependence::kObjects; }

  Outcome pre_enqueue(const Pod&) const override { return Outcome::success(); }
  PreFilterResult pre_filter(Cycle& cycle) const override;
  // PreFilter leaves no pod to be filtered.
  void filter(const Cycle&, FilterPass&) const override {}
  Task<PostFilterResult> post_filter(Cycle& cycle, const Diagnosis& diagnosis) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  Outcome reserve(Cycle&, std::string_view) const override { return Outcome::success(); }
  void unreserve(Cycle&, std::string_view) const override {}
  PreBindPreFlight pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const override;
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view node_name,
                         CancelToken cancel) const override;

  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 private:
  bool extended_resources_;
};

}  // namespace berth::plugins
