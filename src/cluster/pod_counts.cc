#include "cluster/pod_counts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.h"
#include "cluster/kept_answers.h"
#include "cluster/selector_hash.h"

namespace berth {
namespace {

constexpr std::uint8_t kCountChanges =
    static_cast<std::uint8_t>(RowChange::kPods) | static_cast<std::uint8_t>(RowChange::kMembership);

bool matches(const PodTerm& term, const PodMeta& meta, const Symbols& symbols) {
  return (term.all_namespaces || std::binary_search(term.namespaces.begin(), term.namespaces.end(),
                                                    meta.namespace_name)) &&
         term.selector.matches(meta.labels, symbols);
}

bool matches(const PodQuery& query, const PodMeta& meta, const Symbols& symbols) {
  return !query.terms.empty() &&
         std::all_of(query.terms.begin(), query.terms.end(),
                     [&](const PodTerm& term) { return matches(term, meta, symbols); });
}

// ---- queries as keys ----------------------------------------------------------------------------

std::size_t hash_of(const PodQuery& query) {
  KeyedHash hash;
  hash.add(query.terminating_count ? 1 : 2);
  for (const PodTerm& term : query.terms) {
    hash.add(term.all_namespaces ? 1 : 2);
    add_symbols(hash, term.namespaces);
    add_selector(hash, term.selector);
  }
  return hash.value();
}

SymbolHold hold_symbols(const PodQuery& query, const std::shared_ptr<Symbols>& symbols) {
  SymbolHold hold(symbols);
  for (const PodTerm& term : query.terms) {
    for (const Symbol name : term.namespaces) hold.retain(name);
    for (const Requirement& requirement : term.selector.requirements()) {
      hold.retain(requirement.key);
      for (const Symbol value : requirement.values) hold.retain(value);
    }
  }
  return hold;
}

// ---- answers ------------------------------------------------------------------------------------

// Whether a query matches pods of one PodMeta: sibling pods share it, so each PodMeta is matched
// once. Valid as long as no pod is removed, that is for one round of counting.
class MetaVerdicts {
 public:
  void begin(const PodQuery& query, const Symbols& symbols) {
    query_ = &query;
    symbols_ = &symbols;
    ++round_;
  }

  bool matches(const PodMeta& meta) {
    const auto address = reinterpret_cast<std::uintptr_t>(&meta);
    Verdict& verdict = verdicts_[(address >> 4 ^ address >> 12) % verdicts_.size()];
    if (verdict.meta != &meta || verdict.round != round_)
      verdict = {&meta, round_, berth::matches(*query_, meta, *symbols_)};
    return verdict.matches;
  }

 private:
  struct Verdict {
    const PodMeta* meta = nullptr;
    std::uint64_t round = 0;
    bool matches = false;
  };
  const PodQuery* query_ = nullptr;
  const Symbols* symbols_ = nullptr;
  std::uint64_t round_ = 0;
  std::array<Verdict, 256> verdicts_;
};

class Answer {
 public:
  Answer(const PodQuery& query, const NodeTable& nodes, MetaVerdicts& verdicts,
         std::uint64_t& last_id)
      : last_id_(last_id),
        id_(++last_id),
        query_(query),
        symbols_(hold_symbols(query, nodes.symbol_table())),
        nodes_(nodes),
        verdicts_(verdicts) {
    count_all();
  }

  const PodQuery& query() const { return query_; }
  PodCount count(bool is_kept) const { return {by_row_, rows_, id_, is_kept}; }
  bool has_domains_of(Symbol key) const { return sums_.has(key); }
  const DomainSums& by_domain(Symbol key, const TopologyColumn& column) {
    return sums_.of(key, column, last_id_, [this](auto visit) { for_each_counted(visit); });
  }
  // Without keeping them.
  DomainSums domain_sums(const TopologyColumn& column) const {
    DomainSums sums(++last_id_, false);
    sums.fill(column, [this](auto visit) { for_each_counted(visit); });
    return sums;
  }
  std::size_t bytes() const {
    return sizeof(*this) + by_row_.capacity() * sizeof(std::int32_t) + rows_.capacity() / 8 +
           symbols_.size() * 2 * sizeof(Symbol) + sums_.bytes();
  }

