// PodIndex: what controllers ask about pods, kept up to date as pods change: who controls them, how
// they are, where they are. One for all controllers of a server. World thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "memapi/local_client.h"

namespace berth::memapi {

enum class Phase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

struct PodFacts {
  ObjectRef object;
  std::string controller_uid;   // empty: nobody's
  std::string controller_kind;  // "ReplicaSet"
  std::string controller_name;
  std::string node;
  Phase phase = Phase::kPending;
  std::optional<WallTime> ready_since;  // when it is ready
  bool terminating = false;
  std::vector<std::string> finalizers;

  bool ended() const { return phase == Phase::kSucceeded || phase == Phase::kFailed; }
  // Counts towards what its controller wants to have.
  bool active() const { return !ended() && !terminating; }
  bool ready() const { return ready_since.has_value(); }
  // Ready for at least so long.
  bool available(Duration min_ready, WallTime now) const {
    return ready_since && *ready_since + min_ready <= now;
  }
  std::string_view label(std::string_view key) const;
};

class PodIndex {
 public:
  explicit PodIndex(LocalClient& api);

  // Knows all that was written before the call.
  void catch_up() { following_->catch_up(); }

  // Of one controller, by key. Valid until the next change is told.
  std::vector<const PodFacts*> of_controller(std::string_view uid) const;
  // Those in a namespace that nobody controls.
  std::vector<const PodFacts*> without_controller(std::string_view namespace_name) const;
  std::vector<const PodFacts*> in_namespace(std::string_view namespace_name) const;
  std::vector<const PodFacts*> on_node(std::string_view node) const;
  const PodFacts* find(std::string_view key) const;

  // Called after each change; `before` and `after` are null when there is nothing.
  using Listener = std::function<void(const PodFacts* before, const PodFacts* after)>;
  // Told of the pods that there are, too. The listener stays as long as the index, or until
  // `token` is gone.
  void listen(std::weak_ptr<int> token, Listener listener);

 private:
  void changed(const Change& change);
  void leave(const PodFacts& facts);

  std::map<std::string, PodFacts, std::less<>> pods_;
  using Keys =
      std::map<std::string, std::map<std::string, const PodFacts*, std::less<>>, std::less<>>;
  Keys by_controller_;  // nobody's are under "/namespace"
  Keys by_node_;
  std::vector<std::pair<std::weak_ptr<int>, Listener>> listeners_;
  std::unique_ptr<Following> following_;
};

}  // namespace berth::memapi
