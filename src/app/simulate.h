// `berth simulate`: manifests in, who went where and why not out.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/output_format.h"
#include "berth/loop.h"
#include "berth/result.h"

namespace berth::app {

struct SimulateOptions {
  std::vector<std::string> files;  // "-" is standard input
  std::string config;
  std::string scenario;
  std::string feature_gates;
  std::vector<std::string> trace_pods;  // NAME or NAMESPACE/NAME, with * for any text
  bool verify_increments = false;
  bool strict = false;  // unknown fields are errors
  std::uint64_t seed = 0;
  // Some clusters never come to rest (pods that wake each other for ever); a day is enough.
  Duration until = std::chrono::hours(24);
  OutputFormat output = OutputFormat::kTable;
};

// Prints the result to `out`, and to `err` one line per object it skipped and per field that an
// object does not have.
Result<void> simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
