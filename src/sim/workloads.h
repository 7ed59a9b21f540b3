// Workloads: the Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs of the simulator's
// cluster and their pods, as their controllers (src/controllers) see them. What these write comes
// into the cluster in workload_world.cc. World thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/manifest.h"
#include "api/written_pod.h"
#include "base/lifetime.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "controllers/daemon_set.h"
#include "controllers/deployment.h"
#include "controllers/job.h"
#include "controllers/orphaned_pods.h"
#include "controllers/replica_set.h"
#include "controllers/stateful_set.h"
#include "sim/pod_watch.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

class Workloads final : private controllers::WorkloadWorld, private controllers::OrphanedPodWorld {
 public:
  // Pods are created in `cluster`; what its admission refuses is told to `trouble`.
  Workloads(Loop& loop, SimCluster& cluster, PodWatch& pods, Interner& interner,
            std::function<void(std::string_view)> trouble);
  Workloads(const Workloads&) = delete;
  Workloads& operator=(const Workloads&) = delete;

  // Creates the workload's pods, or brings them in line with a changed one. Errors are the
  // manifest's.
  Result<void> apply(const ManifestObject& workload);
  // The workload goes, and its pods with it.
  Result<void> remove(ObjectKind kind, std::string_view namespace_name, std::string_view name);

 private:
  using Workload = controllers::Workload;
  using Key = std::pair<ObjectKind, std::string>;  // "namespace/name"
  struct Entry {
    explicit Entry(const Interner& interner)
        : pod_template(interner), selector_symbols(interner.hold()) {}

    Workload workload;
    std::string api_version;
    PodTemplate pod_template;
    std::optional<LabelSelector> selector;
    SymbolHold selector_symbols;
    std::string deployment;  // of a ReplicaSet: its key
  };

  // ---- WorkloadWorld
  std::optional<Workload> find(ObjectKind kind, std::string_view namespace_name,
                               std::string_view name) const override;
  void remove(const Workload& object) override;
  void record(const Workload&, controllers::EventType, std::string_view,
              const std::string&) override {}
  Result<std::string> create_pod(const Workload& owner,
                                 const controllers::PodParts& parts) override;
  bool delete_pod(const controllers::PodFacts& pod) override;
  void adopt_pods(const Workload&) override {}  // pods keep the owner that their manifest names
  std::vector<Workload> replica_sets_of(const Workload& deployment) override;
  Result<Workload> create_replica_set(const Workload& deployment) override;
  bool scale(const Workload& deployment, const Workload& set, std::int64_t replicas,
             std::int64_t most) override;
  void write_revision(const Workload& deployment, const Workload& set,
                      std::int64_t revision) override;
  void create_claim(const Workload& set, const controllers::ClaimTemplate& made_from,
                    std::string_view name) override;
  std::vector<std::string> daemon_nodes(const Workload& set) override;
  void write_status(const Workload& set, const controllers::ReplicaSetStatus& status) override;
  void write_status(const Workload& deployment,
                    const controllers::DeploymentStatus& status) override;
  void write_status(const Workload& set, const controllers::StatefulSetStatus& status) override;
  void write_status(const Workload&, const controllers::DaemonSetStatus&) override {}
  void write_status(const Workload& job, const controllers::JobStatus& status) override;
  // ---- OrphanedPodWorld
  bool has_node(const std::string& name) const override;
  void remove_orphan(const controllers::PodFacts& pod) override;

  static Key key_of(const Workload& workload) { return {workload.kind, workload.key()}; }
  Entry* entry_of(const Workload& workload);
  Result<Entry> read(const ManifestObject& manifest);
  Result<std::string> refuse(const Workload& owner, const std::string& why);
  void remove_with_pods(const Key& key);
  controllers::Controller& controller_of(ObjectKind kind);
  // What is queued happens now.
  void run_controllers();

  Loop& loop_;
  SimCluster& cluster_;
  PodWatch& pod_watch_;
  controllers::PodIndex& pods_;
  Interner& interner_;
  std::function<void(std::string_view)> trouble_;
  std::set<std::string> told_;  // troubles
  std::map<Key, Entry> entries_;
  std::uint64_t made_ = 0;
  controllers::ReplicaSetController replica_sets_;
  controllers::DeploymentController deployments_;
  controllers::StatefulSetController stateful_sets_;
  controllers::DaemonSetController daemon_sets_;
  controllers::JobController jobs_;
  controllers::OrphanedPods orphans_;
  Lifetime lifetime_;
};

}  // namespace berth::sim
