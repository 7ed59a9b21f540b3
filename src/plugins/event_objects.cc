#include "plugins/event_objects.h"

#include <string>

namespace berth::plugins {
namespace {

// As upstream's error has it.
std::string type_text(ObjectKind kind) { return "*v1." + std::string(to_string(kind)); }

std::string type_text(const AnyObject& object) {
  if (std::holds_alternative<Ref<const Pod>>(object)) return type_text(ObjectKind::kPod);
  return type_text(std::get<Ref<const Object>>(object)->kind);
}

template <typename T>
Result<const T*> object_in(const AnyObject& object, ObjectKind kind) {
  if (std::holds_alternative<std::monostate>(object)) return nullptr;
  const auto* ref = std::get_if<Ref<const Object>>(&object);
  if (ref && (*ref)->kind == kind) return static_cast<const T*>(ref->get());
  return fail(ErrorKind::kInvalid,
              "expected " + type_text(kind) + ", but got " + type_text(object));
}

}  // namespace

Result<const Pod*> pod_in(const AnyObject& object) {
  if (std::holds_alternative<std::monostate>(object)) return nullptr;
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) return pod->get();
  return fail(ErrorKind::kInvalid,
              "expected " + type_text(ObjectKind::kPod) + ", but got " + type_text(object));
}

Result<const Node*> node_in(const AnyObject& object) {
  return object_in<Node>(object, ObjectKind::kNode);
}

Result<const DeviceClass*> device_class_in(const AnyObject& object) {
  return object_in<DeviceClass>(object, ObjectKind::kDeviceClass);
}

Result<const ResourceClaim*> resource_claim_in(const AnyObject& object) {
  return object_in<ResourceClaim>(object, ObjectKind::kResourceClaim);
}

Result<const PersistentVolume*> persistent_volume_in(const AnyObject& object) {
  return object_in<PersistentVolume>(object, ObjectKind::kPersistentVolume);
}

Result<const PersistentVolumeClaim*> persistent_volume_claim_in(const AnyObject& object) {
  return object_in<PersistentVolumeClaim>(object, ObjectKind::kPersistentVolumeClaim);
}

Result<const StorageClass*> storage_class_in(const AnyObject& object) {
  return object_in<StorageClass>(object, ObjectKind::kStorageClass);
}

Result<const CSINode*> csi_node_in(const AnyObject& object) {
  return object_in<CSINode>(object, ObjectKind::kCSINode);
}

Result<const CSIDriver*> csi_driver_in(const AnyObject& object) {
  return object_in<CSIDriver>(object, ObjectKind::kCSIDriver);
}

Result<const CSIStorageCapacity*> csi_storage_capacity_in(const AnyObject& object) {
  return object_in<CSIStorageCapacity>(object, ObjectKind::kCSIStorageCapacity);
}

Result<const VolumeAttachment*> volume_attachment_in(const AnyObject& object) {
  return object_in<VolumeAttachment>(object, ObjectKind::kVolumeAttachment);
}

}  // namespace berth::plugins
