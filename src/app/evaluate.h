// `berth evaluate`: a cluster in, the complete decision about each of its pending pods out.
#pragma once

#include <iosfwd>
#include <string>

#include "app/output_format.h"
#include "berth/result.h"

namespace berth::app {

struct EvaluateOptions {
  std::string cluster;  // "-" is standard input
  std::string config;
  std::string profile;
  std::string feature_gates;
  bool sequence = false;
  bool verify_increments = false;
  bool preempt = false;
  bool all_rejections = false;
  bool strict = false;                        // unknown fields are errors
  OutputFormat output = OutputFormat::kJson;  // or kTable
};

// Prints the decisions to `out`, and to `err` what was left aside and fields that an object does not
// have.
Result<void> evaluate(const EvaluateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
