// Cluster events that plugins register for (core.md §2.5), and the hints by which a plugin decides
// whether an event can help a pod that it rejected (§2.6).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth {

namespace action {
inline constexpr std::uint32_t kAdd = 1;
inline constexpr std::uint32_t kDelete = 2;
inline constexpr std::uint32_t kUpdateNodeAllocatable = 4;
inline constexpr std::uint32_t kUpdateNodeLabel = 8;
inline constexpr std::uint32_t kUpdateNodeTaint = 16;
inline constexpr std::uint32_t kUpdateNodeCondition = 32;
inline constexpr std::uint32_t kUpdateNodeAnnotation = 64;
inline constexpr std::uint32_t kUpdateNodeDeclaredFeature = 128;
inline constexpr std::uint32_t kUpdateNodePreemptionPolicy = 256;
inline constexpr std::uint32_t kUpdatePodLabel = 512;
inline constexpr std::uint32_t kUpdatePodScaleDown = 1024;
inline constexpr std::uint32_t kUpdatePodScaleUp = 2048;
inline constexpr std::uint32_t kUpdatePodToleration = 4096;
inline constexpr std::uint32_t kUpdatePodSchedulingGatesEliminated = 8192;
inline constexpr std::uint32_t kUpdatePodGeneratedResourceClaim = 16384;
inline constexpr std::uint32_t kAll = 32767;
inline constexpr std::uint32_t kUpdate = kAll & ~(kAdd | kDelete);
}  // namespace action

enum class EventResource : std::uint8_t {
  kPod,             // only in registrations: the three below
  kAssignedPod,     // a pod that has a node
  kUnscheduledPod,  // a pod without a node, other than the rejected pod
  kTargetPod,       // the rejected pod itself
  kNode,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCSINode,
  kCSIDriver,
  kVolumeAttachment,
  kCSIStorageCapacity,
  kStorageClass,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kPodGroup,
  kCompositePodGroup,
  kOther,  // one that ClusterEvent::other names
  kWildcard,
};

std::string_view to_string(EventResource resource);  // "Pod", "storage.k8s.io/CSINode", "*", …

struct ClusterEvent {
  EventResource resource = EventResource::kWildcard;
  std::uint32_t actions = action::kAll;
  std::string_view custom_label;  // static text; empty: made from resource and action
  // Of kOther: the resource as <plural>.<version>.<group>, "cranes.v1.example.com". Static text in
  // registrations. The scheduler watches the resource from the start, and goes on asking for it
  // while the API server does not have it.
  std::string_view other = {};

  bool is_wildcard() const {
    return resource == EventResource::kWildcard && actions == action::kAll;
  }
  // "NodeAdd", "AssignedPodDelete", "UnschedulableTimeout", …
  std::string label() const;
  // The same for each of its actions: {"NodeAdd", "NodeUpdateNodeLabel"}.
  std::vector<std::string> labels() const;
};

// Whether a registration for `registered` covers the event `incoming`.
bool matches(const ClusterEvent& registered, const ClusterEvent& incoming);

namespace events {
inline constexpr ClusterEvent kNodeAdd{EventResource::kNode, action::kAdd, {}};
inline constexpr ClusterEvent kNodeDelete{EventResource::kNode, action::kDelete, {}};
inline constexpr ClusterEvent kAssignedPodAdd{EventResource::kAssignedPod, action::kAdd, {}};
inline constexpr ClusterEvent kAssignedPodDelete{EventResource::kAssignedPod, action::kDelete, {}};
inline constexpr ClusterEvent kUnscheduledPodAdd{EventResource::kUnscheduledPod, action::kAdd, {}};
inline constexpr ClusterEvent kUnschedulableTimeout{EventResource::kWildcard, action::kAll,
                                                    "UnschedulableTimeout"};
inline constexpr ClusterEvent kForceActivate{EventResource::kWildcard, action::kAll,
                                             "ForceActivate"};
}  // namespace events

// What a change of a pod or a node means to plugins; several events for one update are possible.
// The events of a pod without a node have the resource `without_node`: kTargetPod where the pod's
// own hints are asked.
std::vector<ClusterEvent> pod_update_events(
    const Pod& before, const Pod& after,
    EventResource without_node = EventResource::kUnscheduledPod);
std::vector<ClusterEvent> node_update_events(const Node& before, const Node& after);

enum class QueueingHint : std::uint8_t { kSkip, kQueue };

// (the rejected pod, the object before, the object after); an error counts as kQueue.
using HintFunction = std::function<Result<QueueingHint>(const Pod& pod, const AnyObject& before,
                                                        const AnyObject& after)>;

// Which parts of the rejected pod a hint uses.
enum class HintScope : std::uint8_t {
  kPod,  // anything
  // Its spec, namespace, labels and controller, and whether the event is about this very pod: pods
  // that share these get one answer, from one call.
  kClass,
};

// One registration of a plugin. Without a hint every such event queues the pod.
struct EventRegistration {
  ClusterEvent event;
  HintFunction hint;
  HintScope scope = HintScope::kPod;
};

}  // namespace berth
