// `berth bench`: workloads in the form of upstream's scheduler_perf, and how fast they go.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "berth/result.h"

namespace berth::app {

struct BenchOptions {
  std::vector<std::string> files;   // none: those that come with berth
  std::string filter;               // a regular expression of "TestCase/Workload"; empty: all
  std::vector<std::string> labels;  // a workload has to have them all
  bool list = false;                // only the names of the workloads
  bool json = false;
  bool in_process = false;  // no process of its own for each workload
  bool verify_increments = false;
  std::uint64_t seed = 0;
};

// Progress goes to `err`, the table (or JSON) to `out`.
Result<void> bench(const BenchOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
