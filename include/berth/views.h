// What plugins see of the cluster: the nodes as columns (NodeTable), and what is where (Cluster). A
// pod and a node as such are in pod.h and node.h.
//
// Plugins get a const Cluster. What is not const belongs to the scheduler: ingest feeds the cluster
// from the watch, the scheduling cycle calls assume and forget. World thread only.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/node.h"
#include "berth/node_set.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/symbols.h"

namespace berth {

class AffinityPods;
class AssumeCache;
class ObjectChanges;
class PodCounts;
class TopologyDomains;

// A listener is called as long as its subscription exists.
using Subscription = std::shared_ptr<void>;

// What may have changed in a row; a bit each.
enum class RowChange : std::uint8_t {
  kPods = 1,  // pods came, went or changed, and with them what is requested
  kAllocatable = 2,
  kLabels = 4,
  kTaints = 8,       // taints, or cordoned
  kOther = 16,       // images and their spread, conditions, annotations, features
  kMembership = 32,  // the node appeared (then all other bits are set too) or disappeared
};

struct ChangedRow {
  NodeRow row;
  std::uint8_t changes;  // RowChange bits
};

// How an image is spread, as upstream's snapshot froze it when this row last changed.
struct ImageState {
  Symbol name;
  std::int64_t size_bytes = 0;
  std::int32_t node_count = 0;

  friend bool operator==(const ImageState&, const ImageState&) = default;
};

// A host port that is in use on a node (core.md §1.4).
struct HostPort {
  std::int32_t port = 0;
  Symbol protocol;  // "TCP" where the pod names none
  Symbol ip;        // "0.0.0.0" where the pod names none

  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// What nodes offer and what pods take of one extended resource, hugepages or the like: columns, or
// else the rows where a number is not 0, in ascending order. Valid until something changes.
struct ScalarView {
  struct AtRow {
    NodeRow row;
    std::int64_t allocatable = 0;
    std::int64_t requested = 0;
  };
  bool is_dense = false;
  std::span<const std::int64_t> allocatable;
  std::span<const std::int64_t> requested;
  std::span<const AtRow> few;
};

// The cluster's nodes as columns, one array per attribute, one row per node.
//
// Plugins read whole columns for a batch of rows instead of walking node objects. A row is a stable
// slot: it keeps its number while the node (or a pod on it) exists and is reused afterwards. The
// order in which upstream would visit the nodes, zones taking turns, is kept beside the rows and
// never moves them.
//
// Pods whose node is unknown or gone are on a ghost. It has a number, but no row: ghosts are in no
// column, in no order and in no node set.
//
// Written by Cluster (and, for a while, by a Trial); read by everyone on the world thread.
class NodeTable {
 public:
  explicit NodeTable(std::shared_ptr<Symbols> symbols);
  ~NodeTable();
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  // How many rows there are, used or not; columns have this length. Free rows at the end are given
  // back when they are more than half of all.
  std::size_t rows() const;
  // The rows that have a node object.
  const NodeSet& nodes() const;
  std::size_t node_count() const;
  std::size_t ghost_count() const;
  // Their numbers; only name() and pods() may be asked about them.
  std::vector<NodeRow> ghosts() const;
  // The nodes in upstream's snapshot order, as of the last Cluster::begin_cycle(). Nodes that went
  // since may still be there, and are not in nodes(); nodes that came since are not there yet.
  std::span<const NodeRow> order() const;

  // kNoRow when there is no such node, or no such ghost.
  NodeRow find(Symbol node_name) const;
  NodeRow find_ghost(Symbol node_name) const;
  bool has_node(NodeRow row) const { return nodes().contains(row); }
  const Node& node(NodeRow row) const;  // of a row that has one
  const Ref<const Node>& node_ref(NodeRow row) const;
  Symbol name(NodeRow row) const;
  std::string_view name_text(NodeRow row) const;

  // Columns, by row. Pods that a Trial has put in or taken out count.
  std::span<const std::int64_t> allocatable_milli_cpu() const;
  std::span<const std::int64_t> allocatable_memory() const;
  std::span<const std::int64_t> allocatable_ephemeral_storage() const;
  std::span<const std::int64_t> allocatable_pods() const;
  std::span<const std::int64_t> requested_milli_cpu() const;
  std::span<const std::int64_t> requested_memory() const;
  std::span<const std::int64_t> requested_ephemeral_storage() const;
  std::span<const std::int64_t> nonzero_requested_milli_cpu() const;
  std::span<const std::int64_t> nonzero_requested_memory() const;
  std::span<const std::int64_t> pod_counts() const;
  // Amounts of a scalar resource. scalar() returns the form in which they are kept. scalar_columns()
  // returns columns, empty if no node or pod names the resource; it allocates a column, so call it
  // only for names from the configuration.
  ScalarView scalar(Symbol name) const;
  ScalarView scalar_columns(Symbol name) const;
  // Whether any node has a label of that key.
  bool any_node_has_label(Symbol key) const;
  // The row of the one node that has a label of that key; kNoRow when none has, or several have.
  NodeRow only_row_with_label(Symbol key) const;
  // Rows whose node is cordoned, rows whose node has taints of any effect.
  const NodeSet& cordoned() const;
  const NodeSet& tainted() const;
  // Rows whose node has pods with any pod affinity or anti-affinity, and with required pod
  // anti-affinity.
  const NodeSet& with_affinity_pods() const;
  const NodeSet& with_required_anti_affinity_pods() const;
  // Grows by every change of the row (Trials do not count); all rows share one count.
  std::uint64_t generation(NodeRow row) const;

