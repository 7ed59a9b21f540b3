// Explanation: why a pod has no node, what would help it, or why it has the node that it has, in
// words and numbers that outlive the cluster it was made in. docs/explain.md describes each part
// for users; explanation_text.h prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/obstacle.h"
#include "berth/status.h"
#include "wire/json_tree.h"

namespace berth::explain {

// One thing that one plugin has against each node of a group.
struct NodeObstacle {
  std::string plugin;
  Code code = Code::kUnschedulable;
  bool pre_filter = false;  // PreFilter rejected the pod, or left only other nodes
  Obstacle obstacle;        // on the first node of the group, which is the nearest to fitting
};

// Nodes that are rejected for the same reasons; amounts may differ.
struct NodeGroup {
  std::vector<std::string> nodes;  // nearest to fitting first, then by name
  std::vector<NodeObstacle> obstacles;
};

// A change of one object of the cluster, as JSON. It refers to the object as it is now.
struct Change {
  enum class Op : std::uint8_t { kPatch, kDelete, kCreate };
  Op op = Op::kPatch;
  std::string kind;
  std::string namespace_name;  // empty: the kind has none
  std::string name;
  JsonValue value;  // kPatch: the operations (RFC 6902); kCreate: the object
};

// Changes after which the pod fits, which was verified by deciding again. None can be left out.
struct Suggestion {
  std::string code;  // stable: docs/explain.md
  std::string summary;
  double cost = 0;                 // orders suggestions: docs/explain.md
  std::vector<std::string> nodes;  // where the pod fits then, sorted
  std::vector<Change> changes;
  std::vector<std::string> commands;  // what carries the changes out, for people
  std::vector<std::string> victims;   // if preemption is what helps: whom it would cost
};

// One plugin's points for one node.
struct PluginPoints {
  std::string plugin;
  std::int64_t raw = 0, normalized = 0, weighted = 0;
};

struct NodeScore {
  std::string node;
  std::int64_t total = 0;
  std::vector<PluginPoints> plugins;
};

struct Explanation {
  std::string pod;                 // "namespace/name"
  std::vector<std::string> alike;  // pods of which the same is true
  // "Schedulable", "Scheduled", "Unschedulable", "Gated", "Error"; of a running scheduler also
  // "WaitingOnPermit".
  std::string verdict;
  std::string message;                // upstream's sentence, if the pod has no node
  std::string gate;                   // the PreEnqueue plugin that keeps the pod out of the queue
  std::vector<std::string> notes;     // what could not be taken into account
  std::size_t all_nodes = 0;          // of the cluster
  std::vector<NodeGroup> rejections;  // nearest to fitting first
  // Nodes where the pod would fit if these pods, which are nominated there, did not come.
  struct Nominated {
    std::string node;
    std::vector<std::string> pods;
  };
  std::vector<Nominated> nominated;
  std::vector<Suggestion> suggestions;  // cheapest first
  std::vector<std::string> tried;       // without suggestions: what was tried and did not help

  std::string chosen;                  // the node that the pod has or would get
  std::vector<std::string> ties;       // nodes with the same total, the chosen one among them
  std::optional<std::int64_t> margin;  // what the chosen node's total is above the next lower one
  std::vector<NodeScore> scores;       // best first

  struct PreemptionReason {
    std::string code;  // stable: docs/explain-codes.md
    std::string text;
    std::vector<std::string> nodes;  // sorted
  };
  struct Preemption {
    std::string node;  // empty: it does not help
    std::vector<std::string> victims;
    std::string message;  // why it does not help
    // Of every node without victims: why it cannot help there, or that it could.
    std::vector<PreemptionReason> reasons{};
  };
  std::optional<Preemption> preemption;

  // ---- what only a running scheduler knows

  // Where the pod is on its way.
  struct Queue {
    // "active", "backoff", "unschedulable", "gated", "inFlight" (being scheduled), "waitingOnPermit",
    // "binding", "none" (not a pod of this scheduler).
    std::string place;
    std::optional<WallTime> since;  // it is in the queue, or its last attempt ended
    std::optional<WallTime> until;  // when it is tried again without an event
    std::int32_t attempts = 0;
    std::vector<std::string> rejected_by;  // the plugins whose events it waits for
    std::vector<std::string> missed;  // events since its attempt began: considered when it ends
  };
  std::optional<Queue> queue;
  struct Permit {
    struct Holder {
      std::string plugin;
      WallTime until;  // then it rejects the pod
    };
    std::string node;
    WallTime since;
    std::vector<Holder> holders;
  };
  std::optional<Permit> permit;  // who holds the pod between scheduling and binding

  // By plugin that rejects: the events after which the pod is tried again, "Node/Add".
  std::map<std::string, std::vector<std::string>> wakes;
};

}  // namespace berth::explain
