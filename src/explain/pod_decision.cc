#include "explain/pod_decision.h"

#include <algorithm>
#include <utility>

#include "berth/pod.h"
#include "berth/search_trace.h"
#include "berth/status.h"
#include "berth/views.h"

namespace berth::explain {
namespace {

Verdict verdict_of(const Outcome& outcome) {
  Verdict verdict{outcome.code, outcome.plugin, outcome.all_reasons()};
  std::ranges::sort(verdict.reasons);
  return verdict;
}

void tell_failure(const SearchTrace& trace, PodDecision& decision) {
  const FitError* const error = trace.outcome.fit_error.get();
  if (!error) {
    (trace.outcome.rejected() ? decision.message : decision.error) = trace.outcome.message();
    return;
  }
  decision.message = error->message();
  decision.unschedulable_plugins.assign(error->unschedulable_plugins.begin(),
                                        error->unschedulable_plugins.end());
  decision.pending_plugins.assign(error->pending_plugins.begin(), error->pending_plugins.end());
  if (!trace.post_filter) return;
  PreemptionOutcome& preempt = decision.preempt.emplace();
  preempt.node = trace.post_filter->nominated;
  if (preempt.node.empty()) preempt.message = trace.post_filter->message;
}

// The plugins that reject a node beside the one at which the search stopped. Called when `rejected`,
// `pre_filter` and `narrowed` are known.
void tell_objections(const NodeTable& nodes, const SearchTrace& trace, PodDecision& decision) {
  const auto stopped_search = [&](const std::string& node, const std::string& plugin) {
    const auto rejected = decision.rejected.find(node);
    if (rejected != decision.rejected.end()) return rejected->second.plugin == plugin;
    if (decision.pre_filter && decision.pre_filter->plugin == plugin) return true;
    return decision.narrowed &&
           std::ranges::find(decision.narrowed->by, plugin) != decision.narrowed->by.end();
  };
  for (const SearchTrace::Objections& objections : trace.objections) {
    const std::string node(nodes.name_text(objections.row));
    for (const SearchTrace::Objection& objection : objections.by)
      if (objection.outcome.rejected() && !stopped_search(node, objection.outcome.plugin))
        decision.also_rejected[node].push_back(verdict_of(objection.outcome));
  }
}

}  // namespace

PodDecision decision_of(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) {
  const auto name_of = [&nodes](NodeRow row) { return std::string(nodes.name_text(row)); };
  PodDecision decision;
  decision.pod = pod.full_name();
  decision.all_nodes = nodes.node_count();
  if (trace.pre_filter) decision.pre_filter = verdict_of(*trace.pre_filter);
  if (trace.narrowed) {
    Narrowing& narrowing =
        decision.narrowed.emplace(trace.narrowed->by, std::vector<std::string>());
    for (const NodeRow row : trace.narrowed->to) narrowing.to.push_back(name_of(row));
    std::ranges::sort(narrowing.to);
  }
  for (const SearchTrace::Rejected& rejected : trace.rejected)
    decision.rejected.emplace(name_of(rejected.row), verdict_of(rejected.by));
  tell_objections(nodes, trace, decision);
  for (const SearchTrace::Scores& scores : trace.scores)
    trace.feasible.for_each([&](NodeRow row) {
      decision.scores[name_of(row)][scores.name] = scores.by_row[row].weighted;
    });
  if (!trace.totals.empty())
    trace.feasible.for_each(
        [&](NodeRow row) { decision.totals[name_of(row)] = trace.totals[row]; });
  for (const NodeRow row : trace.best) decision.best.push_back(name_of(row));
  std::ranges::sort(decision.best);
  if (trace.outcome.ok())
    decision.chosen = name_of(trace.chosen);
  else
    tell_failure(trace, decision);
  return decision;
}

}  // namespace berth::explain
