// OrphanedPods: the pod garbage collector. Pods of a node that is gone stay for a while, in case the
// node comes back, and go then. World thread only.
#pragma once

#include <map>
#include <string>

#include "base/lifetime.h"
#include "berth/loop.h"
#include "controllers/pod_index.h"

namespace berth::controllers {

class OrphanedPodWorld {
 public:
  virtual ~OrphanedPodWorld() = default;
  virtual bool has_node(const std::string& name) const = 0;
  // At once, without a grace period.
  virtual void remove_orphan(const PodFacts& pod) = 0;
};

class OrphanedPods {
 public:
  // What is passed by reference outlives it.
  OrphanedPods(Loop& loop, PodIndex& pods, OrphanedPodWorld& world);
  OrphanedPods(const OrphanedPods&) = delete;
  OrphanedPods& operator=(const OrphanedPods&) = delete;

  // A node has come or gone.
  void node_changed(const std::string& name);

 private:
  void collect(const std::string& node);

  Loop& loop_;
  PodIndex& pods_;
  OrphanedPodWorld& world_;
  std::map<std::string, TimePoint> gone_;  // nodes with a timer, and since when they are gone
  Lifetime lifetime_;
};

}  // namespace berth::controllers
