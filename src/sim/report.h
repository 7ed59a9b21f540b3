// What a simulation says at its end: a table for people, JSON and YAML for programs.
#pragma once

#include <string>

#include "sim/simulation.h"

namespace berth::sim {

// How every pod stands; of the pods that are traced every attempt in a paragraph before.
std::string to_table(const SimulationReport& report);
// A line for each pod that went elsewhere than in the trace, and why if that was asked for.
std::string differences_text(const ReplayReport& replay);
// The complete timeline, how every pod stands, and the traces.
std::string to_json(const SimulationReport& report);

}  // namespace berth::sim
