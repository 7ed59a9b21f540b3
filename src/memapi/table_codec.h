// TableCodec: protobuf bodies by the table of fields in api (api/proto_json.h). Without state.
#pragma once

#include "memapi/codec.h"

namespace berth::memapi {

class TableCodec final : public ProtobufCodec {
 public:
  Result<std::string> to_json(std::string_view body) const override;
  Result<std::string> to_protobuf(std::string_view json) const override;
};

}  // namespace berth::memapi
