// How samples are written: Prometheus' text format 0.0.4, or its protobuf messages. For metrics.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/metrics.h"

namespace berth::telemetry {

struct LabelPair {
  std::string_view name;
  std::string_view value;
};

// One family after the other.
class Exposition {
 public:
  virtual ~Exposition() = default;
  // A family that has no sample is not begun.
  virtual void begin_family(const MetricSpec& spec) = 0;
  // `created`: since when a counter or histogram counts, where that is known.
  virtual void sample(const std::vector<LabelPair>& labels, double value,
                      std::optional<WallTime> created) = 0;
  virtual void histogram(const std::vector<LabelPair>& labels, const Histogram& histogram,
                         WallTime created) = 0;
  // What was written of the family.
  virtual std::string end_family() = 0;
};
// `native_histograms`: protobuf has the native buckets of histograms, too.
std::unique_ptr<Exposition> make_exposition(MetricsFormat format, bool native_histograms);

}  // namespace berth::telemetry
