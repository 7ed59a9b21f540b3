// What all API objects have in common, and the handle that can hold any of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "berth/ref.h"
#include "berth/symbols.h"

namespace berth {

class Pod;

enum class ObjectKind : std::uint8_t {
  kPod,
  kNode,
  kNamespace,
  kService,
  kReplicationController,
  kReplicaSet,
  kStatefulSet,
  kDeployment,
  kDaemonSet,
  kJob,
  kPriorityClass,
  kPodDisruptionBudget,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kStorageClass,
  kCSINode,
  kCSIDriver,
  kCSIStorageCapacity,
  kVolumeAttachment,
  kResourceClaim,
  kResourceClaimTemplate,
  kResourceSlice,
  kDeviceClass,
  kDeviceTaintRule,
  kPodGroup,
  kCoschedulingPodGroup,  // PodGroup of scheduling.x-k8s.io, a custom resource
  kOther,                 // what scheduling has no kind of its own for (OtherObject)
};

// "Pod", "Node", …: the `kind` of manifests.
std::string_view to_string(ObjectKind kind);

// An API object other than a pod (those are many, and have a leaner form of their own). Immutable
// once it is shared; a new version is a new object.
struct Object : RefCounted<Object> {
  explicit Object(ObjectKind object_kind, SymbolHold hold)
      : kind(object_kind), symbols(std::move(hold)) {}
  Object(const Object&) = default;
  virtual ~Object() = default;

  ObjectKind kind;
  Symbol namespace_name;  // empty for cluster-wide kinds
  std::string name;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  SymbolHold symbols;  // everything this object's symbols refer to
};

// An object of a resource that scheduling has no kind of its own for, as its JSON. It is kept for
// plugins that have registered for events of the resource (ClusterEvent::other).
struct OtherObject final : Object {
  explicit OtherObject(SymbolHold hold) : Object(ObjectKind::kOther, std::move(hold)) {}

  std::string resource;  // "cranes.v1.example.com"
  std::string json;
};

// A pod or any other object, or nothing.
using AnyObject = std::variant<std::monostate, Ref<const Pod>, Ref<const Object>>;

// What happened to an object. `object` is its last known state.
enum class DeltaType : std::uint8_t { kAdded, kUpdated, kDeleted };
struct Delta {
  DeltaType type = DeltaType::kAdded;
  AnyObject object;
};

}  // namespace berth
