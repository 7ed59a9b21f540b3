// The claims, volumes and classes behind a pod's volumes, as the watch shows them: upstream's
// listers. For the plugins about volumes.
#pragma once

#include <string>
#include <string_view>

#include "api/storage.h"
#include "berth/events.h"
#include "berth/obstacle.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/views.h"

namespace berth::plugins {

// Where there is none: kNotFound, `persistentvolumeclaim "data" not found`.
Result<Ref<const PersistentVolumeClaim>> find_claim(const Cluster& cluster,
                                                    std::string_view namespace_name,
                                                    std::string_view name);
Result<Ref<const PersistentVolume>> find_volume(const Cluster& cluster, std::string_view name);
Result<Ref<const StorageClass>> find_storage_class(const Cluster& cluster, std::string_view name);
// Null where there is none.
Ref<const CSIDriver> find_csi_driver(const Cluster& cluster, std::string_view name);
Ref<const CSINode> find_csi_node(const Cluster& cluster, std::string_view node_name);

// A claim of the pod's that does not exist, as what keeps the pod off a node.
Obstacle missing_claim(const Pod& pod, std::string_view claim, std::string reason);

// The claim that is made for a generic ephemeral volume.
std::string ephemeral_claim_name(const Pod& pod, const Volume& volume);
// Whether it was made for this pod, and is not another one of that name: `PVC ns/p-v was not
// created for pod ns/p (pod is not owner)`.
Result<void> check_made_for(const Pod& pod, const PersistentVolumeClaim& claim);

// Whether the pod names the claim in a persistentVolumeClaim volume.
bool refers_to(const Pod& pod, const PersistentVolumeClaim& claim);
// The hint of plugins that wait for such a claim to come or to change.
Result<QueueingHint> after_named_claim(const Pod& pod, const AnyObject& before,
                                       const AnyObject& after);

}  // namespace berth::plugins
