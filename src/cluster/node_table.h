// NodeTable: the cluster's nodes as columns, one array per attribute, one row per node.
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
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "base/symbols.h"
#include "cluster/host_ports.h"
#include "cluster/node_set.h"
#include "cluster/scalar_columns.h"

namespace berth {

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
  // Scalar resources (cluster/scalar_columns.h): as they are kept, and as columns, which are empty
  // when neither a node nor a pod names the resource. Columns are for names that the configuration
  // has: they take memory for every row.
  ScalarColumns::View scalar(Symbol name) const;
  ScalarColumns::View scalar_columns(Symbol name) const;
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

}  // namespace berth
