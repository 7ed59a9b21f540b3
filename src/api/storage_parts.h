// What the decoders of storage kinds have in common, whatever the encoding. For this room.
#pragma once

#include <optional>
#include <string_view>

#include "api/object_json.h"
#include "api/storage.h"

namespace berth {

// Metadata of a storage kind, read with symbols of its own, which go with it: of annotations, of
// which there may be many and long ones, only a few stay.
struct StorageMeta {
  explicit StorageMeta(const SymbolHold& symbols) : scratch(symbols.table()) {}

  SymbolHold scratch;
  WrittenMeta written;
};

// Takes over what scheduling reads of the metadata. After the spec was read.
void take_metadata(PersistentVolume& volume, StorageMeta&& meta);
void take_metadata(PersistentVolumeClaim& claim, StorageMeta&& meta);
void take_metadata(CSINode& node, StorageMeta&& meta);

PersistentVolume::Phase volume_phase(std::string_view text);
PersistentVolumeClaim::Phase claim_phase(std::string_view text);
StorageClass::BindingMode binding_mode(std::string_view text);
inline bool is_block_mode(std::string_view text) { return text == "Block"; }

}  // namespace berth
