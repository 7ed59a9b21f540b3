// What a run did, and how the world stood when somebody looked: everything the invariants are
// about, as plain values, so that a test can write down a wrong one by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/node.h"
#include "berth/pod.h"
#include "engine/engine.h"
#include "sim/sim_cluster.h"

namespace berth::simulation {

// "default/web-1 (5f0c33a1)": two pods of one name are two pods.
using PodKey = std::string;
PodKey key_of(const Pod& pod);

// By resource; "pods" is one of them.
using Amounts = std::map<std::string, std::int64_t>;

struct ReserveStep {
  enum class Kind : std::uint8_t { kReserved, kUnreserved, kBound };
  Kind kind = Kind::kReserved;
  std::string plugin;  // of kReserved and kUnreserved
  PodKey pod;
};

struct WaitCount {
  int started = 0;
  int ended = 0;
};

// What the decisions about a pod said of its status, the last word of each.
struct DecidedStatus {
  std::optional<std::pair<std::string, std::string>> condition;  // of PodScheduled: reason, message
  std::string nominated;
};

struct History {
  std::map<PodKey, int> bindings;  // that took effect, as the API server counts them
  // Pods that got their place behind the scheduler's back: a binding that was reported as failed
  // and took effect all the same, or somebody else's. What they take is not the scheduler's fault.
  std::set<PodKey> placed_unasked;
  std::vector<ReserveStep> reserve_steps;  // as the plugins themselves saw them
  std::map<PodKey, WaitCount> waits;
  std::map<PodKey, DecidedStatus> decided;
};

struct State {
  // ---- the API server's
  struct StoredPod {
    std::string node;
    std::string version;
    Amounts requests;
    bool finished = false;
    std::string scheduled{};  // the condition PodScheduled: "True", "False", or empty: none
    std::string reason{};     // of "False"
    std::string message{};
    std::string nominated{};
  };
  std::map<PodKey, StoredPod> stored;
  std::map<std::string, Amounts> nodes;  // what they have

  // ---- the scheduler's
  struct SeenPod {
    std::string node;
    std::string version;
    bool ours = true;
    bool terminating = false;
  };
  struct PlacedPod {
    std::string node;
    Amounts requests;
    bool assumed = false;
  };
  struct Row {
    bool has_node = true;  // else a ghost
    Amounts allocatable;
    Amounts requested;
  };
  std::map<PodKey, SeenPod> seen;
  std::map<PodKey, PlacedPod> placed;
  std::map<std::string, Row> rows;                    // the columns, by node
  std::map<PodKey, std::vector<std::string>> queued;  // "active", "backoff", …
  std::map<std::string, std::size_t> queue_sizes;     // what the queue says of itself
  std::set<PodKey> in_flight;                         // of the pods seen
  std::size_t in_flight_count = 0;
  std::set<PodKey> waiting;
  std::size_t tasks = 0;  // and pods about which something is yet to be written
};

State look(const sim::SimCluster& cluster, Engine& engine);

// The parts of it: the scheduler's, and one object of the API server's each.
void look_at_engine(Engine& engine, State& state);
void add_stored(const Pod& pod, State& state);
void add_stored(const Node& node, State& state);

}  // namespace berth::simulation
