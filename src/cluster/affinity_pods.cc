#include "cluster/affinity_pods.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/hash_pointers.h"
#include "cluster/selector_hash.h"

namespace berth {
namespace {

using Role = AffinityPods::Role;
using KindNumber = std::uint32_t;

// How many pods of a kind a row has.
struct Place {
  NodeRow row;
  std::int32_t pods;
};

constexpr std::uint8_t kWhoIsWhere =
    static_cast<std::uint8_t>(RowChange::kPods) | static_cast<std::uint8_t>(RowChange::kMembership);

bool has_stanza(const PodSpec& spec) {
  return spec.affinity && (spec.affinity->pod || spec.affinity->pod_anti);
}

// Kinds that have a term in common share it.
using TermNumber = std::uint32_t;

struct LabelHash {
  using is_avalanching = void;
  std::size_t operator()(const Label& label) const noexcept {
    KeyedHash hash;
    hash.add(std::uint64_t{label.key.id} << 32 | label.value.id);
    return hash.value();
  }
};

// Terms by a label that a pod must have to match. A term whose selector names no such label is
// among the common ones.
class TermIndex {
 public:
  // Which requirement of its selector a term stands under.
  using Under = std::size_t;
  static constexpr Under kCommon = ~Under{0};

  Under insert(const Selector& selector, TermNumber at) {
    const Under under = choose(selector);
    for_each_list(selector, under, [&](Terms& list) { list.insert(at); });
    return under;
  }

  void erase(const Selector& selector, Under under, TermNumber at) {
    for_each_list(selector, under, [&](Terms& list) { list.erase(at); });
    if (under == kCommon) return;
    const Requirement& requirement = selector.requirements()[under];
    for (const Symbol value : requirement.values) {
      const auto found = lists_.find(Label{requirement.key, value});
      if (found != lists_.end() && found->second.empty()) lists_.erase(found);
    }
  }

  // Each term that the labels do not rule out, once: a pod has one value of a key.
  template <typename Visit>
  void for_each_candidate(const LabelSet& labels, Visit visit) const {
    for (const TermNumber at : common_) visit(at);
    if (lists_.empty()) return;
    for (const Label& label : labels) {
      const auto found = lists_.find(label);
      if (found == lists_.end()) continue;
      for (const TermNumber at : found->second) visit(at);
    }
  }

  void clear() {
    lists_.clear();
    common_.clear();
  }

 private:
  // A pod may have thousands of terms in one list, all of which are removed with it.
  using Terms = boost::unordered_flat_set<TermNumber>;

  // The requirement under which the fewest other terms are, so that a label that all pods have does
  // not collect all terms.
  Under choose(const Selector& selector) const {
    Under best = kCommon;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < selector.requirements().size(); ++i) {
      const Requirement& requirement = selector.requirements()[i];
      if (requirement.op != SelectorOperator::kIn) continue;
      std::size_t others = requirement.values.size();
      for (const Symbol value : requirement.values) {
        const auto found = lists_.find(Label{requirement.key, value});
        if (found != lists_.end()) others += found->second.size();
      }
      if (others >= fewest) continue;
      fewest = others;
      best = i;
    }
    return best;
  }

  template <typename Visit>
  void for_each_list(const Selector& selector, Under under, Visit visit) {
    if (under == kCommon) return visit(common_);
    const Requirement& requirement = selector.requirements()[under];
    for (const Symbol value : requirement.values) visit(lists_[Label{requirement.key, value}]);
  }

  boost::unordered_flat_map<Label, Terms, LabelHash> lists_;
  Terms common_;
};

// Sums are kept for terms whose pods are in more places than this, and only where that is not a
// small part of the domains: what they take follows from how many pods there are.
constexpr std::size_t kFewPlaces = 32;
constexpr std::size_t kDomainsPerPlace = 16;

struct SharedTerm {
  AffinityTerm term;
  Role role;
  std::uint64_t id;
  TermIndex::Under under = TermIndex::kCommon;
  std::vector<KindNumber> kinds;  // those that have it, as often as they have it
  std::size_t places = 0;         // of these kinds
  DomainSumsByKey sums;
};

// By every part: a pod may have thousands of terms that differ in one only.
std::size_t hash_of(const AffinityTerm& term, Role role) {
  KeyedHash hash;
  hash.add(std::uint64_t{term.topology_key.id} << 8 | static_cast<std::uint64_t>(role));
  hash.add(static_cast<std::uint64_t>(term.weight));
  add_symbols(hash, term.namespaces);
  add_selector(hash, term.selector);
  add_selector(hash, term.namespace_selector);
  return hash.value();
}

struct KindName {
  Symbol namespace_name;
  const PodSpec* spec;

