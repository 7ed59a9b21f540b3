// NodeTable::Columns: where the columns are kept, and the only place that writes them.
//
// For Cluster and Trial; all other code reads through NodeTable. claim(), claim_row(),
// claim_ghost() and free_if_unused() allocate and free rows; nodes and pods are put on rows; a
// change is logged with changed(). Trials do not log.
//
// Ghosts are outside the columns, under numbers that no row has: pods with unknown node names cost
// their own memory, and nothing in loops over rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "berth/views.h"
#include "cluster/change_log.h"
#include "cluster/claim_users.h"
#include "cluster/image_states.h"
#include "cluster/node_tree.h"
#include "cluster/scalar_columns.h"
#include "cluster/snapshot_order.h"

namespace berth {

// The amounts that every row has.
enum Amount : std::size_t {
  kAllocatableMilliCpu,
  kAllocatableMemory,
  kAllocatableEphemeralStorage,
  kAllocatablePods,
  kRequestedMilliCpu,
  kRequestedMemory,
  kRequestedEphemeralStorage,
  kNonzeroMilliCpu,
  kNonzeroMemory,
  kPodCount,
  kAmounts,
};

constexpr std::uint8_t bits(RowChange change) { return static_cast<std::uint8_t>(change); }
constexpr std::uint8_t kEverything = 63;

struct NodeTable::Columns {
  using Column = std::vector<std::int64_t>;

  struct Row {
    Symbol name;  // empty: the row is free
    Ref<const Node> node;
    std::vector<Ref<const Pod>> pods;
    std::vector<HostPort> ports;
    std::int32_t affinity_pods = 0;
    std::int32_t required_anti_affinity_pods = 0;

    ImageStates::Ids image_ids;
    std::vector<ImageState> images;       // as frozen
    Ref<const Node> images_of;            // keeps the symbols in `images`
    std::uint64_t images_generation = 0;  // of ImageStates, when they were frozen
  };
  // Pods whose node is unknown or gone.
  struct Ghost {
    Symbol name;
    std::vector<Ref<const Pod>> pods;
  };

  explicit Columns(std::shared_ptr<Symbols> table);
  ~Columns();
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  // ---- rows
  NodeRow find(Symbol name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? kNoRow : found->second;
  }
  static constexpr NodeRow kFirstGhost = NodeRow{1} << 31;
  static bool is_ghost(NodeRow row) { return row >= kFirstGhost && row != kNoRow; }
  // The row of that name; a ghost if there was none.
  NodeRow claim(Symbol name);
  // A row, or a ghost, for the name. If it had one before, that has to go once its pods have moved.
  NodeRow claim_row(Symbol name);
  NodeRow claim_ghost(Symbol name);
  // Gives the row back if neither a node nor a pod is there.
  void free_if_unused(NodeRow row);
  bool in_use(NodeRow row) const {
    return is_ghost(row) ? ghosts.contains(row) : row < rows.size() && !rows[row].name.empty();
  }
  Symbol name_of(NodeRow row) const { return is_ghost(row) ? ghosts.at(row).name : rows[row].name; }
  std::vector<Ref<const Pod>>& pods_on(NodeRow row) {
    return is_ghost(row) ? ghosts.at(row).pods : rows[row].pods;
  }

  // ---- nodes
  void set_node(NodeRow row, Ref<const Node> node);
  void clear_node(NodeRow row);

  // ---- pods: columns and lists, nothing else
  // Says at which position the pod now is.
  std::uint32_t push_pod(NodeRow row, Ref<const Pod> pod);
  // Parity: the last pod of the row moves into the hole.
  Ref<const Pod> take_pod(NodeRow row, std::uint32_t position);
  // The same as taking one and pushing the other, for two versions of a pod; cheaper when they take
  // the same from the node.
  std::uint32_t replace_pod(NodeRow row, std::uint32_t position, Ref<const Pod> pod);
  // Undoes take_pod().
  void put_back_pod(NodeRow row, Ref<const Pod> pod, std::uint32_t position);

  // ---- what is seen of changes
  void changed(NodeRow row, std::uint8_t changes);
  void begin_cycle();

  std::shared_ptr<Symbols> symbols;
  std::array<Column, kAmounts> amounts;
  ScalarColumns scalars;
  std::vector<std::uint64_t> generations;
  NodeSet nodes, cordoned, tainted, with_affinity_pods, with_required_anti_affinity_pods;
  std::vector<Row> rows;
  std::unordered_map<Symbol, NodeRow> by_name;  // rows and ghosts
  std::unordered_map<NodeRow, Ghost> ghosts;
  NodeRow last_ghost = kFirstGhost;
  struct NodesWithKey {
    std::uint32_t nodes = 0;  // how many have a label of the key
    NodeRow rows = 0;         // theirs, combined by exclusive or: of one node its row
  };
  std::unordered_map<Symbol, NodesWithKey> label_keys;
  std::vector<NodeRow> unused;          // a heap, the lowest first
  std::size_t unused_when_checked = 0;  // by give_back_rows()
  std::size_t node_count = 0;

  NodeTree tree;
  SnapshotOrder order;
  ImageStates images;
  ClaimUsers claims;
  ChangeLog log;
  std::uint64_t last_generation = 0;
  std::vector<NodeRow> dirty;  // changed since the last begin_cycle(), each once
  NodeSet is_dirty;
  std::uint64_t trial_edits = 0;  // that are in force

 private:
  NodeRow append_row();
  void give_back_rows();
  std::uint32_t append(NodeRow row, Ref<const Pod> pod);
  Ref<const Pod> extract(NodeRow row, std::uint32_t position);
  void add_to(std::size_t column, NodeRow row, std::int64_t amount);
  void count(NodeRow row, const Pod& pod, std::int64_t sign);
  void count_affinity(NodeRow row, const PodSpec& spec, std::int32_t sign);
  void set_allocatable(NodeRow row, const Resources& before, const Resources& after);
  void count_label_keys(NodeRow row, const LabelSet& before, const LabelSet& after);
};

}  // namespace berth
