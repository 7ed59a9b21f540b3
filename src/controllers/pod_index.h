// PodIndex: what controllers ask about pods, kept up to date as pods change: who controls them, how
// they are, where they are. One for all controllers of a cluster; whoever has the pods feeds it.
// World thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "berth/loop.h"
#include "berth/pod.h"

namespace berth::controllers {

using LabelPairs = std::vector<std::pair<std::string, std::string>>;  // by key

struct ContainerExit {
  std::string container;
  std::int64_t code = 0;
};

struct PodFacts {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::uint64_t version = 0;  // greater ones were written later
  LabelPairs labels;
  std::string controller_uid;   // empty: nobody's
  std::string controller_kind;  // "ReplicaSet"
  std::string controller_name;
  std::string node;       // it is bound to
  std::string daemon_of;  // the node that a daemon waits for
  PodPhase phase = PodPhase::kPending;
  std::optional<WallTime> ready_since;  // when it is ready
  bool terminating = false;
  bool names_claim_template = false;  // of ResourceClaims
  // Of a pod that has failed: how its containers ended, and type and status of its conditions.
  std::vector<ContainerExit> exits;
  std::vector<std::pair<std::string, std::string>> conditions;

  std::string key() const;  // "namespace/name"
  bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  // Counts towards what its controller wants to have.
  bool active() const { return !ended() && !terminating; }
  bool ready() const { return ready_since.has_value(); }
  // Ready for at least so long; without such a time, ready is enough.
  bool available(Duration min_ready, WallTime now) const {
    return ready_since && (min_ready <= Duration::zero() || *ready_since + min_ready <= now);
  }
  // It is there and runs, or will: what it has reserved is in use.
  bool in_use() const { return !ended() && !(terminating && node.empty()); }
  std::string_view label(std::string_view key) const;
};

class PodIndex {
 public:
  // `catch_up` delivers all pending pod changes to the index.
  explicit PodIndex(std::function<void()> catch_up = {}) : catch_up_(std::move(catch_up)) {}
  PodIndex(const PodIndex&) = delete;
  PodIndex& operator=(const PodIndex&) = delete;

  void put(PodFacts facts);
  void remove(const std::string& key);
  void catch_up() {
    if (catch_up_) catch_up_();
  }

  // Of one controller, by key. Pointers are valid until the next put() or remove().
  std::vector<const PodFacts*> of_controller(std::string_view uid) const;
  // Those in a namespace that nobody controls.
  std::vector<const PodFacts*> without_controller(std::string_view namespace_name) const;
  std::vector<const PodFacts*> in_namespace(std::string_view namespace_name) const;
  std::vector<const PodFacts*> on_node(std::string_view node) const;
  const PodFacts* find(std::string_view key) const;

  // Called after each change; `before` and `after` are null when there is nothing.
  using Listener = std::function<void(const PodFacts* before, const PodFacts* after)>;
  // Told of the pods that there are, too. The listener stays as long as the index, or until
  // `lifetime` ends.
  void listen(const Lifetime& lifetime, Listener listener);

 private:
  void change(const std::string& key, std::optional<PodFacts> facts);
  void leave(const std::string& key, const PodFacts& facts);

  std::function<void()> catch_up_;
  std::map<std::string, PodFacts, std::less<>> pods_;
  using Keys =
      std::map<std::string, std::map<std::string, const PodFacts*, std::less<>>, std::less<>>;
  Keys by_controller_;  // nobody's are under "/namespace"
  Keys by_node_;
  std::vector<std::pair<Lifetime::Watch, Listener>> listeners_;
};

}  // namespace berth::controllers