  friend bool operator==(const KindName&, const KindName&) = default;
};

struct KindNameHash {
  std::size_t operator()(const KindName& name) const noexcept {
    return hash_pointers({name.spec}) ^ std::hash<Symbol>{}(name.namespace_name);
  }
};

struct Kind {
  explicit Kind(const Pod& pod) : spec(pod.spec_ref()), meta(pod.meta_ref()), terms(pod) {}

  KindName name() const { return {meta->namespace_name, spec.get()}; }
  const std::vector<AffinityTerm>& list(Role role) const {
    switch (role) {
      case Role::kRequired: return terms.required;
      case Role::kRequiredAnti: return terms.required_anti;
      case Role::kPreferred: return terms.preferred;
      case Role::kPreferredAnti: break;
    }
    return terms.preferred_anti;
  }

  Ref<const PodSpec> spec;  // keeps the symbols of the terms, and its address from being reused
  Ref<const PodMeta> meta;  // of one such pod; keeps the namespace
  AffinityTerms terms;
  std::vector<TermNumber> shared;  // the terms, as others may have them too
  std::vector<Place> places;
  std::int32_t counted = 0;  // while a row is being counted: pods of this kind there
};

// What a row contributed: a kind, and the place among that kind's.
struct RowKind {
  KindNumber kind;
  std::uint32_t place;
};

struct CountedRow {
  std::vector<RowKind> kinds;
  std::uint64_t generation = 0;
};

}  // namespace

struct AffinityPods::Kept {
  explicit Kept(const NodeTable& table) : nodes(table) {}

  void refresh();
  void rebuild();
  void recount(NodeRow row);
  KindNumber kind_of(const Pod& pod);
  void add_place(KindNumber kind, NodeRow row, std::int32_t pods);
  void remove_place(KindNumber kind, std::uint32_t place);
  void drop(KindNumber kind);
  TermNumber share(const AffinityTerm& term, Role role, KindNumber kind);
  void unshare(TermNumber number, KindNumber kind);
  void count(KindNumber kind, NodeRow row, std::int32_t more) {
    for (const TermNumber term : kinds[kind]->shared) terms[term]->sums.change(row, more);
  }
  template <typename Visit>
  void visit_places(const SharedTerm& shared, Visit visit) const {
    for (const KindNumber kind : shared.kinds)
      for (const Place& place : kinds[kind]->places) visit(place.row, place.pods);
  }
  TermIndex& index(Role role) { return role == Role::kRequiredAnti ? anti : others; }
  std::vector<Match> matching(const TermIndex& among, const Pod& incoming,
                              const LabelSet& namespace_labels) const;
  template <typename Visit>
  static void for_each_term(const Kind& kind, Visit visit);

  const NodeTable& nodes;
  std::uint64_t position = 0;  // in the log; nothing is older than that
  bool built = false;
  std::vector<CountedRow> rows;
  std::vector<std::unique_ptr<Kind>> kinds;  // by number; null: the number is free
  std::vector<KindNumber> unused;
  std::vector<std::unique_ptr<SharedTerm>> terms;  // by number; null: the number is free
  std::vector<TermNumber> unused_terms;
  boost::unordered_flat_map<std::size_t, std::vector<TermNumber>> terms_by_hash;
  std::uint64_t last_id = 0;
  boost::unordered_flat_map<KindName, KindNumber, KindNameHash> by_name;
  TermIndex anti;
  TermIndex others;
  std::vector<KindNumber> counted;  // scratch of recount()
};

template <typename Visit>
void AffinityPods::Kept::for_each_term(const Kind& kind, Visit visit) {
  for (const Role role :
       {Role::kRequired, Role::kRequiredAnti, Role::kPreferred, Role::kPreferredAnti}) {
    const std::vector<AffinityTerm>& list = kind.list(role);
    for (std::size_t i = 0; i < list.size(); ++i)
      // Nothing can match such a term, so it need not be found.
      if (!list[i].selector.is_nothing()) visit(list[i], role);
  }
}

// ---- following the cluster ----------------------------------------------------------------------

