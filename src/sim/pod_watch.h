// PodWatch: the pods of the simulator's cluster, as controllers see them. A pod that is bound runs
// and is ready at once; it stays so until a scenario ends it. World thread.
//
// Nothing is kept until some controller may have something to do: there is a workload, or a claim
// for devices, or a pod on a node that is not there. Most pods of a simulation are nobody's, and
// what controllers want to know about a pod takes more memory than the pod.
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
  // From now on the index has all pods.
  void begin();

 private:
  static bool matters(const Delta& delta);
  bool matters(const Pod& pod) const;
  void pod_changed(DeltaType type, const Pod& pod);

  Loop& loop_;
  SimCluster& cluster_;
  bool begun_ = false;
  controllers::PodIndex index_;
  Lifetime lifetime_;
};

}  // namespace berth::sim
