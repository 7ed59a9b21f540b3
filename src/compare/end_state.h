// EndState: what the cluster of a run could still take when the run had ended: how many more pods of
// each shape, what lies idle on nodes that no shape can use, and how evenly groups of pods are spread.
// docs/compare.md defines the figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/interner.h"
#include "berth/object.h"
#include "berth/result.h"
#include "compare/run_meter.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth {
class PluginTable;
}  // namespace berth

namespace berth::compare {

struct FitLimits {
  std::int64_t pods = 1000;  // of a shape; a shape of which so many fit is not followed further
  std::size_t shapes = 100;  // those with most pods
};

struct DeviceFigures {
  double all = 0, idle = 0, stranded = 0;
};
struct SkewFigures {
  std::size_t groups = 0;
  double mean = 0, max = 0;
};

struct EndState {
  std::map<std::string, std::int64_t> fits;      // by shape
  std::map<std::string, double> stranded;        // by resource: cpu in cores, others in their unit
  std::map<std::string, DeviceFigures> devices;  // by driver
  std::map<std::string, SkewFigures> skew;       // by topology key
  std::size_t shapes_left_out = 0;
};

struct EndStateQuestion {
  const config::Configuration& configuration;
  const config::FeatureGates& gates;
  const std::vector<AnyObject>& objects;  // of the cluster at the end
  const std::vector<PodShape>& shapes;
  FitLimits limits;
};

Result<EndState> find_end_state(const EndStateQuestion& question, const PluginTable& plugins,
                                Interner& interner);

}  // namespace berth::compare
