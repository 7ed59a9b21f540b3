// `berth simulate`: manifests in, who went where and why not out.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "app/output_format.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "trace/trace.h"

namespace berth::app {

struct SimulateOptions {
  std::vector<std::string> files;   // "-" is standard input
  std::vector<std::string> traces;  // the files of one trace
  trace::TraceOptions trace;
  bool differences = false;  // of the trace: say who went elsewhere, and why
  std::string config;
  std::string scenario;
  std::string timeline;  // a file that gets the timeline as it happens
  std::string feature_gates;
  std::vector<std::string> trace_pods;  // NAME or NAMESPACE/NAME, with * for any text
  bool verify_increments = false;
  bool strict = false;  // unknown fields are errors
  std::uint64_t seed = 0;
  // Some clusters never come to rest (pods that wake each other for ever): a day is enough, after the
  // end of the trace if there is one.
  std::optional<Duration> until;
  OutputFormat output = OutputFormat::kTable;
};

// What is wrong with the options taken together; empty if nothing is.
std::string check_simulate(const SimulateOptions& options);

// Prints the result to `out`, and to `err` one line per object it skipped and per field that an
// object does not have; if that is a terminal, also how far it is.
Result<void> simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
