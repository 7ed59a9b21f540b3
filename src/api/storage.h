// The kinds about storage, as far as scheduling reads or writes them: volumes, claims, classes, and
// what CSI drivers say about nodes and free space.
//
// Annotations are fields of their own here, since scheduling knows a handful of them. Of an object
// that is written back, only what the scheduler owns is laid over what the API server stores
// (berth/cluster_api.h): of a volume claim_ref and bound_by_controller, of a claim
// selected_node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/labels.h"
#include "berth/node_selector.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/resources.h"
#include "berth/symbols.h"

namespace berth {

// The annotations that stand behind fields of this file.
namespace annotations {
inline constexpr std::string_view kBetaStorageClass = "volume.beta.kubernetes.io/storage-class";
inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kMigratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins";
}  // namespace annotations

// spec.accessModes, as a set.
class AccessModes {
 public:
  enum Mode : std::uint8_t {
    kReadWriteOnce = 1,
    kReadOnlyMany = 2,
    kReadWriteMany = 4,
    kReadWriteOncePod = 8,
    kUnknown = 16,
  };
  constexpr AccessModes() = default;
  constexpr AccessModes(Mode mode) : bits_(mode) {}  // NOLINT: a mode is a set of one

  constexpr void add(Mode mode) { bits_ = static_cast<std::uint8_t>(bits_ | mode); }
  void add(std::string_view text);  // "ReadWriteOnce", …
  constexpr bool contains(Mode mode) const { return (bits_ & mode) != 0; }
  constexpr bool contains_all(AccessModes other) const {
    return (bits_ & other.bits_) == other.bits_;
  }
  friend bool operator==(AccessModes, AccessModes) = default;

 private:
  std::uint8_t bits_ = 0;
};

// spec.claimRef: the claim that a volume is, or is to be, bound to.
struct ClaimReference {
  Symbol namespace_name;
  std::string name;
  std::string uid;               // empty: any claim of that name
  std::string resource_version;  // of the claim, when the scheduler writes the reference

  friend bool operator==(const ClaimReference&, const ClaimReference&) = default;
};

struct PersistentVolume final : Object {
  enum class Phase : std::uint8_t { kPending, kAvailable, kBound, kReleased, kFailed, kUnknown };

  explicit PersistentVolume(SymbolHold hold)
      : Object(ObjectKind::kPersistentVolume, std::move(hold)) {}

  LabelSet labels;
  Quantity capacity;  // spec.capacity.storage; zero when it is not given
  AccessModes access_modes;
  Symbol storage_class;       // the beta annotation if it is there, else as in the spec
  Symbol spec_storage_class;  // spec.storageClassName
  Symbol attributes_class;    // spec.volumeAttributesClassName
  std::optional<ClaimReference> claim_ref;
  // spec.nodeAffinity.required; present without a term: no node.
  std::optional<std::vector<NodeSelectorTerm>> node_affinity;
  Volume source;  // without a name; the detail of a CSI volume is its volumeHandle
  Phase phase = Phase::kPending;
  bool block = false;                // spec.volumeMode is Block
  bool terminating = false;          // has a deletionTimestamp
  bool bound_by_controller = false;  // has the annotation
};

struct PersistentVolumeClaim final : Object {
  enum class Phase : std::uint8_t { kPending, kBound, kLost, kUnknown };

  explicit PersistentVolumeClaim(SymbolHold hold)
      : Object(ObjectKind::kPersistentVolumeClaim, std::move(hold)) {}

  Uid controller;                   // UID of the owner that is its controller; empty: none
  std::optional<Quantity> request;  // spec.resources.requests.storage
  std::optional<LabelSelector> selector;
  AccessModes access_modes;
  Symbol storage_class;                 // the beta annotation if it is there, else as in the spec
  Symbol spec_storage_class;            // spec.storageClassName
  Symbol attributes_class;              // spec.volumeAttributesClassName
  std::string volume_name;              // empty: not bound
  std::optional<Symbol> selected_node;  // the annotation
  Phase phase = Phase::kPending;
  bool block = false;            // spec.volumeMode is Block
  bool terminating = false;      // has a deletionTimestamp
  bool bind_completed = false;   // has the annotation
  bool has_annotations = false;  // any at all

  bool fully_bound() const { return !volume_name.empty() && bind_completed; }
};

struct TopologyRequirement {
  Symbol key;
  std::vector<Symbol> values;

  friend bool operator==(const TopologyRequirement&, const TopologyRequirement&) = default;
};

struct StorageClass final : Object {
  enum class BindingMode : std::uint8_t { kImmediate, kWaitForFirstConsumer, kUnknown };

  explicit StorageClass(SymbolHold hold) : Object(ObjectKind::kStorageClass, std::move(hold)) {}

  Symbol provisioner;
  std::optional<BindingMode> binding_mode;
  std::vector<std::vector<TopologyRequirement>> allowed_topologies;  // ORed terms of ANDed ones
};

struct CSINodeDriver {
  Symbol name;
  std::optional<std::int32_t> allocatable_count;

  friend bool operator==(const CSINodeDriver&, const CSINodeDriver&) = default;
};

struct CSINode final : Object {
  explicit CSINode(SymbolHold hold) : Object(ObjectKind::kCSINode, std::move(hold)) {}

  std::vector<CSINodeDriver> drivers;
  std::string migrated_plugins;  // the annotation: names with commas between them
};

struct CSIDriver final : Object {
  explicit CSIDriver(SymbolHold hold) : Object(ObjectKind::kCSIDriver, std::move(hold)) {}

  bool storage_capacity = false;               // spec.storageCapacity
  bool prevent_scheduling_if_missing = false;  // spec.preventPodSchedulingIfMissing
};

struct CSIStorageCapacity final : Object {
  explicit CSIStorageCapacity(SymbolHold hold)
      : Object(ObjectKind::kCSIStorageCapacity, std::move(hold)) {}

  Symbol storage_class;
  std::optional<LabelSelector> node_topology;  // absent: the storage can be reached from nowhere
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;

  // What the largest volume may take; null: not known.
  const Quantity* limit() const {
    if (maximum_volume_size) return &*maximum_volume_size;
    return capacity ? &*capacity : nullptr;
  }
};

struct VolumeAttachment final : Object {
  explicit VolumeAttachment(SymbolHold hold)
      : Object(ObjectKind::kVolumeAttachment, std::move(hold)) {}

  Symbol attacher;
  Symbol node_name;
  std::optional<std::string> persistent_volume_name;  // absent: an inline volume
};

}  // namespace berth
