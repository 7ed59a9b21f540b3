// ReplicaSetController: as many pods of a template as a ReplicaSet (or ReplicationController) asks
// for; who goes is replaced, who is too many is deleted.
#pragma once

#include "memapi/controllers/controller.h"
#include "memapi/controllers/pod_index.h"

namespace berth::memapi {

class ReplicaSetController final : public Controller {
 public:
  // Of replicasets, or of replicationcontrollers. The index outlives it.
  ReplicaSetController(LocalClient& api, PodIndex& pods, const Resource& resource);

 private:
  void sync(const std::string& key) override;
  // False: some pod was refused.
  bool bring_in_line(const StoredObject& set, const JsonValue& tree);
  void write_status(const StoredObject& set, const JsonValue& tree, bool refused);

  PodIndex& pods_;
  const Resource& resource_;
};

}  // namespace berth::memapi