  void catch_up() {
    resize();
    if (position_ == nodes_.log_end()) return;
    const auto changes = nodes_.changes_since(position_);
    if (!changes || changes->size() > nodes_.rows()) {
      count_all();
      return;
    }
    verdicts_.begin(query_, *nodes_.symbol_table());
    bool counted = false;
    for (const ChangedRow& change : *changes) {
      if ((change.changes & kCountChanges) == 0) continue;
      count(change.row);
      counted = true;
    }
    BERTH_CHECK(!counted || !nodes_.on_trial());  // a trial's pods would have been counted
    position_ = nodes_.log_end();
  }

 private:
  template <typename Visit>
  void for_each_counted(Visit visit) const {
    rows_.for_each([&](NodeRow row) { visit(row, by_row_[row]); });
  }

  void resize() {
    if (by_row_.size() == nodes_.rows()) return;
    by_row_.resize(nodes_.rows());
    rows_.reserve_rows(nodes_.rows());
  }

  void count_all() {
    BERTH_CHECK(!nodes_.on_trial());
    resize();
    verdicts_.begin(query_, *nodes_.symbol_table());
    sums_.clear();
    rows_.clear();
    std::ranges::fill(by_row_, 0);
    for (NodeRow row = 0; row < by_row_.size(); ++row) count(row);
    position_ = nodes_.log_end();
  }

  void count(NodeRow row) {
    std::int32_t total = 0;
    if (nodes_.has_node(row)) {
      for (const Ref<const Pod>& pod : nodes_.pods(row))
        if (verdicts_.matches(pod->meta()) && (query_.terminating_count || !pod->terminating()))
          ++total;
    }
    sums_.change(row, total - by_row_[row]);
    by_row_[row] = total;
    if (total != 0)
      rows_.insert(row);
    else
      rows_.erase(row);
  }

  std::uint64_t& last_id_;
  std::uint64_t id_;
  PodQuery query_;
  SymbolHold symbols_;  // that the query is made of
  const NodeTable& nodes_;
  MetaVerdicts& verdicts_;
  std::uint64_t position_ = 0;
  std::vector<std::int32_t> by_row_;
  NodeSet rows_;
  DomainSumsByKey sums_;
};

}  // namespace

bool PodTerm::matches(const Pod& pod) const {
  return berth::matches(*this, pod.meta(), pod.symbols());
}

bool PodQuery::matches(const Pod& pod) const {
  return (terminating_count || !pod.terminating()) &&
         berth::matches(*this, pod.meta(), pod.symbols());
}

struct PodCounts::Kept {
  Kept(const NodeTable& table, std::size_t max_bytes) : nodes(table), answers(max_bytes) {}

  // The kept answer, or one in `unkept`.
  Answer& answer(const PodQuery& query);

  const NodeTable& nodes;
  MetaVerdicts verdicts;
  std::uint64_t last_id = 0;
  KeptAnswers<Answer> answers;
  std::unique_ptr<Answer> unkept;  // the last answer that there was no room for
  std::optional<DomainSums> unkept_sums;
};

PodCounts::PodCounts(const NodeTable& nodes, std::size_t max_bytes)
    : kept_(std::make_unique<Kept>(nodes, max_bytes)) {}
PodCounts::~PodCounts() = default;

Answer& PodCounts::Kept::answer(const PodQuery& query) {
  const std::size_t hash = hash_of(query);
  if (Answer* const found =
          answers.find(hash, [&](const Answer& known) { return known.query() == query; })) {
    found->catch_up();
    return *found;
  }
  auto made = std::make_unique<Answer>(query, nodes, verdicts, last_id);
  if (answers.has_room()) return answers.insert(hash, std::move(made));
  unkept = std::move(made);
  return *unkept;
}

PodCount PodCounts::count(const PodQuery& query) {
  const Answer& answer = kept_->answer(query);
  return answer.count(&answer != kept_->unkept.get());
}

const DomainSums& PodCounts::count(const PodQuery& query, Symbol key,
                                   const TopologyColumn& column) {
  Answer& answer = kept_->answer(query);
  const bool known = answer.has_domains_of(key);
  if (&answer == kept_->unkept.get() || (!known && !kept_->answers.has_room()))
    return kept_->unkept_sums.emplace(answer.domain_sums(column));
  const DomainSums& sums = answer.by_domain(key, column);
  if (!known) kept_->answers.grew(sums.bytes());
  return sums;
}

void PodCounts::begin_cycle() {
  kept_->answers.begin_cycle();
  kept_->unkept.reset();
  kept_->unkept_sums.reset();
}

std::size_t PodCounts::size() const { return kept_->answers.size(); }

}  // namespace berth
