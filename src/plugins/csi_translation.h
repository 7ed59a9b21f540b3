// The types of volumes that once were part of Kubernetes and now belong to CSI drivers, and what a
// volume of such a type is to its driver (volumes-dra-gang.md §7). For the plugins about volumes.
//
// Two questions come before a translation, and they have different answers:
//   type.migrated           is the type treated as its driver's at all, where a node has a CSINode
//                           (NodeVolumeLimits asks no more)
//   is_migrated_on(node)    and does the node's CSINode name it (VolumeBinding asks this too)
// Types that are not `migrated` are known by name only; nothing of theirs is ever translated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/node_selector.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/symbols.h"

namespace berth {
struct CSINode;
struct PersistentVolume;
}  // namespace berth

namespace berth::plugins {

struct InTreeVolumeType {
  VolumeSource source;
  std::string_view plugin;        // "kubernetes.io/aws-ebs": its name, also as a provisioner
  std::string_view driver;        // "ebs.csi.aws.com"
  std::string_view topology_key;  // what the driver calls a zone; empty: it has no zones
  bool migrated;

  // Whether the node's CSINode (null: it has none) shows that the CSI driver handles the volume
  // there.
  bool is_migrated_on(const CSINode* node) const;
};

// Null when it is none of them.
const InTreeVolumeType* in_tree_type(VolumeSource source);
const InTreeVolumeType* in_tree_type(std::string_view plugin);

// The volumeHandle of a volume of a migrated type: of a PersistentVolume, or of one that a pod has
// inline. An error's text is upstream's.
Result<std::string> csi_handle(const PersistentVolume& volume);
Result<std::string> csi_handle(const Volume& volume, const Symbols& symbols);

// The node affinity (spec.nodeAffinity.required) of a PersistentVolume of a migrated type as the
// driver would have it: zones by the driver's key. `symbols` keeps what is new in it. An error, if
// the volume as a whole cannot be translated.
Result<std::optional<std::vector<NodeSelectorTerm>>> csi_node_affinity(
    const PersistentVolume& volume, SymbolHold& symbols);

// The pieces of a zone label's value: "a__b" has two. Never empty.
std::vector<std::string_view> zones_in_label(std::string_view value);
// Without the white space around it.
std::string_view trimmed(std::string_view text);

}  // namespace berth::plugins
