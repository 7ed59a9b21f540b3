#include "plugins/node_unschedulable/node_unschedulable.h"

#include "api/names.h"
#include "plugins/event_objects.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kCordoned };
constexpr std::string_view kNodeUnschedulableReasons[] = {"node(s) were unschedulable"};

bool tolerates_cordon(const Pod& pod) {
  const Taint taint{names::kUnschedulableTaint, {}, TaintEffect::kNoSchedule};
  // The taint has no value, so that comparing operators never tolerate it, gate or not.
  return tolerates(pod.spec().tolerations, taint, {pod.symbols()});
}

Result<QueueingHint> after_cordon_change(const Pod&, const AnyObject& before,
                                         const AnyObject& after) {
  const auto node = change_in<Node>(before, after);
  if (!node) return fail(node.error());
  const bool was_closed = !node->before || node->before->unschedulable;
  const bool is_open = node->after && !node->after->unschedulable;
  return queue_if(was_closed && is_open);
}

Result<QueueingHint> after_cordon_toleration_change(const Pod&, const AnyObject&,
                                                    const AnyObject& after) {
  Result<const Pod*> updated = object_in<Pod>(after);
  if (!updated) return fail(updated.error());
  return queue_if(*updated && tolerates_cordon(**updated));
}

}  // namespace

Result<std::unique_ptr<Plugin>> NodeUnschedulable::create(const config::PluginArgs&,
                                                          const Handle&) {
  return std::make_unique<NodeUnschedulable>();
}

std::span<const std::string_view> NodeUnschedulable::reasons() const {
  return kNodeUnschedulableReasons;
}

void NodeUnschedulable::filter(const Cycle& cycle, FilterPass& pass) const {
  if (tolerates_cordon(cycle.pod())) return;
  NodeSet::for_each_common(pass.feasible(), cycle.nodes().cordoned(), [&](NodeRow row) {
    pass.reject(row, Code::kUnschedulableAndUnresolvable, kCordoned);
  });
}

std::vector<Obstacle> NodeUnschedulable::obstacles(const Cycle& cycle, NodeRow row) const {
  if (!cycle.nodes().cordoned().contains(row) || tolerates_cordon(cycle.pod())) return {};
  return {{.code = "Cordoned",
           .reason = std::string(kNodeUnschedulableReasons[kCordoned]),
           .subject = {},
           .text = "the node is cordoned, which the pod does not tolerate",
           .facts = {{"taint", std::string(cycle.symbols().text(names::kUnschedulableTaint))}}}};
}

std::optional<std::vector<EventRegistration>> NodeUnschedulable::events_to_register() const {
  return {{{{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint, {}},
            after_cordon_change,
            HintScope::kClass},
           {{EventResource::kTargetPod, action::kUpdatePodToleration, {}},
            after_cordon_toleration_change,
            HintScope::kClass}}};
}

Outcome NodeUnschedulable::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  fragments.push_back(tolerations_fragment(pod));
  return Outcome::success();
}

}  // namespace berth::plugins
