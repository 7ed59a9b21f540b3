#include "berth/events.h"

#include <algorithm>
#include <array>
#include <utility>

namespace berth {

std::string_view to_string(EventResource resource) {
  switch (resource) {
    case EventResource::kPod: return "Pod";
    case EventResource::kAssignedPod: return "AssignedPod";
    case EventResource::kUnscheduledPod: return "UnscheduledPod";
    case EventResource::kTargetPod: return "TargetPod";
    case EventResource::kNode: return "Node";
    case EventResource::kPersistentVolume: return "PersistentVolume";
    case EventResource::kPersistentVolumeClaim: return "PersistentVolumeClaim";
    case EventResource::kCSINode: return "storage.k8s.io/CSINode";
    case EventResource::kCSIDriver: return "storage.k8s.io/CSIDriver";
    case EventResource::kVolumeAttachment: return "storage.k8s.io/VolumeAttachment";
    case EventResource::kCSIStorageCapacity: return "storage.k8s.io/CSIStorageCapacity";
    case EventResource::kStorageClass: return "storage.k8s.io/StorageClass";
    case EventResource::kResourceClaim: return "resource.k8s.io/ResourceClaim";
    case EventResource::kResourceSlice: return "resource.k8s.io/ResourceSlice";
    case EventResource::kDeviceClass: return "resource.k8s.io/DeviceClass";
    case EventResource::kPodGroup: return "scheduling.k8s.io/PodGroup";
    case EventResource::kCompositePodGroup: return "scheduling.k8s.io/CompositePodGroup";
    case EventResource::kOther: return "";  // ClusterEvent::other
    case EventResource::kWildcard: return "*";
  }
  return "*";
}

namespace {

// A single action's name; masks other than the two named ones have none.
std::string_view action_name(std::uint32_t actions) {
  static constexpr std::array<std::pair<std::uint32_t, std::string_view>, 17> kNames{{
      {action::kAdd, "Add"},
      {action::kDelete, "Delete"},
      {action::kUpdateNodeAllocatable, "UpdateNodeAllocatable"},
      {action::kUpdateNodeLabel, "UpdateNodeLabel"},
      {action::kUpdateNodeTaint, "UpdateNodeTaint"},
      {action::kUpdateNodeCondition, "UpdateNodeCondition"},
      {action::kUpdateNodeAnnotation, "UpdateNodeAnnotation"},
      {action::kUpdateNodeDeclaredFeature, "UpdateNodeDeclaredFeature"},
      {action::kUpdateNodePreemptionPolicy, "UpdateNodePreemptionPolicy"},
      {action::kUpdatePodLabel, "UpdatePodLabel"},
      {action::kUpdatePodScaleDown, "UpdatePodScaleDown"},
      {action::kUpdatePodScaleUp, "UpdatePodScaleUp"},
      {action::kUpdatePodToleration, "UpdatePodToleration"},
      {action::kUpdatePodSchedulingGatesEliminated, "UpdatePodSchedulingGatesEliminated"},
      {action::kUpdatePodGeneratedResourceClaim, "UpdatePodGeneratedResourceClaim"},
      {action::kAll, "All"},
      {action::kUpdate, "Update"},
  }};
  const auto found =
      std::ranges::find(kNames, actions, [](const auto& name) { return name.first; });
  return found == kNames.end() ? std::string_view{} : found->second;
}

bool is_pod(EventResource resource) {
  return resource == EventResource::kAssignedPod || resource == EventResource::kUnscheduledPod ||
         resource == EventResource::kTargetPod;
}

// Whether the resources in spec and status are the same, as in nearly every update of a pod.
bool same_resources(const Pod& before, const Pod& after) {
  if (before.spec_ref() != after.spec_ref()) return false;
  const auto has_resources = [](const Pod& pod) {
    return pod.extra() && pod.extra()->has_resources();
  };
  return !has_resources(before) && !has_resources(after);
}

// Whether some amount of `more` is larger than in `less`, in thousandths, or not there at all.
bool exceeds(const ResourceList& more, const ResourceList& less) {
  return std::ranges::any_of(more, [&](const ResourceAmount& amount) {
    const Quantity* other = less.find(amount.name);
    return !other || amount.amount.milli_value() > other->milli_value();
  });
}

// How the requests of a pod changed; both ways when they are for different resources.
struct Scaling {
  bool down = false;
  bool up = false;
};

Scaling scaling(const Pod& before, const Pod& after) {
  if (same_resources(before, after)) return {};
  const RequestOptions options{
      .use_status = true, .pod_level = true, .pod_level_status = true, .defaults = nullptr};
  const ResourceList old_requests = pod_requests(before, options);
  const ResourceList new_requests = pod_requests(after, options);
  return {.down = exceeds(old_requests, new_requests), .up = exceeds(new_requests, old_requests)};
}

// The claims that were made for the pod.
bool generated_claims_changed(const Pod& before, const Pod& after) {
  const auto differs = [&](auto member) {
    using Value = std::remove_cvref_t<decltype(std::declval<PodExtra>().*member)>;
    static const Value kNone{};
    const Value& then = before.extra() ? before.extra()->*member : kNone;
    const Value& now = after.extra() ? after.extra()->*member : kNone;
    return then != now;
  };
  return differs(&PodExtra::resource_claim_statuses) ||
         differs(&PodExtra::extended_resource_claim_status);
}

// type → status, whatever the order.
std::vector<NodeCondition> by_type(std::vector<NodeCondition> conditions) {
  std::ranges::sort(conditions, {}, &NodeCondition::type);
  return conditions;
}

}  // namespace

std::string ClusterEvent::label() const {
  if (!custom_label.empty()) return std::string(custom_label);
  const std::string_view name = resource == EventResource::kOther ? other : to_string(resource);
  return std::string(name) += action_name(actions);
}

std::vector<std::string> ClusterEvent::labels() const {
  if (!custom_label.empty() || !action_name(actions).empty()) return {label()};
  std::vector<std::string> all;
  const auto add = [&](std::uint32_t some) {
    all.push_back(ClusterEvent{resource, some, {}, other}.label());
  };
  std::uint32_t rest = actions;
  if ((rest & action::kUpdate) == action::kUpdate) {
    add(action::kUpdate);
    rest &= ~action::kUpdate;
  }
  for (std::uint32_t bit = 1; bit <= rest; bit <<= 1)
    if ((rest & bit) != 0) add(bit);
  return all;
}

bool matches(const ClusterEvent& registered, const ClusterEvent& incoming) {
  if (registered.is_wildcard()) return true;
  const bool resource =
      registered.resource == EventResource::kWildcard ||
      (registered.resource == incoming.resource && registered.other == incoming.other) ||
      (registered.resource == EventResource::kPod && is_pod(incoming.resource));
  // Parity: compared as numbers, so a generic Update is heard only by who registered all updates.
  return resource && (registered.actions & incoming.actions) != 0 &&
         incoming.actions <= registered.actions;
}

std::vector<ClusterEvent> pod_update_events(const Pod& before, const Pod& after,
                                            EventResource without_node) {
  const EventResource resource = after.node().empty() ? without_node : EventResource::kAssignedPod;
  std::vector<ClusterEvent> events;
  const auto happened = [&](std::uint32_t actions) { events.push_back({resource, actions, {}}); };
  if (before.labels() != after.labels()) happened(action::kUpdatePodLabel);
  const Scaling scaled = scaling(before, after);
  if (scaled.down) happened(action::kUpdatePodScaleDown);
  if (scaled.up) happened(action::kUpdatePodScaleUp);
  if (!before.spec().scheduling_gates.empty() && after.spec().scheduling_gates.empty())
    happened(action::kUpdatePodSchedulingGatesEliminated);
  if (before.spec().tolerations.size() != after.spec().tolerations.size())
    happened(action::kUpdatePodToleration);
  if (generated_claims_changed(before, after)) happened(action::kUpdatePodGeneratedResourceClaim);
  if (events.empty()) happened(action::kUpdate);
  return events;
}

std::vector<ClusterEvent> node_update_events(const Node& before, const Node& after) {
  std::vector<ClusterEvent> events;
  const auto happened = [&](std::uint32_t actions) {
    events.push_back({EventResource::kNode, actions, {}});
  };
  // Parity: an uncordoned node is reported as a change of taints, and again if its taints changed.
  if (before.unschedulable && !after.unschedulable) happened(action::kUpdateNodeTaint);
  if (before.allocatable != after.allocatable) happened(action::kUpdateNodeAllocatable);
  if (before.labels != after.labels) happened(action::kUpdateNodeLabel);
  if (before.taints != after.taints) happened(action::kUpdateNodeTaint);
  if (by_type(before.conditions) != by_type(after.conditions))
    happened(action::kUpdateNodeCondition);
  if (before.annotations != after.annotations) happened(action::kUpdateNodeAnnotation);
  if (before.pod_preemption_policy != after.pod_preemption_policy)
    happened(action::kUpdateNodePreemptionPolicy);
  if (before.declared_features != after.declared_features)
    happened(action::kUpdateNodeDeclaredFeature);
  return events;
}

}  // namespace berth
