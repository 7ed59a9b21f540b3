// What a simulation says at its end: a table for people, JSON and YAML for programs.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "sim/simulation.h"

namespace berth::sim {

// How every pod stands; of the pods that are traced every attempt in a paragraph before.
std::string to_table(const SimulationReport& report);
// A line for each pod that went elsewhere than in the trace, and why if that was asked for.
std::string differences_text(const ReplayReport& replay);
void write_table(const SimulationReport& report, std::ostream& out);
// The complete timeline, how every pod stands, and the traces.
std::string to_json(const SimulationReport& report);
// `write_timeline` writes the list of entries in the place of the report's.
void write_json(const SimulationReport& report, std::ostream& out,
                const std::function<void(std::ostream& out)>& write_timeline = {});

}  // namespace berth::sim
