// SchedulingGates keeps pods out of the queue while they have scheduling gates.
// Reads spec.schedulingGates.
// Changes its mind when the last gate of the pod itself is removed.
#pragma once

#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

class SchedulingGates final : public PreEnqueuePlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "SchedulingGates"; }
  Dependence dependence() const override { return Dependence::kRow; }
  Outcome pre_enqueue(const Pod& pod) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;
};

}  // namespace berth::plugins
