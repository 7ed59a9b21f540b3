// read_live_objects(): a cluster as its API server has it now, in the form that the offline tools
// read from files. Everything that scheduling decides from is listed once, with GET requests only;
// the kinds are listed side by side, so each is as of a moment of its own.
//
// Blocks the calling thread until all is there. It starts threads and handles SIGINT and SIGTERM
// while it lasts: no other thread may run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/http_api_client.h"
#include "kube/kubectl_config.h"
#include "kube/watched_kinds.h"

namespace berth::app {

struct LiveKind {
  kube::WatchedKind kind;
  // Nothing is decided from it: who may not list it goes without.
  bool optional = false;
};

// What is listed: the kinds that the default configuration's plugins read, priority classes, and the
// owners of pods, which changes are to be made to.
std::vector<LiveKind> live_kinds();

// Which of some kinds a server does not serve, and which of the optional ones it does not show.
struct ReadAccess {
  std::vector<std::string> unserved;
  std::vector<std::string> forbidden;
};
// Asks for one object of each kind. An error names all that may not be read, and `role`, the name and
// place of one that allows it. What is passed by reference outlives the task.
Task<Result<ReadAccess>> check_read_access(kube::ApiClient& api, const std::vector<LiveKind>& kinds,
                                           const kube::KubectlConfig& config,
                                           std::string_view role);

struct LiveObjectsOptions {
  std::string kubeconfig;  // empty: found as kubectl finds it (kube/kubectl_config.h)
  std::string context;     // empty: the current one
  Duration request_timeout = kube::kRequestTimeout;  // of each page of a list
  kube::KubectlEnvironment environment = kube::kubectl_environment();
};

struct LiveObjects {
  // As an API server has them, by kind in the order of live_kinds(). Finished pods are left out.
  std::vector<ManifestObject> objects;
  std::string namespace_name;  // of the context: of objects that are named without one
  std::string context;         // empty: the cluster of the pod that this runs in
  std::string server;
  // Kinds without objects because the server does not serve them, or because they are optional and
  // may not be listed: "deviceclasses.resource.k8s.io".
  std::vector<std::string> unserved;
  std::vector<std::string> forbidden;
  // Objects that are left out because they cannot be decoded, one line each.
  std::vector<std::string> undecodable;
};

// Errors are one line each; kCancelled: a signal came first.
Result<LiveObjects> read_live_objects(const LiveObjectsOptions& options, Interner& interner);

}  // namespace berth::app
