// Workloads: the Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs of the simulator's
// cluster and their pods, as their controllers (src/controllers) see them. World thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "sim/pod_watch.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

class Workloads {
 public:
  // Pods are created in `cluster`; what its admission refuses is told to `trouble`.
  Workloads(Loop& loop, SimCluster& cluster, PodWatch& pods, Interner& interner,
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
  class World;
  std::unique_ptr<World> world_;
};

}  // namespace berth::sim
