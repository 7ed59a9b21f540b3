// Pods from protobuf: the same pods that pod_json.h reads from JSON. The bytes are a v1.Pod,
// without envelope.
#pragma once

#include <string>
#include <string_view>

#include "api/interner.h"
#include "api/pod.h"
#include "api/pod_json.h"
#include "api/proto_reader.h"
#include "base/result.h"

namespace berth {

Result<WrittenPod> decode_written_pod_proto(std::string_view message, Interner& interner);

// As an API server has it.
Result<Ref<const Pod>> decode_pod_proto(std::string_view message, Interner& interner);

// spec, at the cursor. `node_name` gets spec.nodeName.
void read_pod_spec(ProtoReader& proto, PodTemplate& pod, std::string& node_name);

}  // namespace berth
