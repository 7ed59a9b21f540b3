// PodWatch: the pods of the simulator's cluster, as controllers see them. A pod that is bound runs
// and is ready at once; it stays so until a scenario ends it. World thread.
#pragma once

#include "base/lifetime.h"
#include "berth/loop.h"
#include "controllers/pod_index.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

class PodWatch {
 public:
  // What is passed by reference outlives it.
  PodWatch(Loop& loop, SimCluster& cluster);
  PodWatch(const PodWatch&) = delete;
  PodWatch& operator=(const PodWatch&) = delete;

  controllers::PodIndex& index() { return index_; }

 private:
  controllers::PodIndex index_;
  Lifetime lifetime_;
};

}  // namespace berth::sim
