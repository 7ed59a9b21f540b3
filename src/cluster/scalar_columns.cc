#include "cluster/scalar_columns.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

#include "cluster/wrapping.h"

namespace berth {
namespace {

// Below this part of the rows they are listed.
constexpr std::size_t kRowsPerListed = 8;

class ScalarResource {
 public:
  using AtRow = ScalarColumns::AtRow;

  // Nodes and pods that name it; without any it goes.
  std::size_t users = 0;

  void resize(std::size_t rows) {
    if (!dense_) return;
    allocatable_.resize(rows);
    requested_.resize(rows);
    allocatable_.shrink_to_fit();
    requested_.shrink_to_fit();
  }

  void set_allocatable(NodeRow row, std::int64_t amount, std::size_t rows) {
    if (dense_)
      allocatable_[row] = amount;
    else
      edit(row, rows, [amount](AtRow& at) { at.allocatable = amount; });
  }

  void add_requested(NodeRow row, std::int64_t amount, std::size_t rows) {
    if (dense_)
      requested_[row] = wrapping_sum(requested_[row], amount);
    else
      edit(row, rows, [amount](AtRow& at) { at.requested = wrapping_sum(at.requested, amount); });
  }

  ScalarColumns::View view(std::size_t rows) const {
    if (!dense_) return {false, {}, {}, few_};
    return {true, std::span(allocatable_).first(rows), std::span(requested_).first(rows), {}};
  }
  void pin(std::size_t rows) {
    pinned_ = true;
    make_dense(rows);
  }

  void make_dense(std::size_t rows) {
    if (dense_) return;
    dense_ = true;
    allocatable_.resize(rows);
    requested_.resize(rows);
    for (const AtRow& at : few_) {
      allocatable_[at.row] = at.allocatable;
      requested_[at.row] = at.requested;
    }
    few_ = {};
  }

  // After most users have gone.
  void make_sparse_if_few(std::size_t rows) {
    if (!dense_ || pinned_ || users * kRowsPerListed * 4 >= rows) return;
    dense_ = false;
    for (NodeRow row = 0; row < allocatable_.size(); ++row)
      if (allocatable_[row] != 0 || requested_[row] != 0)
        few_.push_back({row, allocatable_[row], requested_[row]});
    allocatable_ = {};
    requested_ = {};
  }

  std::size_t bytes() const {
    return sizeof(*this) +
           (allocatable_.capacity() + requested_.capacity()) * sizeof(std::int64_t) +
           few_.capacity() * sizeof(AtRow);
  }

 private:
  template <typename Edit>
  void edit(NodeRow row, std::size_t rows, Edit change) {
    auto at = std::ranges::lower_bound(few_, row, {}, &AtRow::row);
    if (at == few_.end() || at->row != row) at = few_.insert(at, AtRow{row});
    change(*at);
    if (at->allocatable == 0 && at->requested == 0) few_.erase(at);
    if (few_.size() * kRowsPerListed > std::max<std::size_t>(rows, 64)) make_dense(rows);
  }

  bool dense_ = false;
  bool pinned_ = false;                                // dense until no node or pod names it
  std::vector<std::int64_t> allocatable_, requested_;  // by row, or empty
  std::vector<AtRow> few_;                             // by row, or empty
};

}  // namespace

struct ScalarColumns::Table {
  ScalarResource& named(Symbol name) {
    const auto [found, is_new] = resources.try_emplace(name);
    if (is_new) symbols->retain(name);
    ++found->second.users;
    return found->second;
  }
  void unnamed(Symbol name) {
    const auto found = resources.find(name);
    if (--found->second.users > 0) {
      found->second.make_sparse_if_few(capacity);
      return;
    }
    resources.erase(found);
    if (resources.empty()) resources = {};
    symbols->release(name);
  }

  std::shared_ptr<Symbols> symbols;
  std::size_t rows = 0;
  std::size_t capacity = 0;  // how long columns are: growing row by row would visit all each time
  boost::unordered_flat_map<Symbol, ScalarResource, std::hash<Symbol>> resources;
};

ScalarColumns::ScalarColumns(std::shared_ptr<Symbols> symbols)
    : table_(std::make_unique<Table>(Table{std::move(symbols), 0, 0, {}})) {}

ScalarColumns::~ScalarColumns() {
  for (const auto& [name, resource] : table_->resources) table_->symbols->release(name);
}

void ScalarColumns::resize(std::size_t rows) {
  table_->rows = rows;
  if (rows <= table_->capacity && rows * 4 >= table_->capacity) return;
  table_->capacity = rows + rows / 4 + 64;
  for (auto& [name, resource] : table_->resources) resource.resize(table_->capacity);
}

void ScalarColumns::offer(NodeRow row, std::span<const ScalarAmount> before,
                          std::span<const ScalarAmount> after) {
  for (const auto& [name, amount] : after)
    table_->named(name).set_allocatable(row, amount, table_->capacity);
  // Both are sorted by name; of a name that is in both only a user goes.
  auto next = after.begin();
  for (const auto& [name, amount] : before) {
    while (next != after.end() && next->name < name) ++next;
    if (next == after.end() || next->name != name)
      table_->resources.find(name)->second.set_allocatable(row, 0, table_->capacity);
    table_->unnamed(name);
  }
}

void ScalarColumns::take(NodeRow row, std::span<const ScalarAmount> amounts, std::int64_t sign) {
  for (const auto& [name, amount] : amounts) {
    if (sign > 0) {
      table_->named(name).add_requested(row, amount, table_->capacity);
      continue;
    }
    table_->resources.find(name)->second.add_requested(row, wrapping_product(amount, -1),
                                                       table_->capacity);
    table_->unnamed(name);
  }
}

ScalarColumns::View ScalarColumns::view(Symbol name) const {
  const auto found = table_->resources.find(name);
  return found == table_->resources.end() ? View{} : found->second.view(table_->rows);
}

ScalarColumns::View ScalarColumns::columns(Symbol name) const {
  const auto found = table_->resources.find(name);
  if (found == table_->resources.end()) return {};
  found->second.pin(table_->capacity);
  return found->second.view(table_->rows);
}

std::size_t ScalarColumns::size() const { return table_->resources.size(); }

std::size_t ScalarColumns::bytes() const {
  std::size_t total = table_->resources.bucket_count() * sizeof(Symbol);
  for (const auto& [name, resource] : table_->resources) total += resource.bytes();
  return total;
}

}  // namespace berth
