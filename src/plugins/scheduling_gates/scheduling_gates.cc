#include "plugins/scheduling_gates/scheduling_gates.h"

namespace berth::plugins {

Result<std::unique_ptr<Plugin>> SchedulingGates::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<SchedulingGates>();
}

Outcome SchedulingGates::pre_enqueue(const Pod& pod) const {
  if (pod.spec().scheduling_gates.empty()) return Outcome::success();
  std::string names;
  for (const Symbol gate : pod.spec().scheduling_gates) {
    if (!names.empty()) names += ' ';
    names += pod.text(gate);
  }
  return Outcome::of(Code::kUnschedulableAndUnresolvable,
                     "waiting for scheduling gates: [" + names + "]");
}

std::optional<std::vector<EventRegistration>> SchedulingGates::events_to_register() const {
  return {{{{EventResource::kTargetPod, action::kUpdatePodSchedulingGatesEliminated, {}}, {}}}};
}

}  // namespace berth::plugins
