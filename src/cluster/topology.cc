#include "cluster/topology.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "cluster/kept_answers.h"

namespace berth {
namespace {

constexpr std::size_t kMaxTopologyBytes = std::size_t{64} << 20;
constexpr std::uint8_t kTopologyChanges = static_cast<std::uint8_t>(RowChange::kLabels) |
                                          static_cast<std::uint8_t>(RowChange::kMembership);

// One key's column. Holds the key, and the values for as long as a node has them.
class KeyColumn {
 public:
  KeyColumn(Symbol key, const NodeTable& nodes, std::uint64_t& last_version)
      : key_(key), nodes_(nodes), symbols_(*nodes.symbol_table()), last_version_(last_version) {
    symbols_.retain(key_);
    read_all();
  }
  KeyColumn(const KeyColumn&) = delete;
  KeyColumn& operator=(const KeyColumn&) = delete;
  ~KeyColumn() {
    for (const Symbol value : values_) symbols_.release(value);
    symbols_.release(key_);
  }

  Symbol key() const { return key_; }
  TopologyColumn column() const {
    return {by_row_, values_.size(),  values_,
            users_,  nodes_with_key_, nodes_with_key_ == by_value_.size(),
            id_,     version_};
  }
  std::size_t bytes() const {
    return sizeof(*this) + by_row_.capacity() * sizeof(Domain) + values_.capacity() * 32;
  }

  void catch_up() {
    by_row_.resize(nodes_.rows(), kNoDomain);  // a ghost's new row is not in the log
    if (position_ == nodes_.log_end()) return;
    const auto changes = nodes_.changes_since(position_);
    if (!changes) {
      read_all();
      return;
    }
    for (const ChangedRow& change : *changes)
      if (change.changes & kTopologyChanges) read(change.row);
    position_ = nodes_.log_end();
  }

 private:
  void read_all() {
    by_row_.resize(nodes_.rows(), kNoDomain);
    for (NodeRow row = 0; row < by_row_.size(); ++row) read(row);
    position_ = nodes_.log_end();
  }

  void read(NodeRow row) {
    const Symbol* value = nodes_.has_node(row) ? nodes_.node(row).labels.find(key_) : nullptr;
    const Domain before = by_row_[row];
    if (value && before != kNoDomain && values_[before] == *value) return;
    if (!value && before == kNoDomain) return;
    by_row_[row] = value ? enter(*value) : kNoDomain;
    if (before != kNoDomain) leave(before);
    version_ = ++last_version_;
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
  std::uint64_t version_ = id_;
  std::size_t nodes_with_key_ = 0;
  std::uint64_t position_ = 0;
  std::vector<Domain> by_row_;
  std::vector<Symbol> values_{Symbol()};
  std::vector<std::uint32_t> users_{0};  // how many rows are in the domain
  std::vector<Domain> free_;
  boost::unordered_flat_map<Symbol, Domain, std::hash<Symbol>> by_value_;
};

}  // namespace

struct TopologyDomains::Kept {
  explicit Kept(const NodeTable& table) : nodes(table) {}

  const NodeTable& nodes;
  std::uint64_t last_version = 0;
  KeptAnswers<KeyColumn> columns{kMaxTopologyBytes};
};

TopologyDomains::TopologyDomains(const NodeTable& nodes) : kept_(std::make_unique<Kept>(nodes)) {}
TopologyDomains::~TopologyDomains() = default;

TopologyColumn TopologyDomains::column(Symbol key) {
  const std::size_t hash = std::hash<Symbol>()(key);
  KeyColumn* found =
      kept_->columns.find(hash, [key](const KeyColumn& column) { return column.key() == key; });
  if (!found)
    found = &kept_->columns.insert(
        hash, std::make_unique<KeyColumn>(key, kept_->nodes, kept_->last_version));
  else
    found->catch_up();
  return found->column();
}

void TopologyDomains::begin_cycle() { kept_->columns.begin_cycle(); }

}  // namespace berth
