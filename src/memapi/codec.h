// How bodies that are not JSON become JSON and back. The server works on JSON; a codec is plugged
// in by whoever makes the server. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::memapi {

// application/vnd.kubernetes.protobuf: "k8s\0" and a runtime.Unknown that names the kind.
class ProtobufCodec {
 public:
  virtual ~ProtobufCodec() = default;

  // The whole body, as JSON with kind and apiVersion.
  virtual Result<std::string> to_json(std::string_view body) const = 0;
  // JSON with kind and apiVersion, as a whole body.
  virtual Result<std::string> to_protobuf(std::string_view json) const = 0;
};

}  // namespace berth::memapi
