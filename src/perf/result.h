// What came of a workload, and how it is told.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "perf/progress.h"

namespace berth::perf {

struct Percentiles {
  double p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};

struct WorkloadResult {
  std::string name;                    // "SchedulingBasic/5000Nodes_10000Pods"
  std::optional<std::string> skipped;  // why it was not run
  std::size_t pods = 0;
  double seconds = 0;
  double pods_per_second = 0;
  double pods_per_cpu_second = 0;  // the same when nobody else has the machine
  Percentiles throughput;          // pods per second, over slices of the time
  Percentiles attempt_seconds;     // latency of scheduling attempts
  std::size_t attempts = 0;
  std::size_t from_kept = 0;  // decisions that were made from what is kept between pods
  std::size_t peak_rss_bytes = 0;
  std::size_t nodes_checked = 0;  // for more than they can hold
};

WorkloadResult summarize(std::string name, const Progress::Measured& measured);

// `{"results":[…]}`.
std::string to_json(const std::vector<WorkloadResult>& results);
std::string to_table(const std::vector<WorkloadResult>& results);
// What to_json wrote.
Result<std::vector<WorkloadResult>> results_from_json(std::string_view text);

}  // namespace berth::perf
