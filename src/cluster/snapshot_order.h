// SnapshotOrder: the order of nodes as of the last scheduling cycle (core.md §6.5).
//
// It follows the NodeTree, but only when the set of node names differs from the last cycle's: a
// node that merely changed its zone, or went and came back in between, keeps its place until then.
// Part of NodeTable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/node_set.h"
#include "berth/symbols.h"
#include "cluster/node_tree.h"

namespace berth {

class SnapshotOrder {
 public:
  explicit SnapshotOrder(std::shared_ptr<Symbols> symbols) : departed_names_(std::move(symbols)) {}

  void added(NodeRow row, Symbol name);
  void removed(NodeRow row, Symbol name);
  void begin_cycle(const NodeTree& tree);

  std::span<const NodeRow> rows() const { return rows_; }

 private:
  static constexpr std::uint32_t kUnlisted = ~std::uint32_t{0};

  std::vector<NodeRow> rows_;
  std::vector<std::uint32_t> positions_;  // by row: where in rows_
  bool newcomers_ = false;                // names that the last cycle did not have
  // Names that the last cycle had and that are gone, with their place.
  std::unordered_map<Symbol, std::uint32_t> departed_;
  SymbolHold departed_names_;
};

}  // namespace berth
