#include "explain/suggestions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"
#include "explain/combinations.h"
#include "explain/commands.h"
#include "explain/edits.h"
#include "explain/priorities.h"
#include "explain/single_edits.h"

namespace berth::explain {
namespace {

constexpr std::size_t kMostOfCode = 2, kMostInAll = 12;

// The code of several edits is that of all of them: "TolerateTaint+ReduceRequest".
std::string code_of(const Edits& edits) {
  std::string code;
  std::set<std::string> seen;
  for (const Edit& edit : edits)
    if (seen.insert(edit.code).second) code += (code.empty() ? "" : "+") + edit.code;
  return code;
}

std::vector<std::string> names_of(const NodeTable& nodes, const NodeSet& rows) {
  std::vector<std::string_view> names;
  rows.for_each([&](NodeRow row) { names.push_back(nodes.name_text(row)); });
  std::ranges::sort(names);
  return {names.begin(), names.end()};
}

// Decides with the edits made; nullopt if the pod does not find a node then.
std::optional<Suggestion> verified(const UnplacedPod& unplaced, const Edits& edits) {
  const AppliedEdits applied(unplaced, edits);
  if (!applied.ok()) return std::nullopt;
  Suggestion suggestion;
  Evaluator& evaluator = unplaced.evaluator();
  if (edits.front().by_preemption) {
    const Evaluator::Traced traced = evaluator.trace(applied.pod(), {.post_filter = true});
    if (traced.trace.outcome.ok()) {
      suggestion.nodes = names_of(unplaced.nodes(), traced.trace.feasible);
    } else if (traced.trace.post_filter && !traced.trace.post_filter->nominated.empty()) {
      const std::string& nominated = traced.trace.post_filter->nominated;
      suggestion.nodes = names_of(unplaced.nodes(), rows_for_preemption(unplaced, applied.pod()));
      const auto place = std::ranges::lower_bound(suggestion.nodes, nominated);
      if (place == suggestion.nodes.end() || *place != nominated)
        suggestion.nodes.insert(place, nominated);
    }
    suggestion.victims = traced.victims;
  } else if (evaluator.finds_node(applied.pod())) {
    suggestion.nodes = names_of(unplaced.nodes(), evaluator.feasible(applied.pod()));
  }
  if (suggestion.nodes.empty()) return std::nullopt;
  suggestion.code = code_of(edits);
  suggestion.summary = summary_of(edits);
  suggestion.cost = cost_of(edits);
  suggestion.changes = applied.changes();
  suggestion.commands = commands_of(unplaced, edits, applied);
  return suggestion;
}

std::vector<Suggestion> verified_best(const UnplacedPod& unplaced, std::vector<Edits> candidates) {
  sort_stably(candidates, {}, [](const Edits& edits) { return cost_of(edits); });
  std::vector<Suggestion> suggestions;
  std::map<std::string, std::size_t> of_code;
  std::set<std::string> summaries;
  for (const Edits& edits : candidates) {
    if (suggestions.size() == kMostInAll) break;
    const std::string code = code_of(edits);
    if (of_code[code] == kMostOfCode || !summaries.insert(summary_of(edits)).second) continue;
    if (std::optional<Suggestion> suggestion = verified(unplaced, edits)) {
      suggestions.push_back(*std::move(suggestion));
      ++of_code[code];
    }
  }
  return suggestions;
}

}  // namespace

Suggestions find_suggestions(Evaluator& evaluator, const ObjectTexts& texts,
                             const Ref<const Pod>& pod, const Admission* admission,
                             const SearchTrace* traced) {
  Suggestions suggestions;
  const KeptOrder kept(evaluator);
  const UnplacedPod unplaced(evaluator, texts, admission, pod);
  if (!evaluator.feasible(pod).empty()) return suggestions;
  SingleEdits singles(unplaced);
  std::vector<Edits> candidates;
  for (Edit& edit : singles.find()) candidates.push_back({std::move(edit)});
  suggestions.found = verified_best(unplaced, std::move(candidates));
  if (!suggestions.found.empty()) return suggestions;

  std::optional<Evaluator::Traced> own;
  if (!traced) traced = &own.emplace(evaluator.trace(pod, {.every_objection = true})).trace;
  suggestions.found = verified_best(unplaced, find_combinations(unplaced, traced->objections));
  if (!suggestions.found.empty()) return suggestions;
  suggestions.tried = singles.tried();
  suggestions.tried.emplace_back("several of these together, on the nodes nearest to fitting");
  return suggestions;
}

}  // namespace berth::explain
