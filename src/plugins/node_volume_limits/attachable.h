// What the volumes of a pod are to CSI drivers: which of them get attached to its node, by which
// driver, under which name (volumes-dra-gang.md §6). For NodeVolumeLimits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/views.h"

namespace berth::plugins {

struct AttachableVolume {
  std::string unique_name;  // "driver/volumeHandle"
  std::size_t driver_length = 0;

  std::string_view driver() const { return std::string_view(unique_name).substr(0, driver_length); }
  static AttachableVolume of(std::string_view driver, std::string_view handle);
  friend auto operator<=>(const AttachableVolume&, const AttachableVolume&) = default;
};

// Sorted, each once: a volume that is used twice is attached once.
using AttachableVolumes = std::vector<AttachableVolume>;
void make_set(AttachableVolumes& volumes);

// Whether volumes from such a source may be attached by a CSI driver at all.
bool may_attach(VolumeSource source);
// Whether looking up a volume of a pod that is on a node may fail, and not only find nothing.
bool may_fail(const Pod& pod, const Volume& volume);

// What was looked up on the way: answers are good until one of these changes.
struct Lookups {
  std::vector<std::string> claims;   // "namespace/name"
  std::vector<std::string> volumes;  // names of PersistentVolumes
};

class AttachableFinder {
 public:
  // `has_csi_node`: the pod is, or would be, on a node with a CSINode, where volumes of migrated
  // in-tree types count as their drivers'.
  AttachableFinder(const Cluster& cluster, bool has_csi_node, Lookups* lookups = nullptr)
      : cluster_(cluster), has_csi_node_(has_csi_node), lookups_(lookups) {}

  // Adds those of a pod that looks for a node: kNotFound when a claim does not exist.
  Result<void> add_new_pod(const Pod& pod, AttachableVolumes& volumes) const {
    return add(pod, true, volumes);
  }
  // Adds those of a pod that is on a node; claims that are gone do not count.
  Result<void> add_placed_pod(const Pod& pod, AttachableVolumes& volumes) const {
    return add(pod, false, volumes);
  }
  // Adds what a VolumeAttachment stands for, if it is the volume of a CSI driver.
  void add_attachment(const VolumeAttachment& attachment, AttachableVolumes& volumes) const;

 private:
  Result<void> add(const Pod& pod, bool is_new, AttachableVolumes& volumes) const;
  Result<void> add_inline(const Pod& pod, const Volume& volume, AttachableVolumes& volumes) const;
  void add_claim(const PersistentVolumeClaim& claim, AttachableVolumes& volumes) const;
  void add_unbound(const PersistentVolumeClaim& claim, AttachableVolumes& volumes) const;

  const Cluster& cluster_;
  bool has_csi_node_;
  Lookups* lookups_;
};

}  // namespace berth::plugins
