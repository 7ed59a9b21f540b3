// Values that Kubernetes writes in ways of its own, read from either encoding: quantities, times,
// and JSON that is passed on as it stands. For the readers of this room.
#pragma once

#include <optional>
#include <string_view>

#include "berth/loop.h"
#include "berth/resources.h"
#include "wire/json_reader.h"
#include "wire/proto_reader.h"

namespace berth {

// resource.Quantity. In JSON a number or a string; of null, and of a message that says nothing: zero.
Quantity read_quantity(JsonReader& json);
Quantity read_quantity(ProtoReader& proto);

// v1.Time. In protobuf whole seconds; null, and an empty message: none.
std::optional<WallTime> read_time(JsonReader& json);
std::optional<WallTime> read_time(ProtoReader& proto);

// v1.MicroTime.
std::optional<WallTime> read_micro_time(JsonReader& json);
std::optional<WallTime> read_micro_time(ProtoReader& proto);

// runtime.RawExtension: JSON as it stands.
std::string_view read_raw(JsonReader& json);
std::string_view read_raw(ProtoReader& proto);

}  // namespace berth
