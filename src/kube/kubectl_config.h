// KubectlConfig: the cluster that a command for people talks to, found as kubectl finds it: from the
// kubeconfig that is named, else from the files of $KUBECONFIG, else from ~/.kube/config, else, in a
// pod, the pod's own cluster. Errors are one line for whoever typed the command. Any thread.
#pragma once

#include <string>

#include "berth/result.h"
#include "kube/client_config.h"

namespace berth::kube {

struct KubectlEnvironment {
  std::string kubeconfig;  // KUBECONFIG: files, with ':' between them
  std::string home;        // HOME
  PodEnvironment pod;
};
// That of this process.
KubectlEnvironment kubectl_environment();

struct KubectlConfig {
  ClientConfig client;
  std::string context;                     // empty: the pod's own cluster
  std::string user;                        // of the context; empty: it names none
  std::string namespace_name = "default";  // of objects that are named without one
};

// `context` empty: the current one. Files of $KUBECONFIG are merged: of contexts, clusters, users and
// current contexts that several files have, the first file's counts; files that do not exist are left
// out. A kubeconfig that is named has to exist.
Result<KubectlConfig> load_kubectl_config(const std::string& kubeconfig, const std::string& context,
                                          const KubectlEnvironment& environment);

}  // namespace berth::kube
