// For queueing hints: what an event is about, as the kind that a plugin registered for.
#pragma once

#include <concepts>
#include <expected>
#include <variant>

#include "api/devices.h"
#include "api/storage.h"
#include "berth/events.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth::plugins {

// The kind of a T: what plugins register for.
template <typename T>
consteval ObjectKind kind_of() {
  if (std::same_as<T, Pod>) return ObjectKind::kPod;
  if (std::same_as<T, Node>) return ObjectKind::kNode;
  if (std::same_as<T, DeviceClass>) return ObjectKind::kDeviceClass;
  if (std::same_as<T, ResourceClaim>) return ObjectKind::kResourceClaim;
  if (std::same_as<T, PersistentVolume>) return ObjectKind::kPersistentVolume;
  if (std::same_as<T, PersistentVolumeClaim>) return ObjectKind::kPersistentVolumeClaim;
  if (std::same_as<T, StorageClass>) return ObjectKind::kStorageClass;
  if (std::same_as<T, CSINode>) return ObjectKind::kCSINode;
  if (std::same_as<T, CSIDriver>) return ObjectKind::kCSIDriver;
  if (std::same_as<T, CSIStorageCapacity>) return ObjectKind::kCSIStorageCapacity;
  if (std::same_as<T, VolumeAttachment>) return ObjectKind::kVolumeAttachment;
  throw "a kind that is not listed here";  // does not compile
}

// The error of an object of another kind: `expected *v1.Node, but got *v1.Pod`.
std::unexpected<Error> unexpected_kind(ObjectKind expected, const AnyObject& object);

// Null when there is no object: before an add, after a delete. An object of another kind is an
// error.
template <typename T>
Result<const T*> object_in(const AnyObject& object) {
  if (std::holds_alternative<std::monostate>(object)) return nullptr;
  if constexpr (std::same_as<T, Pod>) {
    if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) return pod->get();
  } else {
    const auto* ref = std::get_if<Ref<const Object>>(&object);
    if (ref && (*ref)->kind == kind_of<T>()) return static_cast<const T*>(ref->get());
  }
  return unexpected_kind(kind_of<T>(), object);
}

// The answer of a hint about an event that may help the pod, or may not.
constexpr QueueingHint queue_if(bool may_help) {
  return may_help ? QueueingHint::kQueue : QueueingHint::kSkip;
}

// The objects of one event.
template <typename T>
struct Change {
  const T* before = nullptr;
  const T* after = nullptr;
};

template <typename T>
Result<Change<T>> change_in(const AnyObject& before, const AnyObject& after) {
  const Result<const T*> then = object_in<T>(before);
  if (!then) return fail(then.error());
  const Result<const T*> now = object_in<T>(after);
  if (!now) return fail(now.error());
  return Change<T>{*then, *now};
}

// The pod that an AssignedPod/Delete event is about; null when the event has none. An object of
// another kind is an error in upstream's words.
Result<const Pod*> deleted_assigned_pod(const AnyObject& before, const AnyObject& after);

}  // namespace berth::plugins
