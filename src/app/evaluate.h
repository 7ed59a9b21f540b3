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
  // Run the scheduler's own queue and cycles instead, groups of pods included (sim/entity_cycles.h).
  bool groups = false;
  bool strict = false;                        // unknown fields are errors
  OutputFormat output = OutputFormat::kJson;  // or kTable
};

// What is wrong with the options taken together; empty if nothing is.
std::string check_evaluate(const EvaluateOptions& options);

// Prints the decisions to `out`, and to `err` what was left aside and fields that an object does not
// have.
//
// With `groups` the gate GenericWorkload is on, every pod is its own profile's, and what is printed is
// a result for each entity of the queue.
Result<void> evaluate(const EvaluateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
