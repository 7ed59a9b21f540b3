// Traces of SimKube: what people and controllers applied to a cluster and deleted from it, and how long
// pods ran; no nodes. MessagePack: a map with `events`, each of which has `ts` (a second of Unix time),
// `applied_objs` and `deleted_objs`, and with `pod_lifecycles`, by the owner of the pods.
#pragma once

#include <string>
#include <string_view>

#include "berth/interner.h"
#include "berth/result.h"
#include "trace/trace.h"

namespace berth::trace {

// Whether a file that begins like this is a MessagePack map.
bool is_simkube(std::string_view beginning);

// Adds to the trace. Errors begin with `name`, that of the file.
Result<void> add_simkube(std::string_view bytes, const std::string& name, Interner& interner,
                         Trace& trace);

}  // namespace berth::trace
