#include "explain/explainer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/pod.h"
#include "explain/node_groups.h"
#include "explain/preemption_reasons.h"
#include "explain/suggestions.h"
#include "framework/framework.h"

namespace berth::explain {

Explainer::Explainer(Evaluator& evaluator, ExplainerOptions options)
    : evaluator_(evaluator), options_(std::move(options)) {
  const Result<std::vector<Framework::QueueingEvents>> events =
      evaluator.framework().queueing_events();
  if (!events) return;  // a plugin that cannot say it wakes no pod
  for (const Framework::QueueingEvents& of_plugin : *events) {
    std::vector<std::string>& labels = events_[of_plugin.plugin];
    for (const EventRegistration& registration : of_plugin.events)
      std::ranges::copy(registration.event.labels(), std::back_inserter(labels));
    std::ranges::sort(labels);
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  }
}

std::string Explainer::name_of(NodeRow row) const {
  return std::string(evaluator_.cluster().nodes().name_text(row));
}

Explanation Explainer::explain(const Ref<const Pod>& pod, const Admission* admission) {
  const Evaluator::Traced traced =
      evaluator_.trace(pod, {.every_objection = true, .post_filter = true});
  const SearchTrace& trace = traced.trace;
  Explanation explanation;
  explanation.pod = pod->full_name();
  explanation.all_nodes = evaluator_.cluster().nodes().node_count();
  explanation.rejections = group_nodes(trace.objections, evaluator_.cluster().nodes());
  if (trace.outcome.ok()) {
    explanation.verdict = "Schedulable";
    explanation.chosen = name_of(trace.chosen);
  } else {
    explain_failure(pod, traced, explanation);
    if (options_.texts && trace.outcome.fit_error) {
      Suggestions suggestions =
          find_suggestions(evaluator_, *options_.texts, pod, admission, &trace);
      explanation.suggestions = std::move(suggestions.found);
      explanation.tried = std::move(suggestions.tried);
    }
  }
  if (const NodeRow row = evaluator_.cluster().row_of(pod->uid()); row != kNoRow) {
    explanation.verdict = "Scheduled";
    explanation.chosen = evaluator_.cluster().nodes().name_text(row);
  } else if (!pod->node().empty()) {
    explanation.verdict = "Scheduled";
    explanation.chosen = pod->node_name();
  } else {
    explain_gates(*pod, explanation);
  }
  explain_choice(trace, explanation);
  return explanation;
}

// PreEnqueue plugins keep a pod out of the queue, whatever the search says.
void Explainer::explain_gates(const Pod& pod, Explanation& explanation) const {
  for (const Placed<PreEnqueuePlugin>& placed : evaluator_.framework().plugins().pre_enqueue) {
    const Outcome outcome = guarded(*placed.plugin, [&] { return placed->pre_enqueue(pod); });
    if (outcome.ok()) continue;
    explanation.verdict = "Gated";
    explanation.message = outcome.message();
    explanation.gate = placed.name();
    explanation.wakes.clear();
    if (const auto events = events_.find(placed.name()); events != events_.end())
      explanation.wakes.insert(*events);
    return;
  }
}

void Explainer::explain_failure(const Ref<const Pod>& pod, const Evaluator::Traced& traced,
                                Explanation& explanation) const {
  const SearchTrace& trace = traced.trace;
  const FitError* const error = trace.outcome.fit_error.get();
  explanation.verdict = error || trace.outcome.rejected() ? "Unschedulable" : "Error";
  explanation.message = error ? error->message() : trace.outcome.message();
  if (!error) return;
  for (const std::string& plugin : error->unschedulable_plugins)
    if (const auto events = events_.find(plugin); events != events_.end())
      explanation.wakes.insert(*events);
  explanation.nominated = nominated_in_the_way(evaluator_, pod);
  if (!trace.post_filter) return;
  explanation.preemption = Explanation::Preemption();
  Explanation::Preemption& preemption = *explanation.preemption;
  preemption.node = trace.post_filter->nominated;
  if (preemption.node.empty())
    preemption.message = trace.post_filter->message;
  else
    preemption.victims = traced.victims;
  preemption.reasons = preemption_reasons(evaluator_, pod, trace, preemption.node);
}

// The chosen node's scores, those of the runners-up and of nodes that were asked about.
void Explainer::explain_choice(const SearchTrace& trace, Explanation& explanation) const {
  if (trace.totals.empty()) return;
  std::vector<std::pair<std::int64_t, std::string>> order;  // negative totals: best first
  std::map<std::string, NodeRow> rows;
  trace.feasible.for_each([&](NodeRow row) {
    order.emplace_back(-trace.totals[row], name_of(row));
    rows.emplace(order.back().second, row);
  });
  std::ranges::sort(order);
  for (const NodeRow row : trace.best) explanation.ties.push_back(name_of(row));
  std::ranges::sort(explanation.ties);
  const auto chosen = rows.find(explanation.chosen);
  for (const auto& [negative, name] : order) {
    if (chosen == rows.end() || -negative >= trace.totals[chosen->second]) continue;
    explanation.margin = trace.totals[chosen->second] + negative;
    break;
  }
  std::size_t listed = 0;
  for (const auto& [negative, name] : order) {
    const bool asked = std::ranges::find(options_.nodes, name) != options_.nodes.end();
    if (name != explanation.chosen && !asked && listed++ >= options_.runners_up) continue;
    NodeScore& score = explanation.scores.emplace_back();
    score.node = name;
    score.total = -negative;
    for (const SearchTrace::Scores& by : trace.scores) {
      const SearchTrace::Points& points = by.by_row[rows.at(name)];
      score.plugins.push_back({by.name, points.raw, points.normalized, points.weighted});
    }
  }
}

}  // namespace berth::explain
