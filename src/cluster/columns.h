// NodeTable::Columns: where the columns are kept, and the only place that writes them.
//
// For Cluster and Trial; everybody else reads through NodeTable. Rows come and go with claim() and
// free_if_unused(); nodes and pods are put on rows; whoever makes a change that is to be seen says
// so with changed(). Trials do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/claim_users.h"
#include "cluster/image_states.h"
#include "cluster/node_table.h"
#include "cluster/node_tree.h"
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
  // A resource that is not one of Amount. A column is empty until something is written.
  struct Scalar {
    Symbol name;
    Column allocatable;
    Column requested;
  };

  explicit Columns(std::shared_ptr<Symbols> table);
  ~Columns();
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  // ---- rows
  NodeRow find(Symbol name) const { return name.id < by_name.size() ? by_name[name.id] : kNoRow; }
  // The row of that name; a ghost if there was none.
  NodeRow claim(Symbol name);
  // Gives the row back if neither a node nor a pod is there.
  void free_if_unused(NodeRow row);
  bool in_use(NodeRow row) const { return row < rows.size() && !rows[row].name.empty(); }

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

  const Scalar* scalar(Symbol name) const;

  std::shared_ptr<Symbols> symbols;
  std::array<Column, kAmounts> amounts;
  std::vector<Scalar> scalars;
  std::vector<std::uint64_t> generations;
  NodeSet nodes, cordoned, tainted, with_affinity_pods, with_required_anti_affinity_pods;
  std::vector<Row> rows;
  std::vector<NodeRow> by_name;  // symbols are small numbers: no need to hash them
  std::vector<NodeRow> unused;
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
  std::uint32_t append(NodeRow row, Ref<const Pod> pod);
  Ref<const Pod> extract(NodeRow row, std::uint32_t position);
  void add_to(std::size_t column, NodeRow row, std::int64_t amount);
  void count(NodeRow row, const Pod& pod, std::int64_t sign);
  void count_affinity(NodeRow row, const PodSpec& spec, std::int32_t sign);
  void set_allocatable(NodeRow row, const Resources& before, const Resources& after);
  Scalar& scalar_for(Symbol name);
};

}  // namespace berth
