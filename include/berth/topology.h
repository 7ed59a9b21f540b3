// TopologyDomains: for a topology key, the domain that each node is in, as a column of small
// numbers. Two nodes are in the same domain when they have the same value of the key.
//
// A key's column is made when it is first asked for and follows the nodes' labels from then on. Of a
// key that few nodes have only their rows are kept, in order: an object may name thousands of keys
// that one node has. Keys that no node has share one empty column and take no memory. Part of
// Cluster; asked by plugins that count per domain. World thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/views.h"

namespace berth {

// 0: the node does not have the key (or the row has no node).
using Domain = std::uint32_t;
inline constexpr Domain kNoDomain = 0;

// The domain of each row, of one key: a column with a number for every row, or a list of the rows
// that have the key.
class RowDomains {
 public:
  struct AtRow {
    NodeRow row;
    Domain domain;
  };

  RowDomains() = default;
  explicit RowDomains(std::span<const Domain> by_row) : by_row_(by_row) {}
  explicit RowDomains(std::span<const AtRow> few) : is_dense_(false), few_(few) {}

  bool is_dense() const { return is_dense_; }
  Domain operator[](NodeRow row) const { return row < by_row_.size() ? by_row_[row] : find(row); }

  // Calls `visit(row, domain)` for every row of the set, in ascending order. `visit` may erase the
  // row it is given.
  template <typename Visit>
  void for_each(const NodeSet& rows, Visit visit) const {
    if (is_dense_) {
      rows.for_each([&, by_row = by_row_](NodeRow row) { visit(row, by_row[row]); });
      return;
    }
    auto next = few_.begin();
    rows.for_each([&](NodeRow row) {
      while (next != few_.end() && next->row < row) ++next;
      visit(row, next != few_.end() && next->row == row ? next->domain : kNoDomain);
    });
  }
  // The same for the rows of the set that have the key. A dense column is visited whole: rows
  // without the key come with kNoDomain.
  template <typename Visit>
  void for_each_with_key(const NodeSet& rows, Visit visit) const {
    if (is_dense_) {
      for_each(rows, visit);
      return;
    }
    for (const auto [row, domain] : few_)
      if (rows.contains(row)) visit(row, domain);
  }
  // Erases the rows that do not have the key.
  void keep_with_key(NodeSet& rows) const;

 private:
  Domain find(NodeRow row) const;

  bool is_dense_ = true;
  std::span<const Domain> by_row_;  // if dense
  std::span<const AtRow> few_;      // else, by row
};

// The domains of one key by row, shared with the counters per domain. Counts stay valid while
// `version` is unchanged.
class DomainsByRow : public std::enable_shared_from_this<DomainsByRow> {
 public:
  std::uint64_t version = 0;

  RowDomains view() const { return is_dense_ ? RowDomains(by_row_) : RowDomains(few_); }
  // Sets the number of rows. Rows beyond it lose their domain.
  void resize(std::size_t rows);
  std::size_t rows() const { return rows_; }
  void set(NodeRow row, Domain domain);
  // Switches back to the sparse form if few nodes have the key.
  void make_sparse_if_few(std::size_t nodes_with_key);
  // Calls `visit(domain)` for the rows from `first` on that have the key.
  template <typename Visit>
  void for_each_from(std::size_t first, Visit visit) const {
    for (std::size_t row = first; row < by_row_.size(); ++row)
      if (by_row_[row] != kNoDomain) visit(by_row_[row]);
    for (const RowDomains::AtRow& at : few_)
      if (at.row >= first) visit(at.domain);
  }
  std::size_t bytes() const;

 private:
  void make_dense();

  bool is_dense_ = false;
  std::size_t rows_ = 0;
  std::vector<Domain> by_row_;          // if dense
  std::vector<RowDomains::AtRow> few_;  // else, by row
};

struct TopologyColumn {
  RowDomains domains;
  std::size_t size = 1;  // every domain is below this; some may be in use by no node
  // By domain: the value of the key. That of kNoDomain, and of one that is not in use, is empty.
  std::span<const Symbol> values;
  std::span<const std::uint32_t> nodes;  // by domain; of kNoDomain: 0
  std::size_t nodes_with_key = 0;
  bool unique = false;                   // no two nodes are in the same domain
  std::uint64_t id = 0;                  // another one when domains are numbered anew
  std::uint64_t version = 0;             // another one whenever a node's domain changes; never 0
  const DomainsByRow* source = nullptr;  // of domains; null when no node has the key
};

class TopologyDomains {
 public:
  explicit TopologyDomains(const NodeTable& nodes);
  ~TopologyDomains();
  TopologyDomains(const TopologyDomains&) = delete;
  TopologyDomains& operator=(const TopologyDomains&) = delete;

  // Valid until nodes change or the next cycle begins.
  TopologyColumn column(Symbol key);

  // Whether some node has this value of the key.
  bool any_node_has(Symbol key, Symbol value);

  // How many columns are kept.
  std::size_t size() const;

  // For Cluster: what has not been asked for in a while goes.
  void begin_cycle();

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace berth
