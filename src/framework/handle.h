// Handle: what a plugin is given when it is made, and may use for as long as it lives.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/loop.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "framework/cluster_api.h"
#include "framework/shared_parts.h"

namespace berth {

class ChangeGate;
class Extender;
class Observer;
class PodsInPreBind;
class WaitingPods;

// Pods that are expected on a node before they are bound there. The queue keeps it.
class Nominator {
 public:
  virtual ~Nominator() = default;
  // A pod that is nominated but in flight is there by name and UID only (core.md §5.11).
  virtual std::vector<Ref<const Pod>> nominated_pods(Symbol node) const = 0;
  // The nodes that have any.
  virtual const std::vector<Symbol>& nominated_nodes() const = 0;
};

// Wakes pods wherever they are in the queue, backoff or not.
class Activator {
 public:
  virtual ~Activator() = default;
  virtual void activate(std::span<const Ref<const Pod>> pods) = 0;
};

namespace config {
class FeatureGates;
}

struct Handle {
  std::string profile_name;
  Loop& loop;
  Random& random;
  const Cluster& cluster;
  WaitingPods& waiting_pods;
  PodsInPreBind& pods_in_pre_bind;
  Nominator& nominator;
  Activator& activator;
  ClusterApi& api;
  const config::FeatureGates& gates;

  // ---- for plugins that make room (PostFilter); where nothing is carried out they may be absent
  Cluster* trial_cluster = nullptr;  // `cluster` again, for a WhatIf to edit and put back
  ChangeGate* gate = nullptr;        // what is done after the cycle and touches the queue passes it
  Observer* observer = nullptr;
  std::span<Extender* const> extenders = {};

  // What plugins of several profiles have in common; never null.
  std::shared_ptr<SharedParts> shared = std::make_shared<SharedParts>();
};

}  // namespace berth
