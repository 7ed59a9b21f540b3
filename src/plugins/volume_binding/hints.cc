// VolumeBinding: what may change its mind.

#include "plugins/event_objects.h"
#include "plugins/volume_binding/memory.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins {
namespace {

constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;

// Nothing of a class but its topologies can change.
Result<QueueingHint> after_storage_class(const Pod&, const AnyObject& before,
                                         const AnyObject& after) {
  const auto change = change_in<StorageClass>(before, after);
  if (!change) return fail(change.error());
  if (!change->before) return QueueingHint::kQueue;
  return queue_if(change->after &&
                  change->before->allowed_topologies != change->after->allowed_topologies);
}

Result<QueueingHint> after_claim(const Pod& pod, const AnyObject& before, const AnyObject& after) {
  const auto change = change_in<PersistentVolumeClaim>(before, after);
  if (!change) return fail(change.error());
  if (!change->after || change->after->namespace_name != pod.meta().namespace_name)
    return QueueingHint::kSkip;
  for (const Volume& volume : pod.spec().volumes) {
    const bool claims = volume.source == VolumeSource::kPersistentVolumeClaim ||
                        volume.source == VolumeSource::kEphemeral;
    if (claims && claim_name(pod, volume) == change->after->name) return QueueingHint::kQueue;
  }
  return QueueingHint::kSkip;
}

Result<QueueingHint> after_csi_node(const Pod&, const AnyObject& before, const AnyObject& after) {
  if (std::holds_alternative<std::monostate>(before)) return QueueingHint::kQueue;
  const auto change = change_in<CSINode>(before, after);
  if (!change) return fail(change.error());
  return queue_if(change->after &&
                  change->before->migrated_plugins != change->after->migrated_plugins);
}

// Parity: this looks for an inline volume of the driver, though only claims ask for free space.
Result<QueueingHint> after_csi_driver(const Pod& pod, const AnyObject& before,
                                      const AnyObject& after) {
  const auto change = change_in<CSIDriver>(before, after);
  if (!change) return fail(change.error());
  if (!change->before || !change->after) return QueueingHint::kSkip;
  if (!change->before->storage_capacity || change->after->storage_capacity)
    return QueueingHint::kSkip;
  for (const Volume& volume : pod.spec().volumes)
    if (volume.source == VolumeSource::kCsi && pod.text(volume.source_name) == change->after->name)
      return QueueingHint::kQueue;
  return QueueingHint::kSkip;
}

Result<QueueingHint> after_capacity(const Pod&, const AnyObject& before, const AnyObject& after) {
  const auto change = change_in<CSIStorageCapacity>(before, after);
  if (!change) return fail(change.error());
  if (!change->before) return QueueingHint::kQueue;
  if (!change->after) return QueueingHint::kSkip;
  const Quantity* then = change->before->limit();
  const Quantity* now = change->after->limit();
  return queue_if(now != nullptr && (then == nullptr || now->value() > then->value()));
}

}  // namespace

std::optional<std::vector<EventRegistration>> VolumeBinding::events_to_register() const {
  return {{
      {{EventResource::kStorageClass, kAddOrUpdate, {}}, after_storage_class, HintScope::kClass},
      {{EventResource::kPersistentVolumeClaim, kAddOrUpdate, {}}, after_claim},
      {{EventResource::kPersistentVolume, kAddOrUpdate, {}}, {}},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}}, {}},
      {{EventResource::kCSINode, kAddOrUpdate, {}}, after_csi_node, HintScope::kClass},
      {{EventResource::kCSIDriver, action::kUpdate, {}}, after_csi_driver, HintScope::kClass},
      {{EventResource::kCSIStorageCapacity, kAddOrUpdate, {}}, after_capacity, HintScope::kClass},
  }};
}

}  // namespace berth::plugins
