// The parts that claims, slices and classes have in common, and what is made of them once they are
// read, whatever the encoding. For the decoders of this room.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "api/json_reader.h"
#include "api/object_json.h"
#include "api/proto_reader.h"

namespace berth {

std::vector<CELDeviceSelector> read_device_selectors(JsonReader& json);
CELDeviceSelector read_device_selector(ProtoReader& proto);
OpaqueDeviceConfiguration read_opaque(JsonReader& json, SymbolHold& symbols);
// A DeviceConfiguration.
void read_device_configuration(ProtoReader& proto, SymbolHold& symbols,
                               std::optional<OpaqueDeviceConfiguration>& opaque);

// All of a claim's metadata that is not every object's.
void take_claim_metadata(WrittenMeta& meta, ResourceClaim& claim);
AllocationConfigSource allocation_config_source(std::string_view text);
// Something of a device's status that is not kept, but whose change is.
void note_rest(AllocatedDeviceStatus& status, std::string_view encoded);

}  // namespace berth
