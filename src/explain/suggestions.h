// find_suggestions: what would help a pod that fits nowhere.
//
//   every single edit that may help, kind by kind ──► decide with it ──► helps: a suggestion
//          │ none
//          ▼
//   from the nodes nearest to fitting: edit after edit, until the pod fits there; then without each
//   edit again, whether it was needed ──► the fewest together
//
// Nothing is guessed: each suggestion was decided upon by the scheduler's own search with its changes
// made to the objects' JSON. docs/explain-suggestions.md lists the kinds of edits and what they cost.
#pragma once

#include <string>
#include <vector>

#include "api/defaulting.h"
#include "explain/evaluator.h"
#include "explain/explanation.h"
#include "explain/object_texts.h"

namespace berth::explain {

struct Suggestions {
  std::vector<Suggestion> found;   // cheapest first; empty for a pod that fits somewhere
  std::vector<std::string> tried;  // without any: what does not help
};

// The evaluator's cluster is changed meanwhile, and as it was afterwards. `admission` completes pods
// as an API server would, if they were completed when they were loaded; else null. `traced` is the
// decision about the pod with every objection, if that is there already.
Suggestions find_suggestions(Evaluator& evaluator, const ObjectTexts& texts,
                             const Ref<const Pod>& pod, const Admission* admission = nullptr,
                             const SearchTrace* traced = nullptr);

}  // namespace berth::explain
