// What feature_gates.cc knows beside the public table: which gates need which. Only for this room.
#pragma once

#include <span>
#include <string_view>

#include "config/feature_gates.h"

namespace berth::config {

struct GateNeed {
  std::string_view gate;
  std::string_view needs;
};

// Sorted by gate.
std::span<const GateNeed> gate_needs();

}  // namespace berth::config
