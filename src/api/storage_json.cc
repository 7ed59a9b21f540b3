#include "api/storage_json.h"

#include <utility>

#include "api/affinity_json.h"
#include "api/object_json.h"
#include "api/storage_parts.h"
#include "api/volume_source.h"

namespace berth {
namespace {

// Hands every field at the top but metadata to `on_field`.
template <typename OnField>
void read_object(JsonReader& json, StorageMeta& meta, OnField on_field) {
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, meta.scratch, meta.written, /*with_annotations=*/true);
    } else {
      on_field(name);
    }
  });
}

// For kinds of which the metadata is read only for what every object has.
template <typename Kind>
Result<Ref<Object>> finished(JsonReader& json, Ref<Kind> object, StorageMeta&& meta,
                             bool namespaced) {
  if (json.error()) return fail(*json.error());
  set_object(*object, std::move(meta.written), namespaced);
  return Ref<Object>(std::move(object));
}

// For kinds that take more from it.
template <typename Kind>
Result<Ref<Object>> finished(JsonReader& json, Ref<Kind> object, StorageMeta&& meta) {
  if (json.error()) return fail(*json.error());
  take_metadata(*object, std::move(meta));
  return Ref<Object>(std::move(object));
}

AccessModes read_access_modes(JsonReader& json) {
  AccessModes modes;
  json.items([&] { modes.add(json.text()); });
  return modes;
}

// The storage in a list of amounts.
std::optional<Quantity> read_storage(JsonReader& json) {
  std::optional<Quantity> storage;
  json.entries([&](std::string_view resource) {
    if (resource == "storage") storage = json.quantity();
  });
  return storage;
}

// ---- PersistentVolume ---------------------------------------------------------------------------

ClaimReference read_claim_ref(JsonReader& json, SymbolHold& symbols) {
  ClaimReference claim;
  json.fields([&](std::string_view name) {
    if (name == "namespace") {
      claim.namespace_name = symbols.intern(json.text());
    } else if (name == "name") {
      claim.name = json.text();
    } else if (name == "uid") {
      claim.uid = json.text();
    } else if (name == "resourceVersion") {
      claim.resource_version = json.text();
    }
  });
  return claim;
}

void read_volume_spec(JsonReader& json, PersistentVolume& volume) {
  SymbolHold& symbols = volume.symbols;
  json.fields([&](std::string_view name) {
    if (name == "capacity") {
      volume.capacity = read_storage(json).value_or(Quantity());
    } else if (name == "accessModes") {
      volume.access_modes = read_access_modes(json);
    } else if (name == "claimRef") {
      volume.claim_ref = read_claim_ref(json, symbols);
    } else if (name == "storageClassName") {
      volume.spec_storage_class = symbols.intern(json.text());
    } else if (name == "volumeAttributesClassName") {
      volume.attributes_class = symbols.intern(json.text());
    } else if (name == "volumeMode") {
      volume.block = is_block_mode(json.text());
    } else if (name == "nodeAffinity") {
      json.fields([&](std::string_view part) {
        if (part == "required") volume.node_affinity = read_node_selector(json, symbols);
      });
    } else {
      read_volume_source(json, symbols, name, volume.source);
    }
  });
}

Result<Ref<Object>> decode_volume(JsonReader& json, Interner& interner) {
  auto volume = make_ref<PersistentVolume>(interner.hold());
  StorageMeta meta(volume->symbols);
  read_object(json, meta, [&](std::string_view name) {
    if (name == "spec") {
      read_volume_spec(json, *volume);
    } else if (name == "status") {
      json.fields([&](std::string_view field) {
        if (field == "phase") volume->phase = volume_phase(json.text());
      });
    }
  });
  return finished(json, std::move(volume), std::move(meta));
}

// ---- PersistentVolumeClaim ----------------------------------------------------------------------

void read_claim_spec(JsonReader& json, PersistentVolumeClaim& claim) {
  SymbolHold& symbols = claim.symbols;
  json.fields([&](std::string_view name) {
    if (name == "accessModes") {
      claim.access_modes = read_access_modes(json);
    } else if (name == "resources") {
      json.fields([&](std::string_view part) {
        if (part == "requests") claim.request = read_storage(json);
      });
    } else if (name == "selector") {
      claim.selector = read_label_selector(json, symbols);
    } else if (name == "volumeName") {
      claim.volume_name = json.text();
    } else if (name == "storageClassName") {
      claim.spec_storage_class = symbols.intern(json.text());
    } else if (name == "volumeAttributesClassName") {
      claim.attributes_class = symbols.intern(json.text());
    } else if (name == "volumeMode") {
      claim.block = is_block_mode(json.text());
    }
  });
}

Result<Ref<Object>> decode_claim(JsonReader& json, Interner& interner) {
  auto claim = make_ref<PersistentVolumeClaim>(interner.hold());
  StorageMeta meta(claim->symbols);
  read_object(json, meta, [&](std::string_view name) {
    if (name == "spec") {
      read_claim_spec(json, *claim);
    } else if (name == "status") {
      json.fields([&](std::string_view field) {
        if (field == "phase") claim->phase = claim_phase(json.text());
      });
    }
  });
  return finished(json, std::move(claim), std::move(meta));
}

// ---- StorageClass -------------------------------------------------------------------------------

