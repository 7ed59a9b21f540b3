// DeploymentController: a ReplicaSet per template of a Deployment, and the way from one to the next
// (RollingUpdate or Recreate), with the status that `kubectl rollout` reads.
#pragma once

#include <string>
#include <vector>

#include "memapi/controllers/controller.h"
#include "memapi/controllers/pod_index.h"

namespace berth::memapi {

class DeploymentController final : public Controller {
 public:
  DeploymentController(LocalClient& api, PodIndex& pods);

 private:
  // A ReplicaSet of the Deployment at hand.
  struct Set {
    ObjectRef object;
    JsonValue tree;
    std::int64_t wanted = 0;  // spec.replicas
    std::int64_t replicas = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;
    std::int64_t revision = 0;
  };
  struct Rollout;  // one Deployment and its sets, while it is looked at

  void sync(const std::string& key) override;
  std::vector<Set> sets_of(const StoredObject& deployment, const JsonValue& tree);
  bool make_new_set(Rollout& rollout);
  void set_revision(Rollout& rollout);
  void roll(Rollout& rollout);
  void recreate(Rollout& rollout);
  void scale(Rollout& rollout, Set& set, std::int64_t replicas);
  void forget_history(Rollout& rollout);
  void write_status(const Rollout& rollout);

  PodIndex& pods_;
};

}  // namespace berth::memapi