void AffinityPods::Kept::refresh() {
  const std::uint64_t end = nodes.log_end();
  if (built && position == end) return;
  const auto changes = nodes.changes_since(position);
  const bool rebuilding = !built || !changes;
  const auto matters = [](const ChangedRow& change) { return (change.changes & kWhoIsWhere) != 0; };
  if (!rebuilding && std::ranges::none_of(*changes, matters)) {
    position = end;
    return;
  }
  // The rows show the trial's pods now, and which rows is not known here.
  BERTH_CHECK(!nodes.on_trial());
  if (rebuilding) {
    rebuild();
  } else {
    for (const ChangedRow& change : *changes)
      if (matters(change)) recount(change.row);
  }
  position = end;
}

void AffinityPods::Kept::rebuild() {
  rows.clear();
  kinds.clear();
  unused.clear();
  terms.clear();
  unused_terms.clear();
  terms_by_hash.clear();
  by_name.clear();
  anti.clear();
  others.clear();
  nodes.with_affinity_pods().for_each([this](NodeRow row) { recount(row); });
  built = true;
}

void AffinityPods::Kept::recount(NodeRow row) {
  if (row >= rows.size()) rows.resize(std::max<std::size_t>(nodes.rows(), row + std::size_t{1}));
  // A row that changed often is in the log as often.
  if (rows[row].generation == nodes.generation(row)) return;
  rows[row].generation = nodes.generation(row);

  counted.clear();
  if (nodes.with_affinity_pods().contains(row)) {
    for (const Ref<const Pod>& pod : nodes.pods(row)) {
      if (!has_stanza(pod->spec())) continue;
      const KindNumber kind = kind_of(*pod);
      if (kinds[kind]->counted++ == 0) counted.push_back(kind);
    }
  }
  std::vector<RowKind>& here = rows[row].kinds;
  for (std::size_t i = 0; i < here.size();) {
    Kind& kind = *kinds[here[i].kind];
    if (kind.counted > 0) {
      Place& place = kind.places[here[i].place];
      count(here[i].kind, row, kind.counted - place.pods);
      place.pods = std::exchange(kind.counted, 0);
      ++i;
      continue;
    }
    const RowKind gone = here[i];
    here[i] = here.back();
    here.pop_back();
    remove_place(gone.kind, gone.place);
  }
  for (const KindNumber kind : counted)
    if (const std::int32_t pods = std::exchange(kinds[kind]->counted, 0); pods > 0)
      add_place(kind, row, pods);
}

KindNumber AffinityPods::Kept::kind_of(const Pod& pod) {
  const auto [entry, is_new] =
      by_name.try_emplace(KindName{pod.meta().namespace_name, &pod.spec()}, KindNumber{0});
  if (!is_new) return entry->second;
  KindNumber number = static_cast<KindNumber>(kinds.size());
  if (unused.empty()) {
    kinds.emplace_back();
  } else {
    number = unused.back();
    unused.pop_back();
  }
  entry->second = number;
  kinds[number] = std::make_unique<Kind>(pod);
  Kind& kind = *kinds[number];
  for_each_term(kind, [&](const AffinityTerm& term, Role role) {
    kind.shared.push_back(share(term, role, number));
  });
  return number;
}

TermNumber AffinityPods::Kept::share(const AffinityTerm& term, Role role, KindNumber kind) {
  std::vector<TermNumber>& alike = terms_by_hash[hash_of(term, role)];
  for (const TermNumber number : alike)
    if (SharedTerm& known = *terms[number]; known.role == role && known.term == term) {
      known.kinds.push_back(kind);
      return number;
    }
  TermNumber number = static_cast<TermNumber>(terms.size());
  if (unused_terms.empty()) {
    terms.emplace_back();
  } else {
    number = unused_terms.back();
    unused_terms.pop_back();
  }
  terms[number] =
      std::make_unique<SharedTerm>(SharedTerm{term, role, ++last_id, {}, {kind}, 0, {}});
  terms[number]->under = index(role).insert(term.selector, number);
  alike.push_back(number);
  return number;
}

void AffinityPods::Kept::unshare(TermNumber number, KindNumber kind) {
  SharedTerm& shared = *terms[number];
  const auto user = std::ranges::find(shared.kinds, kind);
  *user = shared.kinds.back();
  shared.kinds.pop_back();
  if (!shared.kinds.empty()) return;
  index(shared.role).erase(shared.term.selector, shared.under, number);
  const auto alike = terms_by_hash.find(hash_of(shared.term, shared.role));
  std::erase(alike->second, number);
  if (alike->second.empty()) terms_by_hash.erase(alike);
  terms[number].reset();
  unused_terms.push_back(number);
}

