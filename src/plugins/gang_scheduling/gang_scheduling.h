// GangScheduling keeps the pods of a gang out of the queue until there are minCount of them, ends
// the cycle of a group that cannot reach that number any more, and holds pods at Permit until so
// many have a node.
//
// It reads spec.schedulingGroup, the pod's PodGroup and how many of its pods there are; more pods
// of the group, the PodGroup itself and a lower minCount change its mind.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin_table.h"
#include "framework/group_plugins.h"

namespace berth::plugins {

class GangScheduling final : public PreEnqueuePlugin,
                             public PlacementFeasiblePlugin,
                             public PermitPlugin {
 public:
  explicit GangScheduling(const Handle& handle);
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "GangScheduling"; }
  Dependence dependence() const override { return Dependence::kRow; }  // it gives no such answer

  Outcome pre_enqueue(const Pod& pod) const override;
  Outcome placement_feasible(const PodGroup& group, PlacementProgress progress) const override;
  PermitResult permit(Cycle& cycle, std::string_view node_name) override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 private:
  Ref<const PodGroup> group_of_pod(const Pod& pod) const;

  const Handle handle_;
  const std::shared_ptr<GroupStates> states_;
};

}  // namespace berth::plugins
