// `berth evaluate`: a cluster in, the complete decision about each of its pending pods out.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "berth/result.h"

namespace berth::app {

struct EvaluateOptions {
  enum class Format : std::uint8_t { kJson, kTable };

  std::string cluster;  // "-" is standard input
  std::string config;
  std::string profile;
  std::string feature_gates;
  bool sequence = false;
  bool verify_increments = false;
  bool preempt = false;
  bool all_rejections = false;
  bool strict = false;  // unknown fields are errors
  Format output = Format::kJson;
};

// Prints the decisions to `out`, and to `err` what was left aside and fields that an object does not
// have.
Result<void> evaluate(const EvaluateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
