// Node selectors: what nodeSelector and node affinity say about a node (plugins.md §2.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/labels.h"

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

// One term that has been checked and can be asked. One that does not make sense never matches; why
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

// A list of terms, ORed, that has been checked and can be asked.
class NodeSelector {
 public:
  static NodeSelector compile(const std::vector<NodeSelectorTerm>& terms, const Symbols& symbols);

  // Whether some term matches.
  bool matches(const Node& node, const Symbols& symbols) const;
  // Like matches(), but if none does and some terms are broken, their errors.
  Result<bool> match_or_error(const Node& node, const Symbols& symbols) const;

  std::size_t size() const { return terms_.size(); }
  // Takes out the terms of which `dispensable` says that no node matches them.
  template <typename Dispensable>
  void drop_terms(Dispensable dispensable) {
    std::erase_if(terms_, dispensable);
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
  template <typename Dispensable>
  void drop_terms(Dispensable dispensable) {
    std::erase_if(terms_, [&](const Term& term) { return dispensable(term.term); });
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
  template <typename Dispensable>
  void drop_terms(Dispensable dispensable) {
    if (terms_) terms_->drop_terms(dispensable);
  }

 private:
  Selector selector_;
  std::optional<NodeSelector> terms_;
};

}  // namespace berth
