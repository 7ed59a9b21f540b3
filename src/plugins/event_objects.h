// What an event is about, for queueing hints: the object as the kind that a plugin registered for.
#pragma once

#include "api/devices.h"
#include "api/storage.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth::plugins {

// Null when there is no object: before an add, after a delete. An object of another kind is an
// error, `expected *v1.Node, but got *v1.Pod`.
Result<const Pod*> pod_in(const AnyObject& object);
Result<const Node*> node_in(const AnyObject& object);
Result<const DeviceClass*> device_class_in(const AnyObject& object);
Result<const ResourceClaim*> resource_claim_in(const AnyObject& object);
Result<const PersistentVolume*> persistent_volume_in(const AnyObject& object);
Result<const PersistentVolumeClaim*> persistent_volume_claim_in(const AnyObject& object);
Result<const StorageClass*> storage_class_in(const AnyObject& object);
Result<const CSINode*> csi_node_in(const AnyObject& object);
Result<const CSIDriver*> csi_driver_in(const AnyObject& object);
Result<const CSIStorageCapacity*> csi_storage_capacity_in(const AnyObject& object);
Result<const VolumeAttachment*> volume_attachment_in(const AnyObject& object);

// The objects of one event.
template <typename T>
struct Change {
  const T* before = nullptr;
  const T* after = nullptr;
};

template <typename T>
Result<Change<T>> change_of(Result<const T*> before, Result<const T*> after) {
  if (!before) return fail(before.error());
  if (!after) return fail(after.error());
  return Change<T>{*before, *after};
}

}  // namespace berth::plugins
