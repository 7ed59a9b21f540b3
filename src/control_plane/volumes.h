// Volumes: PersistentVolumes and their claims in the embedded API server, as the VolumeController
// sees them.
//
// Annotations of a claim, or of its StorageClass, change how provisioning goes:
// "berth/provision-after: 10s" makes it slow, "berth/provision-failures: 2" makes the first two
// tries fail (the node is given back, and the scheduler decides anew), "berth/provision: never"
// leaves the claim alone. World thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "berth/interner.h"
#include "control_plane/controller.h"
#include "controllers/volumes.h"

namespace berth::control_plane {

class Volumes final : public ApiFollower, private controllers::VolumeWorld {
 public:
  explicit Volumes(LocalClient& api);

 private:
  Ref<const PersistentVolumeClaim> claim(std::string_view namespace_name,
                                         std::string_view name) const override;
  Ref<const StorageClass> storage_class(std::string_view name) const override;
  Ref<const Node> node(std::string_view name) const override;
  std::optional<Duration> begin(const PersistentVolumeClaim& claim,
                                controllers::VolumeStep step) override;
  controllers::StepOutcome finish(const PersistentVolumeClaim& claim) override;
  bool write(const PersistentVolume& wanted) override;
  bool write(const PersistentVolumeClaim& wanted, const PersistentVolume* volume) override;
  bool create(const PersistentVolume& volume, const PersistentVolumeClaim& claim) override;
  void remove(const PersistentVolume& volume) override;
  bool deletes_released(const PersistentVolume& volume) const override;

  ObjectRef stored(const PersistentVolumeClaim& claim) const;
  // What an annotation of the claim says, or of its class.
  std::string said(const PersistentVolumeClaim& claim, std::string_view annotation) const;
  // "disk.example.com"
  std::string provisioner_of(const PersistentVolumeClaim& claim) const;

  mutable Interner interner_;
  std::map<std::string, std::int64_t> failures_;  // of provisioning, by the claim's UID
  controllers::VolumeController controller_;
};

}  // namespace berth::control_plane
