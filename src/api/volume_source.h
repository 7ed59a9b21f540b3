// Where a volume comes from, read from JSON and from protobuf: of a pod's volumes and of a
// PersistentVolume. For the decoders of this room.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/json_reader.h"
#include "api/pod.h"
#include "api/proto_reader.h"

namespace berth {

// The source that the field `name` of a volume holds; other fields are left alone.
void read_volume_source(JsonReader& json, SymbolHold& symbols, std::string_view name,
                        Volume& volume);
// The same, by the numbers of a pod's volume and of a PersistentVolume.
void read_volume_source(ProtoReader& proto, SymbolHold& symbols, std::uint32_t number,
                        Volume& volume);
void read_persistent_volume_source(ProtoReader& proto, SymbolHold& symbols, std::uint32_t number,
                                   Volume& volume);

}  // namespace berth
