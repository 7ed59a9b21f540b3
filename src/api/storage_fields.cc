// The storage kinds: which member takes which field, and what they take from their metadata.

#include <utility>

#include "api/kind_decoders.h"
#include "api/storage.h"
#include "api/volume_fields.h"

namespace berth {

inline constexpr auto is_block_mode = [](std::string_view text) { return text == "Block"; };

inline constexpr auto read_access_modes = [](auto& reader, SymbolHold&, auto& written) {
  AccessModes& modes = written.object.access_modes;
  if (kIsJson<std::remove_reference_t<decltype(reader)>>) modes = AccessModes();
  each_item(reader, [&] { modes.add(reader.text()); });
};

// Of a list of amounts only the storage.
template <auto Member>
inline constexpr auto read_storage = [](auto& reader, SymbolHold&, auto& written) {
  auto& storage = picked<Member>(written);
  if (kIsJson<std::remove_reference_t<decltype(reader)>>) storage = {};
  each_entry(reader, [&](std::string_view resource) {
    if (resource == "storage") storage = read_quantity(reader);
  });
};

namespace {

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

}  // namespace

void AccessModes::add(std::string_view text) {
  if (text == "ReadWriteOnce") return add(kReadWriteOnce);
  if (text == "ReadOnlyMany") return add(kReadOnlyMany);
  if (text == "ReadWriteMany") return add(kReadWriteMany);
  if (text == "ReadWriteOncePod") return add(kReadWriteOncePod);
  add(kUnknown);
}

// ---- volumes and claims -------------------------------------------------------------------------

template <>
struct Fields<ClaimReference>
    : FieldList<"api.core.v1.ObjectReference",  //
                Field<"namespace", &ClaimReference::namespace_name>,
                Field<"name", &ClaimReference::name>, Field<"uid", &ClaimReference::uid>,
                Field<"resourceVersion", &ClaimReference::resource_version>> {};

template <>
struct Fields<PersistentVolume>
    : FieldList<"api.core.v1.PersistentVolume", MetadataWithAnnotations,
                Inside<"spec", Custom<"capacity", read_storage<&PersistentVolume::capacity>>,
                       PersistentVolumeSourceFields<&PersistentVolume::source>,
                       Custom<"accessModes", read_access_modes>,
                       Field<"claimRef", &PersistentVolume::claim_ref>,
                       Field<"storageClassName", &PersistentVolume::spec_storage_class>,
                       Field<"volumeMode", &PersistentVolume::block, is_block_mode>,
                       Inside<"nodeAffinity", Field<"required", &PersistentVolume::node_affinity>>,
                       Field<"volumeAttributesClassName", &PersistentVolume::attributes_class>>,
                Inside<"status", Field<"phase", &PersistentVolume::phase, volume_phase>>> {};

template <>
struct Fields<PersistentVolumeClaim>
    : FieldList<
          "api.core.v1.PersistentVolumeClaim", MetadataWithAnnotations,
          Inside<"spec", Custom<"accessModes", read_access_modes>,
                 Inside<"resources",
                        Custom<"requests", read_storage<&PersistentVolumeClaim::request>>>,
                 Field<"volumeName", &PersistentVolumeClaim::volume_name>,
                 Field<"selector", &PersistentVolumeClaim::selector>,
                 Field<"storageClassName", &PersistentVolumeClaim::spec_storage_class>,
                 Field<"volumeMode", &PersistentVolumeClaim::block, is_block_mode>,
                 Field<"volumeAttributesClassName", &PersistentVolumeClaim::attributes_class>>,
          Inside<"status", Field<"phase", &PersistentVolumeClaim::phase, claim_phase>>> {};

template <>
struct Fields<TopologyRequirement> : FieldList<"api.core.v1.TopologySelectorLabelRequirement",
                                               Field<"key", &TopologyRequirement::key>,
                                               Field<"values", &TopologyRequirement::values>> {};

template <>
struct Fields<std::vector<TopologyRequirement>>
    : FieldList<"api.core.v1.TopologySelectorTerm",
                Field<"matchLabelExpressions", std::identity{}>> {};

template <>
struct Fields<StorageClass>
    : FieldList<"api.storage.v1.StorageClass", MetadataWithAnnotations,
                Field<"provisioner", &StorageClass::provisioner>,
                Field<"volumeBindingMode", &StorageClass::binding_mode, binding_mode>,
                Field<"allowedTopologies", &StorageClass::allowed_topologies>> {};

// ---- what CSI drivers say -----------------------------------------------------------------------

template <>
struct Fields<CSINodeDriver>
    : FieldList<"api.storage.v1.CSINodeDriver", Field<"name", &CSINodeDriver::name>,
                Inside<"allocatable", Field<"count", &CSINodeDriver::allocatable_count>>> {};

template <>
struct Fields<CSINode> : FieldList<"api.storage.v1.CSINode", MetadataWithAnnotations,
                                   Inside<"spec", Field<"drivers", &CSINode::drivers>>> {};

template <>
struct Fields<CSIDriver>
    : FieldList<"api.storage.v1.CSIDriver", MetadataWithAnnotations,
                Inside<"spec", Field<"storageCapacity", &CSIDriver::storage_capacity>,
                       Field<"preventPodSchedulingIfMissing",
                             &CSIDriver::prevent_scheduling_if_missing>>> {};

template <>
struct Fields<CSIStorageCapacity>
    : FieldList<"api.storage.v1.CSIStorageCapacity", MetadataWithAnnotations,
                Field<"nodeTopology", &CSIStorageCapacity::node_topology>,
                Field<"storageClassName", &CSIStorageCapacity::storage_class>,
                Field<"capacity", &CSIStorageCapacity::capacity>,
                Field<"maximumVolumeSize", &CSIStorageCapacity::maximum_volume_size>> {};

template <>
struct Fields<VolumeAttachment>
    : FieldList<"api.storage.v1.VolumeAttachment", MetadataWithAnnotations,
                Inside<"spec", Field<"attacher", &VolumeAttachment::attacher>,
                       Inside<"source", Field<"persistentVolumeName",
                                              &VolumeAttachment::persistent_volume_name>>,
                       Field<"nodeName", &VolumeAttachment::node_name>>> {};

// ---- metadata -----------------------------------------------------------------------------------

namespace {

// Null: there is no such annotation.
template <typename Kind>
const Label* find(const WrittenObject<Kind>& written, std::string_view annotation) {
  for (const Label& label : written.meta.annotations)
    if (written.meta_symbols.text(label.key) == annotation) return &label;
  return nullptr;
}

template <typename Kind>
std::optional<Symbol> kept(WrittenObject<Kind>& written, std::string_view annotation) {
  const Label* found = find(written, annotation);
  if (found == nullptr) return std::nullopt;
  written.object.symbols.retain(found->value);
  return found->value;
}

}  // namespace

template <>
void take_metadata(WrittenObject<PersistentVolume>& written) {
  PersistentVolume& volume = written.object;
  volume.storage_class =
      kept(written, annotations::kBetaStorageClass).value_or(volume.spec_storage_class);
  volume.bound_by_controller = find(written, annotations::kBoundByController) != nullptr;
  volume.terminating = written.meta.deletion_time.has_value();
  for (const Label& label : written.meta.labels) {
    volume.symbols.retain(label.key);
    volume.symbols.retain(label.value);
  }
  volume.labels = LabelSet(std::move(written.meta.labels));
  set_object(volume, std::move(written.meta), /*namespaced=*/false);
}

template <>
void take_metadata(WrittenObject<PersistentVolumeClaim>& written) {
  PersistentVolumeClaim& claim = written.object;
  claim.storage_class =
      kept(written, annotations::kBetaStorageClass).value_or(claim.spec_storage_class);
  claim.selected_node = kept(written, annotations::kSelectedNode);
  claim.bind_completed = find(written, annotations::kBindCompleted) != nullptr;
  claim.has_annotations = !written.meta.annotations.empty();
  claim.terminating = written.meta.deletion_time.has_value();
  if (!written.meta.controller_uid.empty()) claim.controller = Uid::of(written.meta.controller_uid);
  set_object(claim, std::move(written.meta), /*namespaced=*/true);
}

template <>
void take_metadata(WrittenObject<CSINode>& written) {
  if (const Label* plugins = find(written, annotations::kMigratedPlugins))
    written.object.migrated_plugins = written.meta_symbols.text(plugins->value);
  set_object(written.object, std::move(written.meta), /*namespaced=*/false);
}

namespace {

// The metadata of storage kinds is read with symbols of its own, which go with it: of annotations,
// of which there may be many and long ones, only a few stay.
template <typename Kind, typename Reader>
Result<Ref<Object>> decode_storage(Reader& reader, Interner& interner) {
  Ref<Kind> object = make_ref<Kind>(interner.hold());
  SymbolHold scratch(object->symbols.table());
  WrittenObject<Kind> written(*object, scratch);
  Fields<Kind>::read(reader, object->symbols, written);
  if (reader.error()) return fail(*reader.error());
  take_metadata(written);
  return Ref<Object>(std::move(object));
}

}  // namespace

template <typename Reader>
KindDecoder<Reader> storage_decoder(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kPersistentVolume: return decode_storage<PersistentVolume, Reader>;
    case ObjectKind::kPersistentVolumeClaim: return decode_storage<PersistentVolumeClaim, Reader>;
    case ObjectKind::kStorageClass: return decode_storage<StorageClass, Reader>;
    case ObjectKind::kCSINode: return decode_storage<CSINode, Reader>;
    case ObjectKind::kCSIDriver: return decode_storage<CSIDriver, Reader>;
    case ObjectKind::kCSIStorageCapacity: return decode_storage<CSIStorageCapacity, Reader>;
    case ObjectKind::kVolumeAttachment: return decode_storage<VolumeAttachment, Reader>;
    default: return nullptr;
  }
}
template KindDecoder<JsonReader> storage_decoder(ObjectKind kind);
template KindDecoder<ProtoReader> storage_decoder(ObjectKind kind);

}  // namespace berth
