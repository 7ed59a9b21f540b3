// Workloads: the Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs of the embedded API
// server and their pods, as their controllers see them. Objects are decided about in lean form;
// what is written is the fields that a controller owns, laid into the JSON that is stored.
//
// World thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/interner.h"
#include "control_plane/controller.h"
#include "control_plane/pod_feed.h"
#include "controllers/workload_world.h"

namespace berth::control_plane {

class Workloads final : public controllers::WorkloadWorld {
 public:
  Workloads(LocalClient& api, PodIndex& pods) : api_(api), pods_(pods) {}

  // ---- WorkloadWorld
  std::optional<controllers::Workload> find(ObjectKind kind, std::string_view namespace_name,
                                            std::string_view name) const override;
  void remove(const controllers::Workload& object) override;
  void record(const controllers::Workload& object, controllers::EventType type,
              std::string_view reason, const std::string& message) override;
  Result<std::string> create_pod(const controllers::Workload& owner,
                                 const controllers::PodParts& parts) override;
  bool delete_pod(const PodFacts& pod) override;
  void adopt_pods(const controllers::Workload& owner) override;
  std::vector<controllers::Workload> replica_sets_of(
      const controllers::Workload& deployment) override;
  Result<controllers::Workload> create_replica_set(
      const controllers::Workload& deployment) override;
  bool scale(const controllers::Workload& deployment, const controllers::Workload& set,
             std::int64_t replicas, std::int64_t most) override;
  void write_revision(const controllers::Workload& deployment, const controllers::Workload& set,
                      std::int64_t revision) override;
  void create_claim(const controllers::Workload& set, const controllers::ClaimTemplate& made_from,
                    std::string_view name) override;
  std::vector<std::string> daemon_nodes(const controllers::Workload& set) override;
  void write_status(const controllers::Workload& set,
                    const controllers::ReplicaSetStatus& status) override;
  void write_status(const controllers::Workload& deployment,
                    const controllers::DeploymentStatus& status) override;
  void write_status(const controllers::Workload& set,
                    const controllers::StatefulSetStatus& status) override;
  void write_status(const controllers::Workload& set,
                    const controllers::DaemonSetStatus& status) override;
  void write_status(const controllers::Workload& job,
                    const controllers::JobStatus& status) override;

 private:
  WallTime now() const { return api_.loop().wall_now(); }
  ObjectRef stored(const controllers::Workload& workload) const;
  void edit_status(const controllers::Workload& workload,
                   const std::function<void(JsonValue& status)>& edit);

  LocalClient& api_;
  PodIndex& pods_;
  Interner interner_;
};

// The controllers, each on the objects of its kind. `pods` and `world` outlive them.
std::unique_ptr<ApiFollower> run_replica_sets(LocalClient& api, PodIndex& pods, Workloads& world);
std::unique_ptr<ApiFollower> run_replication_controllers(LocalClient& api, PodIndex& pods,
                                                         Workloads& world);
std::unique_ptr<ApiFollower> run_deployments(LocalClient& api, PodIndex& pods, Workloads& world);
std::unique_ptr<ApiFollower> run_stateful_sets(LocalClient& api, PodIndex& pods, Workloads& world);
std::unique_ptr<ApiFollower> run_daemon_sets(LocalClient& api, PodIndex& pods, Workloads& world);
std::unique_ptr<ApiFollower> run_jobs(LocalClient& api, PodIndex& pods, Workloads& world);

// ---- for those who write

// The resource of a kind of workload.
const Resource& resource_of_kind(ObjectKind kind);

// spec.selector of apps and batch kinds, or of a ReplicationController (a plain map).
std::vector<LabelRequirement> selector_of(const JsonValue& owner_tree);
bool matches_all(const std::vector<LabelRequirement>& selector, const LabelPairs& labels);

// Status members that are numbers: 0 is left out, as the API server's own codecs do.
void set_count(JsonValue& status, std::string_view name, std::int64_t count);

}  // namespace berth::control_plane
