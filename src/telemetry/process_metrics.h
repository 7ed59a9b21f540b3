// process_*: the kernel's figures for this process, read when the metrics are.
#pragma once

#include <string>

#include "telemetry/metrics.h"

namespace berth::telemetry {

// `proc` is where the kernel's files are. What cannot be read is left out.
void add_process_metrics(Registry& registry, std::string proc = "/proc");

// process_start_time_seconds alone, as /metrics/slis shows it (with a stability there).
void add_process_start_time(Registry& registry, Stability stability, std::string proc = "/proc");

// Seconds since the epoch; for the header Process-Start-Time-Unix. 0 when it cannot be read.
double process_start_time(const std::string& proc = "/proc");

}  // namespace berth::telemetry
