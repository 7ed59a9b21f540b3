#include "cluster/snapshot_order.h"

namespace berth {

void SnapshotOrder::added(NodeRow row, Symbol name) {
  if (row >= positions_.size()) positions_.resize(row + 1, kUnlisted);
  const auto returned = departed_.find(name);
  if (returned == departed_.end()) {
    newcomers_ = true;
    return;
  }
  // Parity: upstream's snapshot goes by name and does not notice that the node was away.
  rows_[returned->second] = row;
  positions_[row] = returned->second;
  departed_.erase(returned);
}

void SnapshotOrder::removed(NodeRow row, Symbol name) {
  if (positions_[row] == kUnlisted) return;  // it came and went between two cycles
  departed_names_.retain(name);
  departed_.emplace(name, positions_[row]);
  positions_[row] = kUnlisted;
}

void SnapshotOrder::begin_cycle(const NodeTree& tree) {
  const bool stale = newcomers_ || !departed_.empty();
  if (departed_names_.size() != 0) departed_names_ = SymbolHold(departed_names_.table());
  if (!stale) return;
  newcomers_ = false;
  departed_.clear();
  tree.list(rows_);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    positions_[rows_[i]] = static_cast<std::uint32_t>(i);
}

}  // namespace berth
