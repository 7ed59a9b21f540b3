#include "api/storage_proto.h"

#include <utility>

#include "api/affinity_proto.h"
#include "api/object_proto.h"
#include "api/storage_parts.h"
#include "api/volume_source.h"

namespace berth {
namespace {

// Hands every field at the top but metadata, which is field 1 of every kind, to `on_field`.
template <typename OnField>
void read_object(ProtoReader& proto, StorageMeta& meta, OnField on_field) {
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      read_metadata(proto, meta.scratch, meta.written, /*with_annotations=*/true);
    } else {
      on_field(field);
    }
  });
}

// For kinds of which the metadata is read only for what every object has.
template <typename Kind>
Result<Ref<Object>> finished(ProtoReader& proto, Ref<Kind> object, StorageMeta&& meta,
                             bool namespaced) {
  if (proto.error()) return fail(*proto.error());
  set_object(*object, std::move(meta.written), namespaced);
  return Ref<Object>(std::move(object));
}

// For kinds that take more from it.
template <typename Kind>
Result<Ref<Object>> finished(ProtoReader& proto, Ref<Kind> object, StorageMeta&& meta) {
  if (proto.error()) return fail(*proto.error());
  take_metadata(*object, std::move(meta));
  return Ref<Object>(std::move(object));
}

// An entry of a list of amounts, if it is about storage.
template <typename Amount>
void take_storage(ProtoReader& proto, Amount& storage) {
  proto.entry([&](std::string_view resource) {
    if (resource == "storage") storage = proto.quantity();
  });
}

// ---- PersistentVolume ---------------------------------------------------------------------------

ClaimReference read_claim_ref(ProtoReader& proto, SymbolHold& symbols) {
  ClaimReference claim;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 2: claim.namespace_name = read_symbol(proto, symbols); break;
      case 3: claim.name = proto.text(); break;
      case 4: claim.uid = proto.text(); break;
      case 6: claim.resource_version = proto.text(); break;
      default: break;
    }
  });
  return claim;
}

void read_volume_spec(ProtoReader& proto, PersistentVolume& volume) {
  SymbolHold& symbols = volume.symbols;
  const auto read_source = [&](std::uint32_t number) {
    read_persistent_volume_source(proto, symbols, number, volume.source);
  };
  const auto read_affinity_part = [&](std::uint32_t part) {
    if (part == 1) volume.node_affinity = read_node_selector(proto, symbols);
  };
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: take_storage(proto, volume.capacity); break;
      case 2: proto.fields(read_source); break;
      case 3: volume.access_modes.add(proto.text()); break;
      case 4: volume.claim_ref = read_claim_ref(proto, symbols); break;
      case 6: volume.spec_storage_class = read_symbol(proto, symbols); break;
      case 8: volume.block = is_block_mode(proto.text()); break;
      case 9: proto.fields(read_affinity_part); break;
      case 10: volume.attributes_class = read_symbol(proto, symbols); break;
      default: break;
    }
  });
}

Result<Ref<Object>> decode_volume(ProtoReader& proto, Interner& interner) {
  auto volume = make_ref<PersistentVolume>(interner.hold());
  StorageMeta meta(volume->symbols);
  read_object(proto, meta, [&](std::uint32_t part) {
    if (part == 2) {
      read_volume_spec(proto, *volume);
    } else if (part == 3) {
      proto.fields([&](std::uint32_t field) {
        if (field == 1) volume->phase = volume_phase(proto.text());
      });
    }
  });
  return finished(proto, std::move(volume), std::move(meta));
}

// ---- PersistentVolumeClaim ----------------------------------------------------------------------

void read_claim_spec(ProtoReader& proto, PersistentVolumeClaim& claim) {
  SymbolHold& symbols = claim.symbols;
  const auto read_resources = [&](std::uint32_t part) {
    if (part == 2) take_storage(proto, claim.request);
  };
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: claim.access_modes.add(proto.text()); break;
      case 2: proto.fields(read_resources); break;
      case 3: claim.volume_name = proto.text(); break;
      case 4: claim.selector = read_label_selector(proto, symbols); break;
      case 5: claim.spec_storage_class = read_symbol(proto, symbols); break;
      case 6: claim.block = is_block_mode(proto.text()); break;
      case 9: claim.attributes_class = read_symbol(proto, symbols); break;
      default: break;
    }
  });
}

Result<Ref<Object>> decode_claim(ProtoReader& proto, Interner& interner) {
  auto claim = make_ref<PersistentVolumeClaim>(interner.hold());
  StorageMeta meta(claim->symbols);
  read_object(proto, meta, [&](std::uint32_t part) {
    if (part == 2) {
      read_claim_spec(proto, *claim);
    } else if (part == 3) {
      proto.fields([&](std::uint32_t field) {
        if (field == 1) claim->phase = claim_phase(proto.text());
      });
    }
  });
  return finished(proto, std::move(claim), std::move(meta));
}

// ---- StorageClass -------------------------------------------------------------------------------

