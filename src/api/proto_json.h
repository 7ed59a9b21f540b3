// Whole objects from protobuf to JSON and back, whatever is in them, by the table of fields
// (schema.h). What comes out is what upstream's own codecs write: fields in the same order,
// the same empties left out. Fields that the table does not know are dropped. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth {

// Whether the table has the kind, "PodList" and the like included.
bool has_proto(std::string_view api_version, std::string_view kind);

// `message` is the object itself, without envelope. The JSON begins with kind and apiVersion.
Result<std::string> proto_to_json(std::string_view api_version, std::string_view kind,
                                  std::string_view message);
// The object itself, without envelope; kind and apiVersion in the JSON do not count.
Result<std::string> json_to_proto(std::string_view api_version, std::string_view kind,
                                  std::string_view json);

// With envelope (envelope.h), which names the kind; the JSON does it by itself.
Result<std::string> envelope_to_json(std::string_view bytes);
Result<std::string> json_to_envelope(std::string_view json);

}  // namespace berth
