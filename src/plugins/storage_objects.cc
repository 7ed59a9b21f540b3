#include "plugins/storage_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_quote.h"
#include "berth/labels.h"
#include "plugins/event_objects.h"

namespace berth::plugins {
namespace {

template <typename T>
Ref<const T> find(const Cluster& cluster, ObjectKind kind, std::string_view namespace_name,
                  std::string_view name) {
  const Ref<const Object> object = cluster.find(kind, namespace_name, name);
  return Ref<const T>(static_cast<const T*>(object.get()));
}

template <typename T>
Result<Ref<const T>> found(Ref<const T> object, std::string_view resource, std::string_view name) {
  if (!object)
    return fail(ErrorKind::kNotFound, fmt::format("{} {} not found", resource, go_quoted(name)));
  return object;
}

}  // namespace

Result<Ref<const PersistentVolumeClaim>> find_claim(const Cluster& cluster,
                                                    std::string_view namespace_name,
                                                    std::string_view name) {
  return found(find<PersistentVolumeClaim>(cluster, ObjectKind::kPersistentVolumeClaim,
                                           namespace_name, name),
               "persistentvolumeclaim", name);
}

Result<Ref<const PersistentVolume>> find_volume(const Cluster& cluster, std::string_view name) {
  return found(find<PersistentVolume>(cluster, ObjectKind::kPersistentVolume, {}, name),
               "persistentvolume", name);
}

Result<Ref<const StorageClass>> find_storage_class(const Cluster& cluster, std::string_view name) {
  return found(find<StorageClass>(cluster, ObjectKind::kStorageClass, {}, name),
               "storageclass.storage.k8s.io", name);
}

Ref<const CSIDriver> find_csi_driver(const Cluster& cluster, std::string_view name) {
  return find<CSIDriver>(cluster, ObjectKind::kCSIDriver, {}, name);
}

Ref<const CSINode> find_csi_node(const Cluster& cluster, std::string_view node_name) {
  return find<CSINode>(cluster, ObjectKind::kCSINode, {}, node_name);
}

Obstacle missing_claim(const Pod& pod, std::string_view claim, std::string reason) {
  const std::string name = fmt::format("{}/{}", pod.namespace_name(), claim);
  return {.code = "ClaimNotFound",
          .reason = std::move(reason),
          .subject = name,
          .text = fmt::format("claim {} does not exist", name),
          .facts = {{"claim", name}}};
}

std::string ephemeral_claim_name(const Pod& pod, const Volume& volume) {
  return fmt::format("{}-{}", pod.name(), pod.text(volume.name));
}

Result<void> check_made_for(const Pod& pod, const PersistentVolumeClaim& claim) {
  if (claim.namespace_name == pod.meta().namespace_name && !claim.controller.empty() &&
      claim.controller == pod.uid())
    return {};
  return fail(ErrorKind::kInvalid,
              fmt::format("PVC {}/{} was not created for pod {} (pod is not owner)",
                          claim.symbols.text(claim.namespace_name), claim.name, pod.full_name()));
}

bool refers_to(const Pod& pod, const PersistentVolumeClaim& claim) {
  return claim.namespace_name == pod.meta().namespace_name &&
         std::ranges::any_of(pod.spec().volumes, [&](const Volume& volume) {
           return volume.source == VolumeSource::kPersistentVolumeClaim &&
                  pod.text(volume.source_name) == claim.name;
         });
}

Result<QueueingHint> after_named_claim(const Pod& pod, const AnyObject& before,
                                       const AnyObject& after) {
  const auto change = change_in<PersistentVolumeClaim>(before, after);
  if (!change) return fail(change.error());
  return queue_if(change->after && refers_to(pod, *change->after));
}

}  // namespace berth::plugins
