// Explainer: explains pods of an Evaluator's cluster. It asks the search and puts its answers in
// order; it decides nothing itself.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "api/defaulting.h"
#include "explain/evaluator.h"
#include "explain/explanation.h"
#include "explain/object_texts.h"

namespace berth::explain {

struct ExplainerOptions {
  // The cluster's objects as JSON, which suggestions change; null: nothing is suggested. Outlives the
  // Explainer.
  const ObjectTexts* texts = nullptr;
  std::size_t runners_up = 4;      // nodes whose scores are listed beside the chosen one's
  std::vector<std::string> nodes;  // and these, if the pod fits on them
};

class Explainer {
 public:
  // `evaluator` has loaded the cluster and outlives this.
  Explainer(Evaluator& evaluator, ExplainerOptions options);

  // A pod of the cluster, with or without a node. `admission` completes changed pods as an API server
  // would, if this one was completed when it was loaded; else null.
  Explanation explain(const Ref<const Pod>& pod, const Admission* admission = nullptr);

 private:
  void explain_gates(const Pod& pod, Explanation& explanation) const;
  void explain_failure(const Ref<const Pod>& pod, const Evaluator::Traced& traced,
                       Explanation& explanation) const;
  void explain_choice(const SearchTrace& trace, Explanation& explanation) const;
  std::string name_of(NodeRow row) const;

  Evaluator& evaluator_;
  const ExplainerOptions options_;
  std::map<std::string, std::vector<std::string>> events_;  // by plugin: their labels
};

}  // namespace berth::explain