void AffinityPods::Kept::add_place(KindNumber kind, NodeRow row, std::int32_t pods) {
  std::vector<Place>& places = kinds[kind]->places;
  rows[row].kinds.push_back({kind, static_cast<std::uint32_t>(places.size())});
  places.push_back({row, pods});
  for (const TermNumber term : kinds[kind]->shared) ++terms[term]->places;
  count(kind, row, pods);
}

void AffinityPods::Kept::remove_place(KindNumber kind, std::uint32_t place) {
  std::vector<Place>& places = kinds[kind]->places;
  count(kind, places[place].row, -places[place].pods);
  for (const TermNumber term : kinds[kind]->shared) --terms[term]->places;
  const std::uint32_t last = static_cast<std::uint32_t>(places.size() - 1);
  if (place != last) {
    places[place] = places[last];
    for (RowKind& other : rows[places[place].row].kinds)
      if (other.kind == kind) other.place = place;
  }
  places.pop_back();
  if (places.empty()) drop(kind);
}

void AffinityPods::Kept::drop(KindNumber number) {
  Kind& kind = *kinds[number];
  for (const TermNumber term : kind.shared) unshare(term, number);
  by_name.erase(kind.name());
  kinds[number].reset();
  unused.push_back(number);
}

// ---- answering ----------------------------------------------------------------------------------

std::vector<AffinityPods::Match> AffinityPods::Kept::matching(
    const TermIndex& among, const Pod& incoming, const LabelSet& namespace_labels) const {
  std::vector<Match> matches;
  among.for_each_candidate(incoming.labels(), [&](const TermNumber at) {
    const SharedTerm& shared = *terms[at];
    if (shared.term.matches(incoming, namespace_labels))
      matches.push_back({shared.term, shared.role, at, shared.id});
  });
  return matches;
}

AffinityPods::AffinityPods(const NodeTable& nodes) : kept_(std::make_unique<Kept>(nodes)) {}
AffinityPods::~AffinityPods() = default;

std::vector<AffinityPods::Match> AffinityPods::required_anti_affinity(
    const Pod& incoming, const LabelSet& namespace_labels) {
  kept_->refresh();
  return kept_->matching(kept_->anti, incoming, namespace_labels);
}

std::vector<AffinityPods::Match> AffinityPods::other_terms(const Pod& incoming,
                                                           const LabelSet& namespace_labels) {
  kept_->refresh();
  return kept_->matching(kept_->others, incoming, namespace_labels);
}

const DomainSums* AffinityPods::by_domain(const Match& match, const TopologyColumn& column) {
  SharedTerm& shared = *kept_->terms[match.number];
  if (shared.places <= kFewPlaces || shared.places * kDomainsPerPlace < column.size) {
    shared.sums.clear();
    return nullptr;
  }
  return &shared.sums.of(match.term.topology_key, column, kept_->last_id,
                         [&](auto visit) { kept_->visit_places(shared, visit); });
}

void AffinityPods::for_each_place(const Match& match,
                                  const std::function<void(NodeRow, std::int64_t)>& visit) const {
  kept_->visit_places(*kept_->terms[match.number], visit);
}

bool AffinityPods::may_be_at_key(const Match& match) const {
  const SharedTerm& shared = *kept_->terms[match.number];
  if (shared.places > kFewPlaces) return true;
  bool any = false;
  kept_->visit_places(shared, [&](NodeRow row, std::int64_t) {
    any |= kept_->nodes.has_node(row) &&
           kept_->nodes.node(row).labels.contains(match.term.topology_key);
  });
  return any;
}

std::size_t AffinityPods::sum_bytes() const {
  std::size_t total = 0;
  for (const std::unique_ptr<SharedTerm>& shared : kept_->terms)
    if (shared) total += shared->sums.bytes();
  return total;
}

const AffinityTerms* AffinityPods::known_terms(const Pod& pod) const {
  const auto found = kept_->by_name.find(KindName{pod.meta().namespace_name, &pod.spec()});
  return found == kept_->by_name.end() ? nullptr : &kept_->kinds[found->second]->terms;
}

std::size_t AffinityPods::kinds() {
  kept_->refresh();
  return kept_->by_name.size();
}

}  // namespace berth
