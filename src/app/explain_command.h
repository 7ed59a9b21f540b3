// `berth explain`: why a pod has no node, what would help it, and why it has the node that it has.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/output_format.h"
#include "app/scheduler_client.h"
#include "berth/result.h"

namespace berth::app {

struct ExplainOptions {
  std::vector<std::string> pods;  // NAME or NAMESPACE/NAME
  std::vector<std::string>
      files;  // manifests of pods that are not in the cluster; "-" is standard input
  bool all_pending = false;
  // Where the cluster's objects are: in a file ("-" is standard input), or, if that is empty, on the
  // API server that a kubeconfig names (empty: found as kubectl finds it).
  std::string cluster;
  std::string kubeconfig;  // with --server: as whom to ask
  // Or a running scheduler answers, if its server is named.
  SchedulerAddress scheduler{.server = {}};
  std::string context;             // of the kubeconfig; empty: the current one
  std::string namespace_name;      // of pods without one; empty: the context's, else default
  std::vector<std::string> nodes;  // whose scores or obstacles are asked for by name
  std::string config;
  std::string profile;  // empty: that of each pod's schedulerName
  std::string feature_gates;
  bool strict = false;  // unknown fields are errors
  OutputFormat output = OutputFormat::kTable;
};

// What is wrong with the options taken together; empty if nothing is.
std::string check_explain(const ExplainOptions& options);

// Prints the explanations to `out`, and to `err` what was left aside. Whether every pod has a node,
// or would get one.
Result<bool> explain(const ExplainOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
