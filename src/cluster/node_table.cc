#include "berth/views.h"

#include <algorithm>

#include "cluster/columns.h"

namespace berth {

NodeTable::NodeTable(std::shared_ptr<Symbols> symbols)
    : columns_(std::make_unique<Columns>(std::move(symbols))) {}
NodeTable::~NodeTable() = default;

std::size_t NodeTable::rows() const { return columns_->rows.size(); }
const NodeSet& NodeTable::nodes() const { return columns_->nodes; }
std::size_t NodeTable::node_count() const { return columns_->node_count; }
std::size_t NodeTable::ghost_count() const { return columns_->ghosts.size(); }
std::vector<NodeRow> NodeTable::ghosts() const {
  std::vector<NodeRow> rows;
  for (const auto& [row, ghost] : columns_->ghosts) rows.push_back(row);
  std::ranges::sort(rows);
  return rows;
}
std::span<const NodeRow> NodeTable::order() const { return columns_->order.rows(); }

NodeRow NodeTable::find(Symbol node_name) const {
  const NodeRow row = columns_->find(node_name);
  return Columns::is_ghost(row) ? kNoRow : row;
}
NodeRow NodeTable::find_ghost(Symbol node_name) const {
  const NodeRow row = columns_->find(node_name);
  return Columns::is_ghost(row) ? row : kNoRow;
}
const Node& NodeTable::node(NodeRow row) const { return *columns_->rows[row].node; }
const Ref<const Node>& NodeTable::node_ref(NodeRow row) const { return columns_->rows[row].node; }
Symbol NodeTable::name(NodeRow row) const { return columns_->name_of(row); }
std::string_view NodeTable::name_text(NodeRow row) const {
  return columns_->symbols->text(columns_->name_of(row));
}

std::span<const std::int64_t> NodeTable::allocatable_milli_cpu() const {
  return columns_->amounts[kAllocatableMilliCpu];
}
std::span<const std::int64_t> NodeTable::allocatable_memory() const {
  return columns_->amounts[kAllocatableMemory];
}
std::span<const std::int64_t> NodeTable::allocatable_ephemeral_storage() const {
  return columns_->amounts[kAllocatableEphemeralStorage];
}
std::span<const std::int64_t> NodeTable::allocatable_pods() const {
  return columns_->amounts[kAllocatablePods];
}
std::span<const std::int64_t> NodeTable::requested_milli_cpu() const {
  return columns_->amounts[kRequestedMilliCpu];
}
std::span<const std::int64_t> NodeTable::requested_memory() const {
  return columns_->amounts[kRequestedMemory];
}
std::span<const std::int64_t> NodeTable::requested_ephemeral_storage() const {
  return columns_->amounts[kRequestedEphemeralStorage];
}
std::span<const std::int64_t> NodeTable::nonzero_requested_milli_cpu() const {
  return columns_->amounts[kNonzeroMilliCpu];
}
std::span<const std::int64_t> NodeTable::nonzero_requested_memory() const {
  return columns_->amounts[kNonzeroMemory];
}
std::span<const std::int64_t> NodeTable::pod_counts() const { return columns_->amounts[kPodCount]; }

ScalarColumns::View NodeTable::scalar(Symbol name) const { return columns_->scalars.view(name); }
ScalarColumns::View NodeTable::scalar_columns(Symbol name) const {
  return columns_->scalars.columns(name);
}

bool NodeTable::any_node_has_label(Symbol key) const { return columns_->label_keys.contains(key); }
NodeRow NodeTable::only_row_with_label(Symbol key) const {
  const auto found = columns_->label_keys.find(key);
  return found != columns_->label_keys.end() && found->second.nodes == 1 ? found->second.rows
                                                                         : kNoRow;
}

const NodeSet& NodeTable::cordoned() const { return columns_->cordoned; }
const NodeSet& NodeTable::tainted() const { return columns_->tainted; }
const NodeSet& NodeTable::with_affinity_pods() const { return columns_->with_affinity_pods; }
const NodeSet& NodeTable::with_required_anti_affinity_pods() const {
  return columns_->with_required_anti_affinity_pods;
}
std::uint64_t NodeTable::generation(NodeRow row) const { return columns_->generations[row]; }

std::span<const Ref<const Pod>> NodeTable::pods(NodeRow row) const {
  return columns_->pods_on(row);
}
std::span<const ImageState> NodeTable::images(NodeRow row) const {
  return columns_->rows[row].images;
}
bool NodeTable::may_have_image(Symbol name) const {
  // Rows that changed since begin_cycle() show what they had then.
  return !columns_->dirty.empty() || columns_->images.has(name);
}
std::span<const HostPort> NodeTable::host_ports(NodeRow row) const {
  return columns_->rows[row].ports;
}
std::int32_t NodeTable::claim_users(NodeRow row, Symbol namespace_name, Symbol claim) const {
  return columns_->claims.count(row, namespace_name, claim);
}
bool NodeTable::is_claim_used(Symbol namespace_name, Symbol claim) const {
  return columns_->claims.any(columns_->nodes, namespace_name, claim);
}

std::uint64_t NodeTable::log_end() const { return columns_->log.end(); }
std::optional<std::span<const ChangedRow>> NodeTable::changes_since(std::uint64_t position) const {
  return columns_->log.since(position);
}
bool NodeTable::on_trial() const { return columns_->trial_edits != 0; }
const std::shared_ptr<Symbols>& NodeTable::symbol_table() const { return columns_->symbols; }

}  // namespace berth
