#include "cluster/pod_counts.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "cluster/kept_answers.h"

namespace berth {
namespace {

constexpr std::size_t kMaxCountBytes = std::size_t{64} << 20;
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

class Hash {
 public:
  void add(std::size_t part) {
    value_ = (value_ ^ part) * 0x9e3779b97f4a7c15ULL;
    value_ ^= value_ >> 32;
  }
  void add(const std::vector<Symbol>& symbols) {
    add(symbols.size());
    for (const Symbol symbol : symbols) add(symbol.id);
  }
  std::size_t value() const { return value_; }

 private:
  std::size_t value_ = 0;
};

std::size_t hash_of(const PodQuery& query) {
  Hash hash;
  hash.add(query.terminating_count ? 1 : 2);
  for (const PodTerm& term : query.terms) {
    hash.add(term.all_namespaces ? 1 : 2);
    hash.add(term.namespaces);
    hash.add(term.selector.is_nothing() ? 1 : 2);
    for (const Requirement& requirement : term.selector.requirements()) {
      hash.add(requirement.key.id);
      hash.add(static_cast<std::size_t>(requirement.op));
      hash.add(requirement.values);
    }
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

// What a query says about pods of one namespace and labels: siblings share their PodMeta, so one
// look serves them all. Good for as long as no pod goes away, that is for one round of counting.
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
  PodCount count() const { return {by_row_, rows_, id_}; }
  const DomainSums& by_domain(Symbol key, const TopologyColumn& column) {
    return sums_.of(key, column, last_id_, [this](auto visit) {
      rows_.for_each([&](NodeRow row) { visit(row, by_row_[row]); });
    });
  }
  std::size_t bytes() const {
    return sizeof(*this) + by_row_.capacity() * sizeof(std::int32_t) + rows_.capacity() / 8 +
           symbols_.size() * 2 * sizeof(Symbol) + sums_.bytes();
  }

  void catch_up() {
    resize();  // a ghost's new row is not in the log
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
  explicit Kept(const NodeTable& table) : nodes(table) {}

  const NodeTable& nodes;
  MetaVerdicts verdicts;
  Answer& answer(const PodQuery& query);
  std::uint64_t last_id = 0;
  KeptAnswers<Answer> answers{kMaxCountBytes};
};

PodCounts::PodCounts(const NodeTable& nodes) : kept_(std::make_unique<Kept>(nodes)) {}
PodCounts::~PodCounts() = default;

Answer& PodCounts::Kept::answer(const PodQuery& query) {
  const std::size_t hash = hash_of(query);
  Answer* const found =
      answers.find(hash, [&](const Answer& known) { return known.query() == query; });
  if (!found)
    return answers.insert(hash, std::make_unique<Answer>(query, nodes, verdicts, last_id));
  found->catch_up();
  return *found;
}

PodCount PodCounts::count(const PodQuery& query) { return kept_->answer(query).count(); }

const DomainSums& PodCounts::count(const PodQuery& query, Symbol key,
                                   const TopologyColumn& column) {
  return kept_->answer(query).by_domain(key, column);
}

void PodCounts::begin_cycle() { kept_->answers.begin_cycle(); }

}  // namespace berth
