// What a simulation says at its end: a table for people, JSON and YAML for programs.
#pragma once

#include <string>

#include "sim/simulation.h"

namespace berth::sim {

std::string to_table(const SimulationReport& report);
// The complete timeline, and how every pod stands.
std::string to_json(const SimulationReport& report);

}  // namespace berth::sim