TopologyRequirement read_topology_requirement(ProtoReader& proto, SymbolHold& symbols) {
  TopologyRequirement requirement;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) requirement.key = read_symbol(proto, symbols);
    if (field == 2) append_symbol(proto, symbols, requirement.values);
  });
  return requirement;
}

std::vector<TopologyRequirement> read_topology_term(ProtoReader& proto, SymbolHold& symbols) {
  std::vector<TopologyRequirement> term;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) term.push_back(read_topology_requirement(proto, symbols));
  });
  return term;
}

Result<Ref<Object>> decode_class(ProtoReader& proto, Interner& interner) {
  auto storage_class = make_ref<StorageClass>(interner.hold());
  SymbolHold& symbols = storage_class->symbols;
  StorageMeta meta(symbols);
  read_object(proto, meta, [&](std::uint32_t field) {
    switch (field) {
      case 2: storage_class->provisioner = read_symbol(proto, symbols); break;
      case 7: storage_class->binding_mode = binding_mode(proto.text()); break;
      case 8:
        storage_class->allowed_topologies.push_back(read_topology_term(proto, symbols));
        break;
      default: break;
    }
  });
  return finished(proto, std::move(storage_class), std::move(meta), /*namespaced=*/false);
}

// ---- what CSI drivers say -----------------------------------------------------------------------

CSINodeDriver read_node_driver(ProtoReader& proto, SymbolHold& symbols) {
  CSINodeDriver driver;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      driver.name = read_symbol(proto, symbols);
    } else if (field == 4) {
      proto.fields([&](std::uint32_t part) {
        if (part == 1) driver.allocatable_count = proto.int32();
      });
    }
  });
  return driver;
}

Result<Ref<Object>> decode_csi_node(ProtoReader& proto, Interner& interner) {
  auto node = make_ref<CSINode>(interner.hold());
  StorageMeta meta(node->symbols);
  read_object(proto, meta, [&](std::uint32_t part) {
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      if (field == 1) node->drivers.push_back(read_node_driver(proto, node->symbols));
    });
  });
  return finished(proto, std::move(node), std::move(meta));
}

Result<Ref<Object>> decode_driver(ProtoReader& proto, Interner& interner) {
  auto driver = make_ref<CSIDriver>(interner.hold());
  StorageMeta meta(driver->symbols);
  read_object(proto, meta, [&](std::uint32_t part) {
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      if (field == 4) driver->storage_capacity = proto.boolean();
      if (field == 11) driver->prevent_scheduling_if_missing = proto.boolean();
    });
  });
  return finished(proto, std::move(driver), std::move(meta), /*namespaced=*/false);
}

Result<Ref<Object>> decode_capacity(ProtoReader& proto, Interner& interner) {
  auto capacity = make_ref<CSIStorageCapacity>(interner.hold());
  StorageMeta meta(capacity->symbols);
  read_object(proto, meta, [&](std::uint32_t field) {
    switch (field) {
      case 2: capacity->node_topology = read_label_selector(proto, capacity->symbols); break;
      case 3: capacity->storage_class = read_symbol(proto, capacity->symbols); break;
      case 4: capacity->capacity = proto.quantity(); break;
      case 5: capacity->maximum_volume_size = proto.quantity(); break;
      default: break;
    }
  });
  return finished(proto, std::move(capacity), std::move(meta), /*namespaced=*/true);
}

Result<Ref<Object>> decode_attachment(ProtoReader& proto, Interner& interner) {
  auto attachment = make_ref<VolumeAttachment>(interner.hold());
  StorageMeta meta(attachment->symbols);
  const auto read_source = [&](std::uint32_t part) {
    if (part == 1) attachment->persistent_volume_name = proto.text();
  };
  read_object(proto, meta, [&](std::uint32_t part) {
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      switch (field) {
        case 1: attachment->attacher = read_symbol(proto, attachment->symbols); break;
        case 2: proto.fields(read_source); break;
        case 3: attachment->node_name = read_symbol(proto, attachment->symbols); break;
        default: break;
      }
    });
  });
  return finished(proto, std::move(attachment), std::move(meta), /*namespaced=*/false);
}

using DecodeStorageProto = Result<Ref<Object>> (*)(ProtoReader&, Interner&);

DecodeStorageProto storage_proto_decoder_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kPersistentVolume: return decode_volume;
    case ObjectKind::kPersistentVolumeClaim: return decode_claim;
    case ObjectKind::kStorageClass: return decode_class;
    case ObjectKind::kCSINode: return decode_csi_node;
    case ObjectKind::kCSIDriver: return decode_driver;
    case ObjectKind::kCSIStorageCapacity: return decode_capacity;
    case ObjectKind::kVolumeAttachment: return decode_attachment;
    default: return nullptr;
  }
}

}  // namespace

Result<Ref<Object>> decode_storage_proto(ObjectKind kind, std::string_view message,
                                         Interner& interner) {
  const DecodeStorageProto decode = storage_proto_decoder_of(kind);
  if (decode == nullptr) return Ref<Object>();
  ProtoReader proto(message);
  return decode(proto, interner);
}

}  // namespace berth
