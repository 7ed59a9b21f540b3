// `berth record`: what happens in a cluster, written down until somebody says stop.
#pragma once

#include <iosfwd>
#include <string>

#include "berth/result.h"

namespace berth::app {

struct RecordOptions {
  std::string kubeconfig;  // empty: found as kubectl finds it
  std::string context;     // empty: the current one
  std::string output;      // compressed if it ends in ".gz"; "-" is standard output
  bool anonymise = false;
};

// Says on `err` what it does, and what goes wrong meanwhile. Returns after SIGINT or SIGTERM.
Result<void> record(const RecordOptions& options, std::ostream& err);

}  // namespace berth::app