  // The pods on a row, in no promised order.
  std::span<const Ref<const Pod>> pods(NodeRow row) const;
  // The images of the row's node, each name once and sorted by it, as of the last
  // Cluster::begin_cycle().
  std::span<const ImageState> images(NodeRow row) const;
  // False: none of the nodes has the image in images().
  bool may_have_image(Symbol name) const;
  // The host ports that pods use on the row, each once.
  std::span<const HostPort> host_ports(NodeRow row) const;
  // How many volumes of pods on the row refer to the PersistentVolumeClaim; whether any pod on a
  // node does.
  std::int32_t claim_users(NodeRow row, Symbol namespace_name, Symbol claim) const;
  bool is_claim_used(Symbol namespace_name, Symbol claim) const;

  // The log of changed rows; of ghosts only that they became one. A reader remembers a position and
  // reads from there; a position that is older than what is kept means "everything may have
  // changed" (nullopt).
  std::uint64_t log_end() const;
  std::optional<std::span<const ChangedRow>> changes_since(std::uint64_t position) const;
  // Whether a Trial has edits in force: pods(), columns and sets show them, the log does not.
  bool on_trial() const;
  const std::shared_ptr<Symbols>& symbol_table() const;

 private:
  friend class Cluster;
  friend class Trial;
  struct Columns;
  std::unique_ptr<Columns> columns_;
};

// What is where: nodes with the pods on them, assumed ones included, and the objects that plugins
// look up. A pod's way through it (core.md §6.1):
//
//     assume ──► assumed ──── add (the watch confirms) ──► added ── update ──► added
//                   │                                        │
//                   └── forget (a later step failed)         └── remove ──► gone
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

  // ---- what is kept between cycles, brought up to date when it is asked for. Trials do not change
  // it: a caller within a trial adds the trial's edits to the answer.
  TopologyDomains& topology() const;
  PodCounts& pod_counts() const;
  AffinityPods& affinity_pods() const;

  // ---- nodes (core.md §6.2)
  void add_node(Ref<const Node> node);
  void update_node(Ref<const Node> node);
  Result<void> remove_node(Symbol name);

  // ---- pods on nodes (core.md §6.1)
  // Places the pod on the row's node before the API server knows. The pod's own nodeName does not
  // matter.
  Result<void> assume(Ref<const Pod> pod, NodeRow row);
  // Removes an assumed pod. An unknown pod is ignored; a confirmed pod is an error, and so is one
  // with another nodeName than it was assumed on (an empty nodeName is allowed).
  Result<void> forget(const Pod& pod);
  // The watch shows a pod with a node: confirms an assumed one, or adds.
  Result<void> add_pod(Ref<const Pod> pod);
  Result<void> update_pod(Ref<const Pod> pod);
  Result<void> remove_pod(const Pod& pod);
  // An Error of kind kInternal from update_pod or remove_pod means that watch and cluster disagree
  // about a pod's node, where upstream ends the process. Nothing has changed then.

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
  void remove_seen_pod(const Pod& pod);  // by UID: a newer pod of the same name stays
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
  // In the order of namespace and name, so that iteration is deterministic.
  std::vector<Ref<const Object>> list(ObjectKind kind) const;
  std::vector<Ref<const Object>> list(ObjectKind kind, std::string_view namespace_name) const;
  // Those of kOther, by the resource too ("cranes.v1.example.com"); find and list do not have them.
  Ref<const OtherObject> find_other(std::string_view resource, std::string_view namespace_name,
                                    std::string_view name) const;
  std::vector<Ref<const OtherObject>> list_others(std::string_view resource) const;
  // The object of that kind (and resource), namespace and name.
  Ref<const Object> find(const Object& named_alike) const;
  void remove(const Object& named_alike);
  // Grows whenever an object of the kind changes.
  std::uint64_t generation(ObjectKind kind) const;

  // ---- listeners, for an index that a plugin keeps. They are called after the cluster has changed
  // and before the queue gets the event, and change neither. `before` is null for what is new,
  // `after` for what is gone. Pods are those that the watch has shown (seen_pod); one that finishes
  // is gone.
  [[nodiscard]] Subscription on_pod_change(
      std::function<void(const Ref<const Pod>& before, const Ref<const Pod>& after)> listener)
      const;
  [[nodiscard]] Subscription on_object_change(
      ObjectKind kind,
      std::function<void(const Ref<const Object>& before, const Ref<const Object>& after)> listener)
      const;
  // Subscriptions to object changes.
  ObjectChanges& object_changes() const;
  // ResourceClaims with our own writes that the watch has not shown yet.
  AssumeCache& assumed_claims() const;

 private:
  friend class Trial;
  struct State;
  std::shared_ptr<Symbols> symbols_;
  NodeTable nodes_;
  std::unique_ptr<State> state_;
};

}  // namespace berth
