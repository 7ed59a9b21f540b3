// Where the offline commands get a cluster's objects from: a file, or an API server.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "api/defaulting.h"
#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/result.h"

namespace berth::app {

struct ClusterSource {
  std::string file;  // "-" is standard input; empty: the API server that a kubeconfig names
  std::string kubeconfig;
  std::string context;  // of the kubeconfig; empty: the current one
  bool strict = false;  // unknown fields are errors
};

struct ClusterObjects {
  std::vector<ManifestObject> objects;  // as an API server has them
  std::string source;                   // what messages call the cluster
  std::string namespace_name = "default";
};

// Prints to `err` what was left aside.
Result<ClusterObjects> read_cluster(const ClusterSource& source, Interner& interner,
                                    std::ostream& err);

// What admission in this cluster knows: its priority classes.
Admission admission_in(const std::vector<ManifestObject>& objects);

}  // namespace berth::app
