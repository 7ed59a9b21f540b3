// MessagePack as a JSON tree. Keys that are no texts become texts: numbers as they are written, lists
// with a space between their items. Byte strings are taken as texts, extensions are errors.
#pragma once

#include <string_view>

#include "berth/result.h"
#include "wire/json_tree.h"

namespace berth {

// One value, and nothing after it. Errors say at which byte: `byte 17: ends within a map of 3`.
Result<JsonValue> parse_message_pack(std::string_view bytes);

}  // namespace berth
