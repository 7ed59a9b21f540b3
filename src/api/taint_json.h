// Taints and tolerations from JSON. For the pod and node decoders.
#pragma once

#include "api/json_reader.h"
#include "api/taint.h"

namespace berth {

Taint read_taint(JsonReader& json, SymbolHold& symbols);
Toleration read_toleration(JsonReader& json, SymbolHold& symbols);

}  // namespace berth
