// How `berth scheduler` logs: the output that the flags ask for, and the records of a command that
// is still setting itself up (shell.md §8).
#pragma once

#include <iosfwd>
#include <memory>

#include "berth/loop.h"
#include "config/flags/command.h"
#include "telemetry/log.h"

namespace berth::app {

// `clock` outlives the output. Info goes to `out` only if the streams are to be split.
std::shared_ptr<telemetry::LogOutput> open_log(const config::LoggingOptions& options,
                                               const Loop& clock, std::ostream& out,
                                               std::ostream& err);

// Writes to the stream; the program's own streams directly, one record at a time.
std::unique_ptr<telemetry::LogSink> log_sink(std::ostream& stream);

void log_early(telemetry::LogOutput& output, const config::EarlyRecord& record, int verbosity = 0);

// "command failed", with the reason.
void log_failure(telemetry::LogOutput& output, const config::CommandFailure& failure);

}  // namespace berth::app
