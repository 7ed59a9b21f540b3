// ScalarColumns: what nodes offer and what pods take of extended resources, hugepages and the like.
//
// A resource that many rows have to do with has two columns, one number per row. Of all others only
// the rows that have to do with it are kept, in order, so that names that no node offers cost no
// more than the objects that use them. A resource is dropped when neither a node nor a pod names
// it.
//
// Part of NodeTable::Columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "berth/resources.h"
#include "berth/views.h"

namespace berth {

class ScalarColumns {
 public:
  using AtRow = ScalarView::AtRow;
  using View = ScalarView;

  explicit ScalarColumns(std::shared_ptr<Symbols> symbols);
  ~ScalarColumns();
  ScalarColumns(const ScalarColumns&) = delete;
  ScalarColumns& operator=(const ScalarColumns&) = delete;

  // How many rows columns have. Rows that go have no number but 0.
  void resize(std::size_t rows);
  // The row's node offers other amounts.
  void offer(NodeRow row, std::span<const ScalarAmount> before,
             std::span<const ScalarAmount> after);
  // A pod takes its amounts from the row (sign 1) or gives them back (-1).
  void take(NodeRow row, std::span<const ScalarAmount> amounts, std::int64_t sign);

  // Valid until something changes.
  View view(Symbol name) const;
  // The same as columns, however few rows there are: for names that are asked for again and again.
  // All empty when no node or pod names the resource.
  View columns(Symbol name) const;

  std::size_t size() const;
  std::size_t bytes() const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

}  // namespace berth
