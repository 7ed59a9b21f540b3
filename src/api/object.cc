#include "berth/object.h"

namespace berth {

std::string_view to_string(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kPod: return "Pod";
    case ObjectKind::kNode: return "Node";
    case ObjectKind::kNamespace: return "Namespace";
    case ObjectKind::kService: return "Service";
    case ObjectKind::kReplicationController: return "ReplicationController";
    case ObjectKind::kReplicaSet: return "ReplicaSet";
    case ObjectKind::kStatefulSet: return "StatefulSet";
    case ObjectKind::kDeployment: return "Deployment";
    case ObjectKind::kDaemonSet: return "DaemonSet";
    case ObjectKind::kJob: return "Job";
    case ObjectKind::kPriorityClass: return "PriorityClass";
    case ObjectKind::kPodDisruptionBudget: return "PodDisruptionBudget";
    case ObjectKind::kPersistentVolume: return "PersistentVolume";
    case ObjectKind::kPersistentVolumeClaim: return "PersistentVolumeClaim";
    case ObjectKind::kStorageClass: return "StorageClass";
    case ObjectKind::kCSINode: return "CSINode";
    case ObjectKind::kCSIDriver: return "CSIDriver";
    case ObjectKind::kCSIStorageCapacity: return "CSIStorageCapacity";
    case ObjectKind::kVolumeAttachment: return "VolumeAttachment";
    case ObjectKind::kResourceClaim: return "ResourceClaim";
    case ObjectKind::kResourceClaimTemplate: return "ResourceClaimTemplate";
    case ObjectKind::kResourceSlice: return "ResourceSlice";
    case ObjectKind::kDeviceClass: return "DeviceClass";
    case ObjectKind::kDeviceTaintRule: return "DeviceTaintRule";
    case ObjectKind::kPodGroup: return "PodGroup";
    case ObjectKind::kCoschedulingPodGroup: return "PodGroup";
    case ObjectKind::kOther: break;
  }
  return "Other";
}

}  // namespace berth
