// ReplicaSetController: as many pods of a template as a ReplicaSet (or ReplicationController) asks
// for; a pod that goes is replaced, one too many is deleted.
#pragma once

#include "controllers/controller.h"
#include "controllers/workload_world.h"

namespace berth::controllers {

class ReplicaSetController final : public Controller {
 public:
  // Of ReplicaSets, or of ReplicationControllers. What is passed by reference outlives it.
  ReplicaSetController(Loop& loop, PodIndex& pods, WorkloadWorld& world,
                       ObjectKind kind = ObjectKind::kReplicaSet);

 private:
  void sync(const std::string& key) override;
  // False: some pod was refused.
  bool bring_in_line(const Workload& set);

  PodIndex& pods_;
  WorkloadWorld& world_;
  const ObjectKind kind_;
};

}  // namespace berth::controllers
