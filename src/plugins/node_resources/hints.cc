// NodeResourcesFit: what may change its mind.
#include <algorithm>

#include "plugins/event_objects.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_resources/request.h"

namespace berth::plugins {
namespace {

// Asks about each resource that is asked for at all, with its amount, how a Resources has it, and
// its name if it is a scalar. True as soon as one answer is.
template <typename Question>
bool any_requested(const Resources& request, Question question) {
  const auto asked = [&](std::int64_t amount, auto of, Symbol name = {}) {
    return amount > 0 && question(amount, of, name);
  };
  if (asked(request.milli_cpu, [](const Resources& r) { return r.milli_cpu; })) return true;
  if (asked(request.memory, [](const Resources& r) { return r.memory; })) return true;
  if (asked(request.ephemeral_storage, [](const Resources& r) { return r.ephemeral_storage; }))
    return true;
  return std::ranges::any_of(request.scalars, [&](const ScalarAmount& scalar) {
    return asked(
        scalar.amount, [&](const Resources& r) { return r.scalar(scalar.name); }, scalar.name);
  });
}

// Whether the pod held a place on a node, or had one kept for it.
Result<QueueingHint> after_placed_pod_delete(const Pod&, const AnyObject& before,
                                             const AnyObject& after) {
  const auto change = change_in<Pod>(before, after);
  if (!change) return fail(change.error());
  const Pod* gone = change->before;
  return queue_if(gone && (!gone->node().empty() || !gone->nominated_node().empty()));
}

Result<QueueingHint> after_device_class_change(const Pod& pod, const AnyObject& before,
                                               const AnyObject& after) {
  const auto change = change_in<DeviceClass>(before, after);
  if (!change) return fail(change.error());
  if (!change->after) return QueueingHint::kSkip;
  const Resources& request = pod.spec().usage.requests;
  const Symbol extended = change->after->extended_resource_name;
  if (!change->before) {
    // Every class has a resource name of its own, beside the one that it may state.
    const Symbol implicit =
        pod.symbols().find("deviceclass.resource.kubernetes.io/" + change->after->name);
    if (!implicit.empty() && request.has_scalar(implicit)) return QueueingHint::kQueue;
  } else if (change->before->extended_resource_name == extended) {
    return QueueingHint::kSkip;
  }
  return queue_if(!extended.empty() && request.has_scalar(extended));
}

}  // namespace

std::optional<std::vector<EventRegistration>> NodeResourcesFit::events_to_register() const {
  const auto scaling_hint = [this](const Pod& pod, const AnyObject& before,
                                   const AnyObject& after) {
    return after_pod_scale_down(pod, before, after);
  };
  const auto node_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_node_change(pod, before, after);
  };
  std::vector<EventRegistration> registrations{
      {{EventResource::kAssignedPod, action::kDelete, {}},
       after_placed_pod_delete,
       HintScope::kClass},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable, {}},
       node_hint,
       HintScope::kClass},
  };
  if (classes_)
    registrations.push_back({{EventResource::kDeviceClass, action::kAdd | action::kUpdate, {}},
                             after_device_class_change,
                             HintScope::kClass});
  if (gates_.in_place_scaling) {
    registrations.push_back({{EventResource::kAssignedPod, action::kUpdatePodScaleDown, {}},
                             scaling_hint,
                             HintScope::kClass});
    registrations.push_back({{EventResource::kTargetPod, action::kUpdatePodScaleDown, {}}, {}});
  }
  return registrations;
}

Result<QueueingHint> NodeResourcesFit::after_pod_scale_down(const Pod& pod, const AnyObject& before,
                                                            const AnyObject& after) const {
  const auto change = change_in<Pod>(before, after);
  if (!change) return fail(change.error());
  const auto [old_pod, new_pod] = *change;
  if (!old_pod || !new_pod || new_pod->node().empty()) return QueueingHint::kSkip;
  return queue_if(scaled_down(pod, *old_pod, *new_pod));
}

// Whether a pod gave back something that `wanting` asks for.
// Parity: pod-level resources count here even with their gate off.
bool NodeResourcesFit::scaled_down(const Pod& wanting, const Pod& before, const Pod& after) const {
  const auto request = [&](const Pod& pod) {
    return to_request(
        pod_requests(pod, {.use_status = true, .pod_level_status = gates_.pod_level_status}),
        pod.symbols());
  };
  const Resources old_request = request(before), new_request = request(after);
  return any_requested(request(wanting), [&](std::int64_t, auto of, Symbol) {
    return of(old_request) > of(new_request);
  });
}

// Whether a node without any pods would take the request.
// Parity: what the configuration says to ignore is not ignored here.
bool NodeResourcesFit::fits_empty_node(const Resources& request,
                                       const Resources& allocatable) const {
  return allocatable.pods >= 1 &&
         !any_requested(request, [&](std::int64_t amount, auto of, Symbol name) {
           return amount > of(allocatable) && !(of(allocatable) <= 0 && is_devices(name));
         });
}

Result<QueueingHint> NodeResourcesFit::after_node_change(const Pod& pod, const AnyObject& before,
                                                         const AnyObject& after) const {
  const auto change = change_in<Node>(before, after);
  if (!change) return fail(change.error());
  if (!change->after) return QueueingHint::kSkip;
  const Resources request = incoming_request(pod, gates_.pod_level_resources);
  const Resources& now = change->after->allocatable_resources;
  if (!fits_empty_node(request, now)) return QueueingHint::kSkip;
  if (!change->before) return QueueingHint::kQueue;

  const Resources& then = change->before->allocatable_resources;
  const bool grew =
      now.pods > then.pods || any_requested(request, [&](std::int64_t, auto of, Symbol name) {
        return of(now) > of(then) || (of(now) <= 0 && is_devices(name));
      });
  return queue_if(grew);
}

}  // namespace berth::plugins
