// Protobuf that only an API server writes, lists and frames of watches, and the decoding of any
// object with its envelope. For tests.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/envelope.h"
#include "berth/interner.h"
#include "berth/object.h"
#include "berth/result.h"

namespace berth::testing {

// The message of a list, from the messages of its items.
std::string list_message(const ListMeta& meta, std::span<const std::string> items);

// The event as a watch sends it, with its length in front.
std::string watch_frame(const WatchEvent& event);

// An object with its envelope, which names the kind.
Result<AnyObject> decode_enveloped(std::string_view bytes, Interner& interner);

}  // namespace berth::testing
