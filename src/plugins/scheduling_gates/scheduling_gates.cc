#include "plugins/scheduling_gates/scheduling_gates.h"

#include "plugins/event_objects.h"

namespace berth::plugins {
namespace {

Result<QueueingHint> after_gates_eliminated(const Pod& pod, const AnyObject&,
                                            const AnyObject& after) {
  Result<const Pod*> updated = pod_in(after);
  if (!updated) return fail(updated.error());
  return *updated && (*updated)->uid() == pod.uid() ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

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
  return {{{{EventResource::kPod, action::kUpdatePodSchedulingGatesEliminated, {}},
            after_gates_eliminated,
            HintScope::kClass}}};
}

}  // namespace berth::plugins
