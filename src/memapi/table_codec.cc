#include "memapi/table_codec.h"

#include "api/proto_json.h"

namespace berth::memapi {

Result<std::string> TableCodec::to_json(std::string_view body) const {
  return envelope_to_json(body);
}

Result<std::string> TableCodec::to_protobuf(std::string_view json) const {
  return json_to_envelope(json);
}

}  // namespace berth::memapi
