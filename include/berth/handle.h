// Handle: what a plugin is given when it is made, and may use for as long as it lives. World thread
// only, except waiting_pods, loop.post and the symbols.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "berth/pod.h"
#include "berth/random.h"
#include "berth/views.h"
#include "berth/waiting_pods.h"

namespace berth {

// Objects that the plugins of all profiles of one scheduler share, one per type: the record of
// devices in flight, for example, which must exist once. Created by the first get():
//
//   auto book = handle.shared->get<DeviceBook>(
//       [&] { return std::make_shared<DeviceBook>(handle.cluster); });
class SharedParts {
 public:
  template <typename T, typename Make>
  std::shared_ptr<T> get(Make make) {
    for (const auto& [type, part] : parts_)
      if (type == type_tag<T>()) return std::static_pointer_cast<T>(part);
    std::shared_ptr<T> made = make();
    parts_.emplace_back(type_tag<T>(), made);
    return made;
  }

 private:
  template <typename T>
  static const void* type_tag() {
    static constexpr char kTag = 0;
    return &kTag;
  }
  std::vector<std::pair<const void*, std::shared_ptr<void>>> parts_;
};

class ChangeGate;
class Extender;
class Observer;
class PodsInPreBind;

// Pods that are expected on a node before they are bound there. The queue keeps it.
class Nominator {
 public:
  virtual ~Nominator() = default;
  // A pod that is nominated but in flight is there by name and UID only (core.md §5.11).
  virtual std::vector<Ref<const Pod>> nominated_pods(Symbol node) const = 0;
  // The nodes that have any; valid until a nomination changes.
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
  Cluster* trial_cluster = nullptr;  // `cluster`, mutable, for trials only
  ChangeGate* gate = nullptr;        // passed by changes after the cycle that affect the queue
  Observer* observer = nullptr;
  std::span<Extender* const> extenders = {};

  // What plugins of several profiles have in common; never null.
  std::shared_ptr<SharedParts> shared = std::make_shared<SharedParts>();
};

}  // namespace berth
