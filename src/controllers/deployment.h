// DeploymentController: a ReplicaSet per template of a Deployment, and the way from one to the next
// (RollingUpdate or Recreate), with the status that `kubectl rollout` reads.
#pragma once

#include <string>

#include "controllers/controller.h"
#include "controllers/workload_world.h"

namespace berth::controllers {

class DeploymentController final : public Controller {
 public:
  // What is passed by reference outlives it.
  DeploymentController(Loop& loop, PodIndex& pods, WorkloadWorld& world)
      : Controller(loop), pods_(pods), world_(world) {}

 private:
  struct Rollout;  // one Deployment and its sets, while it is looked at

  void sync(const std::string& key) override;
  bool make_new_set(Rollout& rollout);
  void set_revision(Rollout& rollout);
  void roll(Rollout& rollout);
  void recreate(Rollout& rollout);
  void scale(Rollout& rollout, Workload& set, std::int64_t replicas);
  void forget_history(const Rollout& rollout);
  void write_status(const Rollout& rollout);

  PodIndex& pods_;
  WorkloadWorld& world_;
};

}  // namespace berth::controllers
