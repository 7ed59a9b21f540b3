// `berth evaluate`: a cluster in, the complete decision about each of its pending pods out.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/result.h"

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
  Format output = Format::kJson;
};

// Prints the decisions to `out`, and one line about what was left aside to `err`.
Result<void> evaluate(const EvaluateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
