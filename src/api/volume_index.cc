#include "api/volume_index.h"

#include <utility>

namespace berth {

bool names_claim(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return volume.claim_ref && volume.claim_ref->namespace_name == claim.namespace_name &&
         volume.claim_ref->name == claim.name &&
         (volume.claim_ref->uid.empty() || volume.claim_ref->uid == claim.uid);
}

bool suits(const PersistentVolume& volume, const PersistentVolumeClaim& claim,
           const Symbols& symbols) {
  using Phase = PersistentVolume::Phase;
  if (volume.claim_ref || volume.terminating || volume.phase == Phase::kReleased ||
      volume.phase == Phase::kFailed)
    return false;
  if (volume.storage_class != claim.storage_class || volume.block != claim.block ||
      volume.attributes_class != claim.attributes_class ||
      !volume.access_modes.contains_all(claim.access_modes) ||
      (claim.request && volume.capacity < *claim.request))
    return false;
  if (!claim.selector) return true;
  const Result<Selector> selector = Selector::compile(claim.selector, symbols);
  return selector && selector->matches(volume.labels, symbols);
}

void VolumeIndex::put(Ref<const PersistentVolume> volume) {
  remove(volume->name);
  Names& names = volume->claim_ref
                     ? claimed_[{volume->claim_ref->namespace_name, volume->claim_ref->name}]
                     : free_[volume->storage_class];
  names.insert(volume->name);
  std::string name = volume->name;
  volumes_.emplace(std::move(name), std::move(volume));
}

void VolumeIndex::remove(std::string_view name) {
  const auto found = volumes_.find(name);
  if (found == volumes_.end()) return;
  const PersistentVolume& volume = *found->second;
  const auto take_out = [&](auto& index, const auto& key) {
    const auto names = index.find(key);
    if (names == index.end()) return;
    names->second.erase(volume.name);
    if (names->second.empty()) index.erase(names);
  };
  if (volume.claim_ref)
    take_out(claimed_, ClaimName{volume.claim_ref->namespace_name, volume.claim_ref->name});
  else
    take_out(free_, volume.storage_class);
  volumes_.erase(found);
}

Ref<const PersistentVolume> VolumeIndex::find(std::string_view name) const {
  const auto found = volumes_.find(name);
  return found == volumes_.end() ? nullptr : found->second;
}

Ref<const PersistentVolume> VolumeIndex::of(const PersistentVolumeClaim& claim) const {
  const auto names = claimed_.find(ClaimName{claim.namespace_name, claim.name});
  if (names == claimed_.end()) return nullptr;
  for (const std::string& name : names->second)
    if (Ref<const PersistentVolume> volume = find(name); names_claim(*volume, claim)) return volume;
  return nullptr;
}

Ref<const PersistentVolume> VolumeIndex::smallest_for(const PersistentVolumeClaim& claim,
                                                      const Symbols& symbols) const {
  const auto names = free_.find(claim.storage_class);
  if (names == free_.end()) return nullptr;
  Ref<const PersistentVolume> smallest;
  for (const std::string& name : names->second) {
    Ref<const PersistentVolume> volume = find(name);
    if (suits(*volume, claim, symbols) && (!smallest || volume->capacity < smallest->capacity))
      smallest = std::move(volume);
  }
  return smallest;
}

}  // namespace berth
