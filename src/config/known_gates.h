// Which gates need which, and what they were in earlier versions; known_gates.cc also has the table of all
// gates that feature_gates.h declares. Only for this room.
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

// A gate as it was up to and including v1.`until`; not locked.
struct PastGate {
  std::string_view name;
  int until = 0;
  bool enabled_by_default = false;
  Gate::Stage stage = Gate::Stage::kAlpha;
};

// Sorted by name, then by version. No gate that has no row here changed since v1.34.
std::span<const PastGate> past_gates();

}  // namespace berth::config
