// The figures of one run as JSON: docs/compare.md has a line for each.
#pragma once

#include "compare/end_state.h"
#include "compare/run_meter.h"
#include "sim/simulation.h"
#include "wire/json_tree.h"

namespace berth::compare {

// Numbers are rounded to six decimals.
JsonValue rounded(double value);

JsonValue figures_json(const RunMeter& meter, const EndState& end,
                       const sim::SimulationReport& report);
// For plots: what changed when.
JsonValue series_json(const RunMeter& meter);

}  // namespace berth::compare
