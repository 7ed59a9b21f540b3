#include "api/storage_parts.h"

#include <utility>

namespace berth {
namespace {

// Null: there is no such annotation.
const Label* find(const StorageMeta& meta, std::string_view annotation) {
  for (const Label& label : meta.written.annotations)
    if (meta.scratch.text(label.key) == annotation) return &label;
  return nullptr;
}

std::optional<Symbol> kept(Object& object, const StorageMeta& meta, std::string_view annotation) {
  const Label* found = find(meta, annotation);
  if (found == nullptr) return std::nullopt;
  object.symbols.retain(found->value);
  return found->value;
}

}  // namespace

void take_metadata(PersistentVolume& volume, StorageMeta&& meta) {
  volume.storage_class =
      kept(volume, meta, annotations::kBetaStorageClass).value_or(volume.spec_storage_class);
  volume.bound_by_controller = find(meta, annotations::kBoundByController) != nullptr;
  volume.terminating = meta.written.deletion_time.has_value();
  for (const Label& label : meta.written.labels) {
    volume.symbols.retain(label.key);
    volume.symbols.retain(label.value);
  }
  volume.labels = LabelSet(std::move(meta.written.labels));
  set_object(volume, std::move(meta.written), /*namespaced=*/false);
}

void take_metadata(PersistentVolumeClaim& claim, StorageMeta&& meta) {
  claim.storage_class =
      kept(claim, meta, annotations::kBetaStorageClass).value_or(claim.spec_storage_class);
  claim.selected_node = kept(claim, meta, annotations::kSelectedNode);
  claim.bind_completed = find(meta, annotations::kBindCompleted) != nullptr;
  claim.has_annotations = !meta.written.annotations.empty();
  claim.terminating = meta.written.deletion_time.has_value();
  if (!meta.written.controller_uid.empty()) claim.controller = Uid::of(meta.written.controller_uid);
  set_object(claim, std::move(meta.written), /*namespaced=*/true);
}

void take_metadata(CSINode& node, StorageMeta&& meta) {
  if (const Label* plugins = find(meta, annotations::kMigratedPlugins))
    node.migrated_plugins = meta.scratch.text(plugins->value);
  set_object(node, std::move(meta.written), /*namespaced=*/false);
}

PersistentVolume::Phase volume_phase(std::string_view text) {
  using enum PersistentVolume::Phase;
  if (text.empty() || text == "Pending") return kPending;
  if (text == "Available") return kAvailable;
  if (text == "Bound") return kBound;
  if (text == "Released") return kReleased;
  if (text == "Failed") return kFailed;
  return kUnknown;
}

PersistentVolumeClaim::Phase claim_phase(std::string_view text) {
  using enum PersistentVolumeClaim::Phase;
  if (text.empty() || text == "Pending") return kPending;
  if (text == "Bound") return kBound;
  if (text == "Lost") return kLost;
  return kUnknown;
}

StorageClass::BindingMode binding_mode(std::string_view text) {
  using enum StorageClass::BindingMode;
  if (text == "Immediate") return kImmediate;
  if (text == "WaitForFirstConsumer") return kWaitForFirstConsumer;
  return kUnknown;
}

void AccessModes::add(std::string_view text) {
  if (text == "ReadWriteOnce") return add(kReadWriteOnce);
  if (text == "ReadOnlyMany") return add(kReadOnlyMany);
  if (text == "ReadWriteMany") return add(kReadWriteMany);
  if (text == "ReadWriteOncePod") return add(kReadWriteOncePod);
  add(kUnknown);
}

}  // namespace berth
