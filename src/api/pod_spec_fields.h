// spec of a pod, for the list of whole pods (pod_fields.cc).
#pragma once

#include <string>

#include "api/written_pod.h"
#include "wire/json_reader.h"
#include "wire/proto_reader.h"

namespace berth {

// The spec at the cursor. `node_name` gets spec.nodeName, which is the pod's own.
void read_pod_spec(JsonReader& json, PodTemplate& pod, std::string& node_name);
void read_pod_spec(ProtoReader& proto, PodTemplate& pod, std::string& node_name);

}  // namespace berth
