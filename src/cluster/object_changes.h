// ObjectChanges: notifies listeners and watchers when an object of the cluster changes. Part of
// Cluster.
//
//   listeners   hear of every change of a kind, at once: they keep something up to date beside the
//               store (an index, an assume cache). They change nothing in cluster or queue.
//   watchers    hear that one object, by name, has changed: somebody waits for it (NextChange in
//               framework/object_waits.h)
//
// They are called after the store has changed and before the queue gets the event. Listeners get
// pods, volumes, claims and all other objects with their state before and after; changes of nodes are
// passed on to watchers only, by name. World thread.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/keyed_hash.h"
#include "berth/object.h"
#include "berth/views.h"

namespace berth {

// Functions that are called in the order in which they were added. They may be removed in any
// order.
template <typename... Args>
class Listeners {
 public:
  using Listener = std::function<void(Args...)>;

  [[nodiscard]] Subscription add(Listener listener) {
    std::erase_if(listeners_, [](const auto& held) { return held.expired(); });
    auto held = std::make_shared<Listener>(std::move(listener));
    listeners_.push_back(held);
    return held;
  }
  bool empty() const { return listeners_.empty(); }
  void notify(Args... args) const {
    for (std::size_t i = 0; i < listeners_.size(); ++i)
      if (const std::shared_ptr<Listener> listener = listeners_[i].lock()) (*listener)(args...);
  }

 private:
  std::vector<std::weak_ptr<Listener>> listeners_;
};

// An object by name; the namespace is empty for cluster-wide kinds.
struct ObjectName {
  ObjectKind kind = ObjectKind::kOther;
  std::string namespace_name;
  std::string name;

  friend bool operator==(const ObjectName&, const ObjectName&) = default;
};

class ObjectChanges {
 public:
  // `before` is null for a new object, `after` for a deleted one.
  using Listener =
      std::function<void(const Ref<const Object>& before, const Ref<const Object>& after)>;
  [[nodiscard]] Subscription listen(ObjectKind kind, Listener listener);
  using PodListener =
      std::function<void(const Ref<const Pod>& before, const Ref<const Pod>& after)>;
  [[nodiscard]] Subscription listen_to_pods(PodListener listener) {
    return pod_listeners_.add(std::move(listener));
  }

  class Watcher {
   public:
    virtual void changed() = 0;  // records it; the reaction follows in a later turn of the loop

   protected:
    ~Watcher() = default;
  };
  // `watcher` is registered once for each name, until unwatch with the same names.
  void watch(const std::vector<ObjectName>& objects, Watcher& watcher);
  void unwatch(const std::vector<ObjectName>& objects, Watcher& watcher);
  std::size_t watched() const { return watchers_.size(); }  // names

  // How many objects are assumed to differ from the store, in all caches. Zero when nothing is
  // being bound; otherwise a plugin has forgotten to restore one.
  std::size_t assumed() const { return assumed_; }
  void count_assumed(std::size_t before, std::size_t after) { assumed_ += after - before; }

  // ---- for Cluster
  bool is_followed(ObjectKind kind) const {
    return !listeners_[index(kind)].empty() || watchers_of_[index(kind)] != 0;
  }
  void notify(ObjectKind kind, const Ref<const Object>& before, const Ref<const Object>& after);
  bool pods_are_followed() const {
    return !pod_listeners_.empty() || watchers_of_[index(ObjectKind::kPod)] != 0;
  }
  void notify(const Ref<const Pod>& before, const Ref<const Pod>& after);
  void notify(ObjectKind kind, std::string_view namespace_name, std::string_view name) {
    if (watchers_of_[index(kind)] != 0) notify_watchers(kind, namespace_name, name);
  }

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(ObjectKind::kOther) + 1;
  static std::size_t index(ObjectKind kind) { return static_cast<std::size_t>(kind); }
  static std::string key(ObjectKind kind, std::string_view namespace_name, std::string_view name);
  void notify_watchers(ObjectKind kind, std::string_view namespace_name, std::string_view name);

  std::array<Listeners<const Ref<const Object>&, const Ref<const Object>&>, kKinds> listeners_;
  Listeners<const Ref<const Pod>&, const Ref<const Pod>&> pod_listeners_;
  std::array<std::size_t, kKinds> watchers_of_{};
  std::size_t assumed_ = 0;
  std::unordered_map<std::string, std::vector<Watcher*>, TextHash> watchers_;
};

}  // namespace berth
