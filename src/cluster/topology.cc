#include "berth/topology.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "cluster/kept_answers.h"

namespace berth {
namespace {

constexpr std::size_t kMaxTopologyBytes = std::size_t{64} << 20;
// A key that at most one row in so many has is kept as a list of these rows.
constexpr std::size_t kRowsPerNodeWithKey = 8;
constexpr std::uint8_t kTopologyChanges = static_cast<std::uint8_t>(RowChange::kLabels) |
                                          static_cast<std::uint8_t>(RowChange::kMembership);

// One key's column. Holds the key, and the values for as long as a node has them.
class KeyColumn {
 public:
  KeyColumn(Symbol key, const NodeTable& nodes, std::uint64_t& last_version)
      : key_(key), nodes_(nodes), symbols_(*nodes.symbol_table()), last_version_(last_version) {
    symbols_.retain(key_);
    domains_->version = id_;
    const NodeRow only_row = nodes.only_row_with_label(key);
    if (only_row == kNoRow) {
      read_all();
      return;
    }
    // An object may name thousands of keys that one node has: only that one is looked at.
    domains_->resize(nodes_.rows());
    read(only_row);
    position_ = nodes_.log_end();
  }
  KeyColumn(const KeyColumn&) = delete;
  KeyColumn& operator=(const KeyColumn&) = delete;
  ~KeyColumn() {
    for (const Symbol value : values_) symbols_.release(value);
    symbols_.release(key_);
  }

  Symbol key() const { return key_; }
  TopologyColumn column() const {
    return {domains_->view(),
            values_.size(),
            values_,
            users_,
            nodes_with_key_,
            nodes_with_key_ == by_value_.size(),
            id_,
            domains_->version,
            domains_.get()};
  }
  bool has_value(Symbol value) const { return by_value_.contains(value); }
  std::size_t bytes() const { return sizeof(*this) + domains_->bytes() + values_.capacity() * 32; }

  void catch_up() {
    if (domains_->rows() < nodes_.rows()) domains_->resize(nodes_.rows());
    if (position_ == nodes_.log_end()) return;
    const auto changes = nodes_.changes_since(position_);
    if (!changes) {
      read_all();
      return;
    }
    const std::size_t before = nodes_with_key_;
    for (const ChangedRow& change : *changes)
      if (change.changes & kTopologyChanges) read(change.row);
    if (nodes_with_key_ < before) domains_->make_sparse_if_few(nodes_with_key_);
    position_ = nodes_.log_end();
  }

 private:
  void read_all() {
    // Rows that the table has given back have no node.
    domains_->for_each_from(nodes_.rows(), [this](Domain domain) { leave(domain); });
    domains_->version = ++last_version_;
    domains_->resize(nodes_.rows());
    for (NodeRow row = 0; row < nodes_.rows(); ++row) read(row);
    domains_->make_sparse_if_few(nodes_with_key_);
    position_ = nodes_.log_end();
  }

  void read(NodeRow row) {
    const Symbol* value = nodes_.has_node(row) ? nodes_.node(row).labels.find(key_) : nullptr;
    const Domain before = domains_->view()[row];
    if (value && before != kNoDomain && values_[before] == *value) return;
    if (!value && before == kNoDomain) return;
    domains_->set(row, value ? enter(*value) : kNoDomain);
    if (before != kNoDomain) leave(before);
    domains_->version = ++last_version_;
  }

  Domain enter(Symbol value) {
    const auto [found, is_new] = by_value_.try_emplace(value, kNoDomain);
    if (is_new) {
      symbols_.retain(value);
      if (free_.empty()) {
        found->second = static_cast<Domain>(values_.size());
        values_.emplace_back();
        users_.push_back(0);
      } else {
        found->second = free_.back();
        free_.pop_back();
      }
      values_[found->second] = value;
    }
    ++users_[found->second];
    ++nodes_with_key_;
    return found->second;
  }

  void leave(Domain domain) {
    --nodes_with_key_;
    if (--users_[domain] != 0) return;
    const Symbol value = std::exchange(values_[domain], Symbol());
    by_value_.erase(value);
    free_.push_back(domain);
    symbols_.release(value);
  }

