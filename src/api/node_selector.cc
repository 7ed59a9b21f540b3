#include "berth/node_selector.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "base/go_quote.h"
#include "berth/node.h"

namespace berth {

// ---- terms ------------------------------------------------------------------------------------

CompiledNodeTerm::CompiledNodeTerm(const NodeSelectorTerm& written, const Symbols& symbols,
                                   const std::string& path) {
  for (std::size_t i = 0; i < written.match_expressions.size(); ++i) {
    const SelectorRequirement& expression = written.match_expressions[i];
    const std::string place = fmt::format("{}.matchExpressions[{}]", path, i);
    Requirement requirement;
    const std::vector<std::string> errors =
        check_requirement(expression, symbols, place, requirement);
    errors_.insert(errors_.end(), errors.begin(), errors.end());
    labels_.push_back(std::move(requirement));
  }
  for (std::size_t i = 0; i < written.match_fields.size(); ++i) {
    const SelectorRequirement& field = written.match_fields[i];
    const std::string place = fmt::format("{}.matchFields[{}]", path, i);
    if (field.op != SelectorOperator::kIn && field.op != SelectorOperator::kNotIn)
      errors_.push_back(
          fmt::format("{}.operator: Unsupported value: {}: supported values: \"In\", \"NotIn\"",
                      place, go_quoted(operator_text(field, symbols))));
    else if (field.values.size() != 1)
      errors_.push_back(fmt::format("{}.values: Invalid value: {}: must have one element", place,
                                    quoted_list(field.values, symbols)));
    else
      fields_.push_back({field.key, field.op == SelectorOperator::kIn, field.values.front()});
  }
}

bool CompiledNodeTerm::matches(const Node& node, const Symbols& symbols) const {
  if (!errors_.empty()) return false;
  for (const Requirement& requirement : labels_)
    if (!requirement.matches(node.labels, symbols)) return false;
  // Parity: a node without a name has no fields, and is not asked for any.
  if (node.symbol.empty()) return true;
  return std::ranges::all_of(fields_, [&](const FieldRequirement& field) {
    // Parity: the name is the only field there is; all others read as empty.
    const Symbol actual = field.key == names::kMetadataName ? node.symbol : Symbol{};
    return (actual == field.value) == field.equal;
  });
}

// ---- lists of terms ---------------------------------------------------------------------------

NodeSelector NodeSelector::compile(const std::vector<NodeSelectorTerm>& terms,
                                   const Symbols& symbols) {
  NodeSelector selector;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].empty()) continue;
    CompiledNodeTerm term(terms[i], symbols, fmt::format("nodeSelectorTerms[{}]", i));
    // One that does not make sense matches nothing, and is not to be asked about every node.
    if (term.errors().empty())
      selector.terms_.push_back(std::move(term));
    else
      selector.errors_.insert(selector.errors_.end(), term.errors().begin(), term.errors().end());
  }
  return selector;
}

bool NodeSelector::matches(const Node& node, const Symbols& symbols) const {
  return std::ranges::any_of(
      terms_, [&](const CompiledNodeTerm& term) { return term.matches(node, symbols); });
}

Result<bool> NodeSelector::match_or_error(const Node& node, const Symbols& symbols) const {
  if (matches(node, symbols)) return true;
  if (!errors_.empty()) return fail(aggregate(errors_));
  return false;
}

Result<NodePreferences> NodePreferences::compile(const std::vector<PreferredSchedulingTerm>& terms,
                                                 const Symbols& symbols) {
  NodePreferences preferences;
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].weight == 0 || terms[i].preference.empty()) continue;
    CompiledNodeTerm term(terms[i].preference, symbols, fmt::format("[{}]", i));
    errors.insert(errors.end(), term.errors().begin(), term.errors().end());
    preferences.terms_.push_back({std::move(term), terms[i].weight});
  }
  if (!errors.empty()) return fail(aggregate(errors));
  return preferences;
}

std::int64_t NodePreferences::score(const Node& node, const Symbols& symbols) const {
  std::int64_t score = 0;
  for (const Term& term : terms_)
    if (term.term.matches(node, symbols)) score += term.weight;
  return score;
}

// ---- what a pod demands -----------------------------------------------------------------------

RequiredNodeAffinity::RequiredNodeAffinity(const std::vector<Label>& node_selector,
                                           const NodeAffinity* affinity, const Symbols& symbols)
    : selector_(Selector::of_set(node_selector)) {
  if (affinity && affinity->required) terms_ = NodeSelector::compile(*affinity->required, symbols);
}

bool RequiredNodeAffinity::matches(const Node& node, const Symbols& symbols) const {
  return selector_.matches(node.labels, symbols) && (!terms_ || terms_->matches(node, symbols));
}

Result<bool> RequiredNodeAffinity::match_or_error(const Node& node, const Symbols& symbols) const {
  if (!selector_.matches(node.labels, symbols)) return false;
  return terms_ ? terms_->match_or_error(node, symbols) : Result<bool>(true);
}

}  // namespace berth