TopologyRequirement read_topology_requirement(JsonReader& json, SymbolHold& symbols) {
  TopologyRequirement requirement;
  json.fields([&](std::string_view name) {
    if (name == "key") {
      requirement.key = symbols.intern(json.text());
    } else if (name == "values") {
      requirement.values = read_symbols(json, symbols);
    }
  });
  return requirement;
}

std::vector<TopologyRequirement> read_topology_term(JsonReader& json, SymbolHold& symbols) {
  std::vector<TopologyRequirement> term;
  json.fields([&](std::string_view name) {
    if (name != "matchLabelExpressions") return;
    json.items([&] { term.push_back(read_topology_requirement(json, symbols)); });
  });
  return term;
}

Result<Ref<Object>> decode_class(JsonReader& json, Interner& interner) {
  auto storage_class = make_ref<StorageClass>(interner.hold());
  SymbolHold& symbols = storage_class->symbols;
  StorageMeta meta(symbols);
  read_object(json, meta, [&](std::string_view name) {
    if (name == "provisioner") {
      storage_class->provisioner = symbols.intern(json.text());
    } else if (name == "volumeBindingMode") {
      storage_class->binding_mode = binding_mode(json.text());
    } else if (name == "allowedTopologies") {
      json.items(
          [&] { storage_class->allowed_topologies.push_back(read_topology_term(json, symbols)); });
    }
  });
  return finished(json, std::move(storage_class), std::move(meta), /*namespaced=*/false);
}

// ---- what CSI drivers say -----------------------------------------------------------------------

CSINodeDriver read_node_driver(JsonReader& json, SymbolHold& symbols) {
  CSINodeDriver driver;
  json.fields([&](std::string_view name) {
    if (name == "name") {
      driver.name = symbols.intern(json.text());
    } else if (name == "allocatable") {
      json.fields([&](std::string_view part) {
        if (part == "count") driver.allocatable_count = json.int32();
      });
    }
  });
  return driver;
}

Result<Ref<Object>> decode_csi_node(JsonReader& json, Interner& interner) {
  auto node = make_ref<CSINode>(interner.hold());
  StorageMeta meta(node->symbols);
  read_object(json, meta, [&](std::string_view name) {
    if (name != "spec") return;
    json.fields([&](std::string_view field) {
      if (field != "drivers") return;
      json.items([&] { node->drivers.push_back(read_node_driver(json, node->symbols)); });
    });
  });
  return finished(json, std::move(node), std::move(meta));
}

Result<Ref<Object>> decode_driver(JsonReader& json, Interner& interner) {
  auto driver = make_ref<CSIDriver>(interner.hold());
  StorageMeta meta(driver->symbols);
  read_object(json, meta, [&](std::string_view name) {
    if (name != "spec") return;
    json.fields([&](std::string_view field) {
      if (field == "storageCapacity") {
        driver->storage_capacity = json.boolean();
      } else if (field == "preventPodSchedulingIfMissing") {
        driver->prevent_scheduling_if_missing = json.boolean();
      }
    });
  });
  return finished(json, std::move(driver), std::move(meta), /*namespaced=*/false);
}

Result<Ref<Object>> decode_capacity(JsonReader& json, Interner& interner) {
  auto capacity = make_ref<CSIStorageCapacity>(interner.hold());
  StorageMeta meta(capacity->symbols);
  read_object(json, meta, [&](std::string_view name) {
    if (name == "storageClassName") {
      capacity->storage_class = capacity->symbols.intern(json.text());
    } else if (name == "nodeTopology") {
      capacity->node_topology = read_label_selector(json, capacity->symbols);
    } else if (name == "capacity") {
      capacity->capacity = json.quantity();
    } else if (name == "maximumVolumeSize") {
      capacity->maximum_volume_size = json.quantity();
    }
  });
  return finished(json, std::move(capacity), std::move(meta), /*namespaced=*/true);
}

Result<Ref<Object>> decode_attachment(JsonReader& json, Interner& interner) {
  auto attachment = make_ref<VolumeAttachment>(interner.hold());
  StorageMeta meta(attachment->symbols);
  read_object(json, meta, [&](std::string_view name) {
    if (name != "spec") return;
    json.fields([&](std::string_view field) {
      if (field == "attacher") {
        attachment->attacher = attachment->symbols.intern(json.text());
      } else if (field == "nodeName") {
        attachment->node_name = attachment->symbols.intern(json.text());
      } else if (field == "source") {
        json.fields([&](std::string_view part) {
          if (part == "persistentVolumeName") attachment->persistent_volume_name = json.text();
        });
      }
    });
  });
  return finished(json, std::move(attachment), std::move(meta), /*namespaced=*/false);
}

using DecodeStorageJson = Result<Ref<Object>> (*)(JsonReader&, Interner&);

DecodeStorageJson storage_json_decoder_of(ObjectKind kind) {
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

bool is_storage_kind(ObjectKind kind) { return storage_json_decoder_of(kind) != nullptr; }

Result<Ref<Object>> decode_storage(ObjectKind kind, std::string_view text, Interner& interner) {
  const DecodeStorageJson decode = storage_json_decoder_of(kind);
  if (decode == nullptr) return Ref<Object>();
  JsonReader json(text);
  return decode(json, interner);
}

}  // namespace berth
