// How samples are written: Prometheus' text format 0.0.4. For metrics.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "telemetry/metrics.h"

namespace berth::telemetry {

struct LabelPair {
  std::string_view name;
  std::string_view value;
};

// The HELP and TYPE lines.
void write_header(std::string& text, const MetricSpec& spec);
void write_sample(std::string& text, std::string_view name, const std::vector<LabelPair>& labels,
                  double value);
void write_histogram(std::string& text, std::string_view name, const std::vector<LabelPair>& labels,
                     const Histogram& histogram);

}  // namespace berth::telemetry
