// What VolumeBinding remembers besides the cluster, per profile: what it has assumed, and what it
// would otherwise look up again for every pod.
#pragma once

#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins {

struct VolumeBinding::Memory {
  explicit Memory(const Cluster& cluster)
      : volumes(cluster, ObjectKind::kPersistentVolume, "persistentvolumes",
                [](const PersistentVolume& volume) {
                  return volume.symbols.text(volume.storage_class);
                }),
        claims(cluster, ObjectKind::kPersistentVolumeClaim, "persistentvolumeclaims"),
        csi_nodes(cluster),
        capacities(cluster) {}

  AssumedVolumes volumes;  // by storage class
  AssumedClaims claims;
  CSINodes csi_nodes;
  StorageCapacities capacities;
};

inline constexpr const char* kUnboundImmediate = "pod has unbound immediate PersistentVolumeClaims";

bool has_claim(const Volume& volume);
// The claim behind a volume that has one.
std::string claim_name(const Pod& pod, const Volume& volume);

}  // namespace berth::plugins
