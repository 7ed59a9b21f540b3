// `berth compare`: the same input under several configurations, seeds or feature gates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "app/compare_words.h"
#include "app/output_format.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "trace/trace.h"

namespace berth::app {

struct CompareOptions {
  CompareWords words;              // checked (check_words)
  std::vector<std::string> merge;  // parts; then nothing is run
  std::optional<Duration> until;   // absent: sim::usual_end
  trace::TraceOptions trace;
  std::optional<std::size_t> explained;
  std::int64_t fit_limit = 1000;
  std::optional<std::size_t> threads;
  bool strict = false;
  bool keep_series = false;
  std::string part_file;  // of a shard; empty: `out`
  OutputFormat output = OutputFormat::kTable;
};

Result<void> compare(const CompareOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
