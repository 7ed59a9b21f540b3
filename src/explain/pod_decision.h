// PodDecision: everything that one scheduling decision found out about one pod, in words and
// numbers that outlive the cluster it was made in. It is made of the trace of a search, the
// Evaluator's or a scheduler's; decision_text.h prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/status.h"

namespace berth {
class NodeTable;
class Pod;
struct SearchTrace;
}  // namespace berth

namespace berth::explain {

// A rejection: what kind, by whom, and why. Reasons are sorted.
struct Verdict {
  Code code = Code::kSuccess;
  std::string plugin;
  std::vector<std::string> reasons;

  friend auto operator<=>(const Verdict&, const Verdict&) = default;
};

// PreFilter left only some nodes. Both lists are sorted.
struct Narrowing {
  std::vector<std::string> by;
  std::vector<std::string> to;
};

// What PostFilter made of a pod that fits nowhere: a node and whom it would cost, or why not.
struct PreemptionOutcome {
  std::string node;
  std::vector<std::string> victims;  // "namespace/name", sorted
  std::string message;
};

struct PodDecision {
  std::string pod;            // "namespace/name"
  std::size_t all_nodes = 0;  // of the cluster
  std::optional<Verdict> pre_filter;
  std::optional<Narrowing> narrowed;
  std::map<std::string, Verdict> rejected;  // by node: the first Filter plugin that said no
  std::map<std::string, std::vector<Verdict>> also_rejected;  // by whom else, when that was asked
  // By feasible node and plugin: after normalisation, times weight.
  std::map<std::string, std::map<std::string, std::int64_t>> scores;
  std::map<std::string, std::int64_t> totals;
  std::vector<std::string> best;  // the nodes with the highest total, sorted
  std::string chosen;             // one of them; without a choice nothing is scored
  std::string message;            // the sentence that says that nothing fits
  // With that: whose events may move the pod, and which of them do so without a backoff. Sorted.
  std::vector<std::string> unschedulable_plugins;
  std::vector<std::string> pending_plugins;
  std::optional<PreemptionOutcome> preempt;
  std::string error;  // a plugin failed; the rest is as far as it got
};

// `nodes` as they were during the search. Victims of a preemption are not in the trace.
PodDecision decision_of(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace);

}  // namespace berth::explain
