// Workloads: the controllers of the simulator. A Deployment, ReplicaSet, StatefulSet, DaemonSet or
// Job becomes pods as its controller would make them, and a pod of theirs that goes is replaced.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/interner.h"
#include "api/manifest.h"
#include "base/loop.h"
#include "base/result.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

class Workloads {
 public:
  // Pods are created in `cluster`; what its admission refuses is told to `trouble`.
  Workloads(Loop& loop, SimCluster& cluster, Interner& interner,
            std::function<void(std::string_view)> trouble);
  ~Workloads();
  Workloads(const Workloads&) = delete;
  Workloads& operator=(const Workloads&) = delete;

  static bool is_workload(ObjectKind kind);

  // Creates the workload's pods, or brings them in line with a changed one. Errors are the
  // manifest's.
  Result<void> apply(const ManifestObject& workload);
  // The workload goes, and its pods with it.
  Result<void> remove(ObjectKind kind, std::string_view namespace_name, std::string_view name);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::sim
