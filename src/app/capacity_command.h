// `berth capacity`: how many more pods of given shapes fit into a cluster, where, and what ends it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "app/cluster_source.h"
#include "app/output_format.h"
#include "berth/result.h"

namespace berth::app {

struct CapacityOptions {
  std::vector<std::string> files;   // manifests of the pods; "-" is standard input
  std::vector<std::int64_t> ratio;  // of the pods, in their order; empty: one of each
  std::optional<std::int64_t> most;
  ClusterSource cluster;
  std::string config;
  std::string profile;  // empty: that of the pods' schedulerName
  std::string feature_gates;
  OutputFormat output = OutputFormat::kTable;
};

// "2:1" as numbers. The error says what is wrong with it.
Result<std::vector<std::int64_t>> parse_ratio(const std::string& text);

Result<void> capacity(const CapacityOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
