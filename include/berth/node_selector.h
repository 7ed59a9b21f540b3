// Matching of a pod with a single node: nodeSelector and node affinity (plugins.md §2.2), taints and
// tolerations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/labels.h"
#include "berth/result.h"
#include "berth/symbols.h"

namespace berth {

struct Node;

struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions;
  std::vector<SelectorRequirement> match_fields;

  bool empty() const { return match_expressions.empty() && match_fields.empty(); }
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;

  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

struct NodeAffinity {
  // Absent: no requirement. Present without a usable term: no node matches.
  std::optional<std::vector<NodeSelectorTerm>> required;
  std::vector<PreferredSchedulingTerm> preferred;

  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

// One compiled term. One that does not make sense never matches; why
// it does not is kept.
class CompiledNodeTerm {
 public:
  // `path` begins the errors' sentences.
  CompiledNodeTerm(const NodeSelectorTerm& written, const Symbols& symbols,
                   const std::string& path);

  bool matches(const Node& node, const Symbols& symbols) const;
  const std::vector<std::string>& errors() const { return errors_; }
  // What it says about labels; all of it must hold.
  const std::vector<Requirement>& labels() const { return labels_; }

 private:
  struct FieldRequirement {
    Symbol key;
    bool equal = true;
    Symbol value;
  };
  std::vector<Requirement> labels_;
  std::vector<FieldRequirement> fields_;
  std::vector<std::string> errors_;
};

// A compiled list of terms, ORed.
class NodeSelector {
 public:
  static NodeSelector compile(const std::vector<NodeSelectorTerm>& terms, const Symbols& symbols);

  // Whether some term matches.
  bool matches(const Node& node, const Symbols& symbols) const;
  // Like matches(), but if none does and some terms are broken, their errors.
  Result<bool> match_or_error(const Node& node, const Symbols& symbols) const;

  std::size_t size() const { return terms_.size(); }
  // Removes the terms for which `never_matches(term)` is true.
  template <typename Predicate>
  void drop_terms(Predicate never_matches) {
    std::erase_if(terms_, never_matches);
  }

 private:
  std::vector<CompiledNodeTerm> terms_;  // that make sense
  std::vector<std::string> errors_;      // of those that do not
};

// Preferred terms that have been checked: each adds its weight to the nodes that match it.
class NodePreferences {
 public:
  // One broken term makes the whole list an error.
  static Result<NodePreferences> compile(const std::vector<PreferredSchedulingTerm>& terms,
                                         const Symbols& symbols);

  bool empty() const { return terms_.empty(); }
  std::size_t size() const { return terms_.size(); }
  template <typename Predicate>
  void drop_terms(Predicate never_matches) {
    std::erase_if(terms_, [&](const Term& term) { return never_matches(term.term); });
  }
  std::int64_t score(const Node& node, const Symbols& symbols) const;

 private:
  struct Term {
    CompiledNodeTerm term;
    std::int32_t weight;
  };
  std::vector<Term> terms_;
};

// All that a pod demands of the labels and name of its node: nodeSelector and required affinity.
class RequiredNodeAffinity {
 public:
  RequiredNodeAffinity(const std::vector<Label>& node_selector, const NodeAffinity* affinity,
                       const Symbols& symbols);

  bool empty() const { return selector_.is_empty() && !terms_; }
  bool matches(const Node& node, const Symbols& symbols) const;
  Result<bool> match_or_error(const Node& node, const Symbols& symbols) const;

  std::size_t term_count() const { return terms_ ? terms_->size() : 0; }
  template <typename Predicate>
  void drop_terms(Predicate never_matches) {
    if (terms_) terms_->drop_terms(never_matches);
  }

 private:
  Selector selector_;
  std::optional<NodeSelector> terms_;
};

// ---- taints and tolerations (plugins.md §2.3) --------------------------------------------------

enum class TaintEffect : std::uint8_t {
  kAny,  // of a toleration that names none
  kNoSchedule,
  kPreferNoSchedule,
  kNoExecute,
  kUnknown,
};

struct Taint {
  Symbol key;
  Symbol value;
  TaintEffect effect = TaintEffect::kNoSchedule;

  // Whether the taint keeps pods away (or drives them off), rather than asking them to prefer
  // others.
  bool repels() const {
    return effect == TaintEffect::kNoSchedule || effect == TaintEffect::kNoExecute;
  }
  friend bool operator==(const Taint&, const Taint&) = default;
};

enum class TolerationOperator : std::uint8_t { kEqual, kExists, kLessThan, kGreaterThan, kUnknown };

struct Toleration {
  Symbol key;  // empty: any key
  Symbol value;
  TolerationOperator op = TolerationOperator::kEqual;
  TaintEffect effect = TaintEffect::kAny;
  std::optional<std::int64_t> toleration_seconds;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// Lt and Gt count only with the gate TaintTolerationComparisonOperators.
struct TolerationRules {
  const Symbols& symbols;
  bool comparison_operators = false;
};

bool tolerates(const Toleration& toleration, const Taint& taint, const TolerationRules& rules);
bool tolerates(std::span<const Toleration> tolerations, const Taint& taint,
               const TolerationRules& rules);

// The first taint that repels and is not tolerated; null if there is none.
const Taint* find_untolerated(std::span<const Taint> taints,
                              std::span<const Toleration> tolerations,
                              const TolerationRules& rules);

}  // namespace berth
