// Who follows the workloads of the embedded API server, and hands their names to controllers.
#include <utility>

#include "base/lifetime.h"
#include "control_plane/workloads.h"
#include "controllers/daemon_set.h"
#include "controllers/deployment.h"
#include "controllers/job.h"
#include "controllers/replica_set.h"
#include "controllers/stateful_set.h"

namespace berth::control_plane {
namespace {

// A controller with the objects of its kind.
template <typename C>
class Follower : public ApiFollower {
 public:
  template <typename... Arguments>
  Follower(LocalClient& api, ObjectKind kind, Arguments&&... arguments)
      : ApiFollower(api),
        resource_(resource_of_kind(kind)),
        controller_(api.loop(), std::forward<Arguments>(arguments)...) {
    follow(resource_, [this](const Change& change) {
      if (change.type != ChangeType::kDeleted) controller_.enqueue(key_of(*change.object));
    });
  }

 protected:
  const Resource& resource_;
  C controller_;
};

class ReplicaSets final : public Follower<controllers::ReplicaSetController> {
 public:
  ReplicaSets(LocalClient& api, PodIndex& pods, Workloads& world, ObjectKind kind)
      : Follower(api, kind, pods, world, kind) {
    pods.listen(lifetime_, [this](const PodFacts* before, const PodFacts* after) {
      // A pod that nobody controls may be somebody's.
      const bool new_orphan =
          after != nullptr && after->controller_uid.empty() &&
          (before == nullptr || !before->controller_uid.empty() || before->labels != after->labels);
      if (!new_orphan || after->labels.empty()) return;
      for (const ObjectRef& set : api_.list(resource_, after->namespace_name)) {
        const std::vector<LabelRequirement> selector = selector_of(set->tree());
        if (!selector.empty() && matches_all(selector, after->labels))
          controller_.enqueue(key_of(*set));
      }
    });
  }

 private:
  Lifetime lifetime_;
};

class Deployments final : public Follower<controllers::DeploymentController> {
 public:
  Deployments(LocalClient& api, PodIndex& pods, Workloads& world)
      : Follower(api, ObjectKind::kDeployment, pods, world) {
    follow(resource_of_kind(ObjectKind::kReplicaSet), [this](const Change& change) {
      for (const ObjectRef& set : {change.object, change.previous}) {
        if (!set) continue;
        const JsonValue tree = set->tree();
        const JsonValue* owner = controller_of(tree);
        if (owner != nullptr && text_at(*owner, "kind") == "Deployment")
          controller_.enqueue(object_key(set->namespace_name, text_at(*owner, "name")));
      }
    });
  }
};

class DaemonSets final : public Follower<controllers::DaemonSetController> {
 public:
  DaemonSets(LocalClient& api, PodIndex& pods, Workloads& world)
      : Follower(api, ObjectKind::kDaemonSet, pods, world) {
    follow(resource_of("nodes"), [this](const Change&) {
      for (const ObjectRef& set : api_.list(resource_)) controller_.enqueue(key_of(*set));
    });
  }
};

}  // namespace

std::unique_ptr<ApiFollower> run_replica_sets(LocalClient& api, PodIndex& pods, Workloads& world) {
  return std::make_unique<ReplicaSets>(api, pods, world, ObjectKind::kReplicaSet);
}

std::unique_ptr<ApiFollower> run_replication_controllers(LocalClient& api, PodIndex& pods,
                                                         Workloads& world) {
  return std::make_unique<ReplicaSets>(api, pods, world, ObjectKind::kReplicationController);
}

std::unique_ptr<ApiFollower> run_deployments(LocalClient& api, PodIndex& pods, Workloads& world) {
  return std::make_unique<Deployments>(api, pods, world);
}

std::unique_ptr<ApiFollower> run_stateful_sets(LocalClient& api, PodIndex& pods, Workloads& world) {
  return std::make_unique<Follower<controllers::StatefulSetController>>(
      api, ObjectKind::kStatefulSet, pods, world);
}

std::unique_ptr<ApiFollower> run_daemon_sets(LocalClient& api, PodIndex& pods, Workloads& world) {
  return std::make_unique<DaemonSets>(api, pods, world);
}

std::unique_ptr<ApiFollower> run_jobs(LocalClient& api, PodIndex& pods, Workloads& world) {
  return std::make_unique<Follower<controllers::JobController>>(api, ObjectKind::kJob, pods, world);
}

}  // namespace berth::control_plane
