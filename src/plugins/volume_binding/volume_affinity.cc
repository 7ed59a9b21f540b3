#include "plugins/volume_binding/volume_affinity.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::plugins {
namespace {

constexpr const char* kNoMatch = "no matching NodeSelectorTerms";

// A label that has one of these values, and nothing else. What is wrong with such a requirement (a
// key or a value that no label can have) does not matter: it matches nothing either way.
bool is_plain(const NodeSelectorTerm& term) {
  return term.match_fields.empty() &&
         std::ranges::all_of(term.match_expressions, [](const SelectorRequirement& requirement) {
           return requirement.op == SelectorOperator::kIn;
         });
}

bool matches_plain(const NodeSelectorTerm& term, const LabelSet& labels) {
  if (term.match_expressions.empty()) return false;
  return std::ranges::all_of(term.match_expressions, [&](const SelectorRequirement& requirement) {
    const Symbol* value = labels.find(requirement.key);
    return value != nullptr &&
           std::ranges::find(requirement.values, *value) != requirement.values.end();
  });
}

// What is wrong with the terms, in upstream's words.
std::vector<std::string> errors_in(const NodeSelectorTerm& term, std::size_t number,
                                   const Symbols& symbols) {
  return CompiledNodeTerm(term, symbols, fmt::format("nodeSelectorTerms[{}]", number)).errors();
}

// Of a term without errors. Fields are left out.
std::vector<Requirement> compiled(const NodeSelectorTerm& term, const Symbols& symbols) {
  std::vector<Requirement> requirements;
  for (const SelectorRequirement& written : term.match_expressions)
    if (Result<Requirement> requirement = compile_requirement(written, symbols, {}))
      requirements.push_back(*std::move(requirement));
  return requirements;
}

}  // namespace

VolumeAffinity::VolumeAffinity(const std::optional<std::vector<NodeSelectorTerm>>& terms,
                               const Symbols& symbols) {
  if (!terms) return;
  terms_ = &*terms;
  plain_ = std::ranges::all_of(*terms_, is_plain);
  if (plain_) return;
  for (std::size_t i = 0; i < terms_->size(); ++i) {
    const NodeSelectorTerm& term = (*terms_)[i];
    if (!term.empty() && errors_in(term, i, symbols).empty())
      compiled_.push_back(compiled(term, symbols));
  }
}

bool VolumeAffinity::matches(const LabelSet& labels, const Symbols& symbols) const {
  if (terms_ == nullptr) return true;
  if (plain_)
    return std::ranges::any_of(
        *terms_, [&](const NodeSelectorTerm& term) { return matches_plain(term, labels); });
  return std::ranges::any_of(compiled_, [&](const std::vector<Requirement>& term) {
    return std::ranges::all_of(
        term, [&](const Requirement& requirement) { return requirement.matches(labels, symbols); });
  });
}

Result<void> VolumeAffinity::check(const LabelSet& labels, const Symbols& symbols) const {
  if (matches(labels, symbols)) return {};
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < terms_->size(); ++i) {
    if ((*terms_)[i].empty()) continue;
    const std::vector<std::string> more = errors_in((*terms_)[i], i, symbols);
    errors.insert(errors.end(), more.begin(), more.end());
  }
  if (!errors.empty()) return fail(aggregate(errors));
  return fail(ErrorKind::kInvalid, kNoMatch);
}

void LabelIndex::add(const VolumeAffinity& affinity, Entry entry) {
  if (affinity.is_every_node()) return add_everywhere(entry);
  for (const NodeSelectorTerm& term : *affinity.terms()) {
    if (term.empty()) continue;
    const auto needed =
        std::ranges::find(term.match_expressions, SelectorOperator::kIn, &SelectorRequirement::op);
    if (needed == term.match_expressions.end()) return add_everywhere(entry);
    for (const Symbol value : needed->values) add(needed->key, value, entry);
  }
}

void LabelIndex::add(const Selector& selector, Entry entry) {
  if (selector.is_nothing()) return;
  const auto needed =
      std::ranges::find(selector.requirements(), SelectorOperator::kIn, &Requirement::op);
  if (needed == selector.requirements().end()) return add_everywhere(entry);
  for (const Symbol value : needed->values) add(needed->key, value, entry);
}

void LabelIndex::finish() {
  std::ranges::sort(everywhere_);
  std::ranges::sort(filed_);
  entries_.reserve(filed_.size());
  for (const Filed& filed : filed_) {
    entries_.push_back(filed.entry);
    if (keys_.empty() || keys_.back() != filed.key) keys_.push_back(filed.key);
  }
}

std::span<const LabelIndex::Entry> LabelIndex::entries_of(Symbol key, Symbol value) const {
  const auto label = [](const Filed& filed) { return std::pair(filed.key, filed.value); };
  const auto found = std::ranges::equal_range(filed_, std::pair(key, value), {}, label);
  const auto first = static_cast<std::size_t>(found.begin() - filed_.begin());
  return std::span(entries_).subspan(first, found.size());
}

}  // namespace berth::plugins
