// Cluster: what is where. Nodes with the pods on them, assumed ones included, and the objects that
// plugins look up.
//
// A pod's way through it (core.md §6.1):
//
//     assume ──► assumed ──── add (the watch confirms) ──► added ── update ──► added
//                   │                                        │
//                   └── forget (a later step failed)         └── remove ──► gone
//
// Fed by ingest from the watch; the scheduling cycle calls assume and forget. World thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "api/node.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/result.h"
#include "cluster/node_table.h"

namespace berth {

class AffinityPods;
class AssumeCache;
class ObjectChanges;
class PodCounts;
class TopologyDomains;

class Cluster {
 public:
  explicit Cluster(std::shared_ptr<Symbols> symbols);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const NodeTable& nodes() const { return nodes_; }
  const Symbols& symbols() const { return *symbols_; }
  const std::shared_ptr<Symbols>& symbol_table() const { return symbols_; }

  // Called at the start of every scheduling cycle: freezes what upstream's snapshot would freeze
  // (image spread of changed rows, the order of nodes).
  void begin_cycle();

  // ---- what is kept between cycles, brought up to date when it is asked for. Trials do not show
  // here: whoever asks under one lays its edits over the answer.
  TopologyDomains& topology() const;
  PodCounts& pod_counts() const;
  AffinityPods& affinity_pods() const;

  // ---- nodes (core.md §6.2)
  void add_node(Ref<const Node> node);
  void update_node(Ref<const Node> node);
  Result<void> remove_node(Symbol name);

  // ---- pods on nodes (core.md §6.1)
  // The pod takes its place on the row's node before the API server knows. What the pod itself says
  // about its node does not matter.
  Result<void> assume(Ref<const Pod> pod, NodeRow row);
  // Takes an assumed pod back. Unknown pods are fine; a pod that was confirmed is an error, and so
  // is one that names another node than it was assumed on (a pod that names none is fine).
  Result<void> forget(const Pod& pod);
  // The watch shows a pod with a node: confirms an assumed one, or adds.
  Result<void> add_pod(Ref<const Pod> pod);
  Result<void> update_pod(Ref<const Pod> pod);
  Result<void> remove_pod(const Pod& pod);
  // An Error of kind kInternal from update_pod or remove_pod says that watch and cluster disagree
  // about a pod's node, where upstream would end the process. Nothing has changed then.

  bool is_assumed(const Uid& uid) const;
  // The pod as it is placed (null when it is not) and where.
  Ref<const Pod> placed(const Uid& uid) const;
  NodeRow row_of(const Uid& uid) const;
  std::size_t placed_count() const;
  std::size_t assumed_count() const;
  // In no particular order; `visit` changes nothing.
  void for_each_placed(const std::function<void(const Pod&, NodeRow, bool assumed)>& visit) const;

  // ---- all pods that the watch has shown, placed or not, by name
  void see_pod(Ref<const Pod> pod);
  void unsee_pod(const Pod& pod);  // of this UID: a successor of the same name stays
  Ref<const Pod> seen_pod(std::string_view namespace_name, std::string_view name) const;
  // The one of that pod's namespace and name; its UID may be another.
  Ref<const Pod> seen_pod(const Pod& named_alike) const;
  std::size_t seen_count() const;
  void for_each_seen(const std::function<void(const Ref<const Pod>&)>& visit) const;

  // ---- other objects, by kind
  void put(Ref<const Object> object);
  void remove(ObjectKind kind, std::string_view namespace_name, std::string_view name);
  Ref<const Object> find(ObjectKind kind, std::string_view namespace_name,
                         std::string_view name) const;
  // In the order of namespace and name, so that whoever iterates is deterministic.
  std::vector<Ref<const Object>> list(ObjectKind kind) const;
  std::vector<Ref<const Object>> list(ObjectKind kind, std::string_view namespace_name) const;
  // Grows whenever an object of the kind changes.
  std::uint64_t generation(ObjectKind kind) const;
  // Who wants to hear of changes (cluster/object_changes.h).
  ObjectChanges& object_changes() const;
  // ResourceClaims as they will be: written by us, ahead of the watch (cluster/assumed_objects.h).
  AssumeCache& assumed_claims() const;

 private:
  friend class Trial;
  struct State;
  std::shared_ptr<Symbols> symbols_;
  NodeTable nodes_;
  std::unique_ptr<State> state_;
};

// Trial: "what if these pods were (not) here?" Edits the real columns and puts everything back, in
// reverse, when it goes out of scope. The change log, generations, and who is placed or assumed
// stay silent about it. Trials nest like scopes do; the cluster itself does not change while one
// has edits.
class Trial {
 public:
  explicit Trial(Cluster& cluster) : cluster_(cluster) {}
  ~Trial() { undo_to(0); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void add(Ref<const Pod> pod, NodeRow row);
  void remove(Ref<const Pod> pod, NodeRow row);  // of a pod that is on the row

  // How many edits there are, and back to an earlier count.
  std::size_t edits() const { return edits_.size(); }
  void undo_to(std::size_t edits);

 private:
  struct Edit {
    bool added;
    Ref<const Pod> pod;
    NodeRow row;
    std::uint32_t position;       // of the pod on the row
    std::vector<HostPort> ports;  // in use on the row before, if the pod has any
    std::uint64_t depth;          // how many edits there were, of all trials, with this one
  };
  // Whether there are ports on the row that the pod changes.
  static bool has_ports(const Pod& pod, NodeRow row);

  Cluster& cluster_;
  std::vector<Edit> edits_;
};

}  // namespace berth
