#include "plugins/node_volume_limits/attachable.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/csi_translation.h"
#include "plugins/storage_objects.h"

namespace berth::plugins {
namespace {

// Begins the handles of volumes that do not exist yet, so that none is mistaken for one that does.
// Upstream draws 32 letters for it.
constexpr std::string_view kUnboundPrefix = "\x01unbound";

bool is_claim(VolumeSource source) {
  return source == VolumeSource::kPersistentVolumeClaim || source == VolumeSource::kEphemeral;
}

std::string claim_key(std::string_view namespace_name, std::string_view name) {
  return fmt::format("{}/{}", namespace_name, name);
}

void append(std::string_view driver, std::string_view handle, AttachableVolumes& volumes) {
  if (!driver.empty() && !handle.empty()) volumes.push_back(AttachableVolume::of(driver, handle));
}

}  // namespace

AttachableVolume AttachableVolume::of(std::string_view driver, std::string_view handle) {
  return {fmt::format("{}/{}", driver, handle), driver.size()};
}

void make_set(AttachableVolumes& volumes) {
  std::ranges::sort(volumes);
  const auto repeated = std::ranges::unique(volumes);
  volumes.erase(repeated.begin(), repeated.end());
}

bool may_attach(VolumeSource source) { return is_claim(source) || in_tree_type(source); }

bool may_fail(const Pod& pod, const Volume& volume) {
  switch (volume.source) {
    case VolumeSource::kPersistentVolumeClaim: return volume.source_name.empty();
    case VolumeSource::kEphemeral: return true;  // the claim may belong to another pod
    default: {
      const InTreeVolumeType* type = in_tree_type(volume.source);
      return type && type->migrated && !csi_handle(volume, pod.symbols());
    }
  }
}

Result<void> AttachableFinder::add(const Pod& pod, bool is_new, AttachableVolumes& volumes) const {
  for (const Volume& volume : pod.spec().volumes) {
    if (!is_claim(volume.source)) {
      if (Result<void> added = add_inline(pod, volume, volumes); !added) return added;
      continue;
    }
    const bool ephemeral = volume.source == VolumeSource::kEphemeral;
    const std::string name =
        ephemeral ? ephemeral_claim_name(pod, volume) : std::string(pod.text(volume.source_name));
    if (name.empty()) return fail(ErrorKind::kInvalid, "PersistentVolumeClaim had no name");
    if (lookups_) lookups_->claims.push_back(claim_key(pod.namespace_name(), name));
    Result<Ref<const PersistentVolumeClaim>> claim =
        find_claim(cluster_, pod.namespace_name(), name);
    if (!claim && is_new)
      return fail(claim.error().kind,
                  fmt::format("looking up PVC {}: {}", claim_key(pod.namespace_name(), name),
                              claim.error().message));
    if (!claim) continue;
    if (ephemeral)
      if (Result<void> made = check_made_for(pod, **claim); !made) return made;
    add_claim(**claim, volumes);
  }
  return {};
}

Result<void> AttachableFinder::add_inline(const Pod& pod, const Volume& volume,
                                          AttachableVolumes& volumes) const {
  const InTreeVolumeType* type = in_tree_type(volume.source);
  if (!type || !type->migrated || !has_csi_node_) return {};
  Result<std::string> handle = csi_handle(volume, pod.symbols());
  if (!handle)
    return fail(ErrorKind::kInvalid, fmt::format("converting volume({}) from inline to csi: {}",
                                                 pod.text(volume.name), handle.error().message));
  // Parity: unlike a claim's, an inline volume without a handle counts.
  volumes.push_back(AttachableVolume::of(type->driver, *handle));
  return {};
}

void AttachableFinder::add_claim(const PersistentVolumeClaim& claim,
                                 AttachableVolumes& volumes) const {
  if (claim.volume_name.empty()) return add_unbound(claim, volumes);
  if (lookups_) lookups_->volumes.push_back(claim.volume_name);
  Result<Ref<const PersistentVolume>> volume = find_volume(cluster_, claim.volume_name);
  if (!volume) return add_unbound(claim, volumes);

  const Volume& source = (*volume)->source;
  const Symbols& symbols = cluster_.symbols();
  if (source.source == VolumeSource::kCsi)
    return append(symbols.text(source.source_name), symbols.text(source.detail), volumes);
  const InTreeVolumeType* type = in_tree_type(source.source);
  if (!type || !type->migrated || !has_csi_node_) return;
  if (Result<std::string> handle = csi_handle(**volume)) append(type->driver, *handle, volumes);
}

// There is no volume yet, but the storage class names the driver that will make it.
void AttachableFinder::add_unbound(const PersistentVolumeClaim& claim,
                                   AttachableVolumes& volumes) const {
  const Symbols& symbols = cluster_.symbols();
  if (claim.storage_class.empty()) return;
  Result<Ref<const StorageClass>> storage_class =
      find_storage_class(cluster_, symbols.text(claim.storage_class));
  if (!storage_class) return;
  std::string_view driver = symbols.text((*storage_class)->provisioner);
  if (const InTreeVolumeType* type = in_tree_type(driver)) {
    if (!type->migrated || !has_csi_node_) return;
    driver = type->driver;
  }
  append(driver,
         fmt::format("{}-{}/{}", kUnboundPrefix, symbols.text(claim.namespace_name), claim.name),
         volumes);
}

void AttachableFinder::add_attachment(const VolumeAttachment& attachment,
                                      AttachableVolumes& volumes) const {
  if (attachment.attacher.empty() || !attachment.persistent_volume_name) return;
  if (lookups_) lookups_->volumes.push_back(*attachment.persistent_volume_name);
  Result<Ref<const PersistentVolume>> volume =
      find_volume(cluster_, *attachment.persistent_volume_name);
  if (!volume || (*volume)->source.source != VolumeSource::kCsi) return;
  const Symbols& symbols = cluster_.symbols();
  volumes.push_back(AttachableVolume::of(symbols.text(attachment.attacher),
                                         symbols.text((*volume)->source.detail)));
}

}  // namespace berth::plugins