  Symbol key_;
  const NodeTable& nodes_;
  Symbols& symbols_;
  std::uint64_t& last_version_;  // of any column
  const std::uint64_t id_ = ++last_version_;
  std::size_t nodes_with_key_ = 0;
  std::uint64_t position_ = 0;
  std::shared_ptr<DomainsByRow> domains_ = std::make_shared<DomainsByRow>();
  std::vector<Symbol> values_{Symbol()};
  std::vector<std::uint32_t> users_{0};  // how many rows are in the domain
  std::vector<Domain> free_;
  boost::unordered_flat_map<Symbol, Domain, std::hash<Symbol>> by_value_;
};

}  // namespace

// ---- RowDomains ---------------------------------------------------------------------------------

Domain RowDomains::find(NodeRow row) const {
  const auto found = std::ranges::lower_bound(few_, row, {}, &AtRow::row);
  return found != few_.end() && found->row == row ? found->domain : kNoDomain;
}

void RowDomains::keep_with_key(NodeSet& rows) const {
  constexpr std::size_t kRowsPerWord = 64;
  auto next = few_.begin();
  rows.for_each_word([&](std::size_t word, std::uint64_t) {
    const std::size_t first = word * kRowsPerWord;
    const std::size_t last = std::min(first + kRowsPerWord, by_row_.size());
    std::uint64_t has = 0;
    for (std::size_t row = first; row < last; ++row)
      has |= std::uint64_t{by_row_[row] != kNoDomain} << (row - first);
    for (; next != few_.end() && next->row < first + kRowsPerWord; ++next)
      if (next->row >= first) has |= std::uint64_t{1} << (next->row - first);
    rows.keep(word, has);
  });
}

// ---- DomainsByRow -------------------------------------------------------------------------------

void DomainsByRow::resize(std::size_t rows) {
  rows_ = rows;
  if (is_dense_) by_row_.resize(rows, kNoDomain);
  while (!few_.empty() && few_.back().row >= rows) few_.pop_back();
}

void DomainsByRow::set(NodeRow row, Domain domain) {
  if (is_dense_) {
    by_row_[row] = domain;
    return;
  }
  const auto at = std::ranges::lower_bound(few_, row, {}, &RowDomains::AtRow::row);
  const bool is_listed = at != few_.end() && at->row == row;
  if (domain == kNoDomain) {
    if (is_listed) few_.erase(at);
  } else if (is_listed) {
    at->domain = domain;
  } else {
    few_.insert(at, {row, domain});
    if (few_.size() * kRowsPerNodeWithKey > rows_) make_dense();
  }
}

void DomainsByRow::make_dense() {
  is_dense_ = true;
  by_row_.resize(rows_, kNoDomain);
  for (const auto [row, domain] : few_) by_row_[row] = domain;
  few_ = {};
}

void DomainsByRow::make_sparse_if_few(std::size_t nodes_with_key) {
  if (!is_dense_ || nodes_with_key * kRowsPerNodeWithKey * 2 >= rows_) return;
  is_dense_ = false;
  few_.reserve(nodes_with_key);
  for (NodeRow row = 0; row < by_row_.size(); ++row)
    if (by_row_[row] != kNoDomain) few_.push_back({row, by_row_[row]});
  by_row_ = {};
}

std::size_t DomainsByRow::bytes() const {
  return sizeof(*this) + by_row_.capacity() * sizeof(Domain) +
         few_.capacity() * sizeof(RowDomains::AtRow);
}

// ---- TopologyDomains ----------------------------------------------------------------------------

struct TopologyDomains::Kept {
  explicit Kept(const NodeTable& table) : nodes(table) {}

  KeyColumn& column(Symbol key) {
    const std::size_t hash = std::hash<Symbol>()(key);
    if (KeyColumn* const found =
            columns.find(hash, [key](const KeyColumn& column) { return column.key() == key; })) {
      found->catch_up();
      return *found;
    }
    return columns.insert(hash, std::make_unique<KeyColumn>(key, nodes, last_version));
  }

  // The column of every key that no node has.
  TopologyColumn nowhere() {
    no_domains.resize(nodes.rows(), kNoDomain);
    return {RowDomains(no_domains), 1, kNoValues, kNoNodes, 0, true, kNowhere, kNowhere, nullptr};
  }

  static constexpr std::uint64_t kNowhere = 1;  // its version, and no other column's
  static constexpr Symbol kNoValues[1] = {};
  static constexpr std::uint32_t kNoNodes[1] = {};

  const NodeTable& nodes;
  std::uint64_t last_version = kNowhere;
  std::vector<Domain> no_domains;
  KeptAnswers<KeyColumn> columns{kMaxTopologyBytes};
};

TopologyDomains::TopologyDomains(const NodeTable& nodes) : kept_(std::make_unique<Kept>(nodes)) {}
TopologyDomains::~TopologyDomains() = default;

TopologyColumn TopologyDomains::column(Symbol key) {
  return kept_->nodes.any_node_has_label(key) ? kept_->column(key).column() : kept_->nowhere();
}

bool TopologyDomains::any_node_has(Symbol key, Symbol value) {
  return kept_->nodes.any_node_has_label(key) && kept_->column(key).has_value(value);
}

std::size_t TopologyDomains::size() const { return kept_->columns.size(); }

void TopologyDomains::begin_cycle() { kept_->columns.begin_cycle(); }

}  // namespace berth
