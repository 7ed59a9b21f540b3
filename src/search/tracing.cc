// NodeSearch: fills the trace of a search.
#include <algorithm>
#include <utility>

#include "search/node_search.h"

namespace berth {

void NodeSearch::trace_pre_filter(const PreFilterRun& pre) {
  if (!pre.outcome.ok()) trace_->pre_filter = pre.outcome;
  if (!pre.outcome.ok() || !pre.nodes) return;
  SearchTrace::Narrowed& narrowed = trace_->narrowed.emplace();
  narrowed.by.assign(pre.restricting.begin(), pre.restricting.end());
  for (const Symbol name : *pre.nodes)
    if (const NodeRow row = cluster_.nodes().find(name);
        row != kNoRow && cluster_.nodes().has_node(row))
      narrowed.to.push_back(row);
}

void NodeSearch::trace_rejections(Cycle& cycle, const Framework& framework,
                                  const NodeSet& rejected) {
  for (const NodeRow row : cluster_.nodes().order()) {
    if (!rejected.contains(row)) continue;
    const Status status = scratch_.verdicts[row];
    if (!is_rejected(status.code)) return;  // an error ended the search here
    trace_->rejected.push_back({row, framework.explain(cycle, status)});
  }
}

ScoreVisitor NodeSearch::trace_scores(const NodeSet& feasible) {
  if (!trace_) return {};
  trace_->scores.clear();
  return [this, &feasible](const PluginScores& scores) {
    SearchTrace::Scores& entry = trace_->scores.emplace_back();
    entry.name = scores.plugin->name();
    entry.by_row.resize(cluster_.nodes().rows());
    feasible.for_each([&](NodeRow row) {
      entry.by_row[row] = {scores.raw[row], scores.normalized[row], scores.weighted[row]};
    });
  };
}

void NodeSearch::trace_totals(const NodeSet& feasible) {
  trace_->totals.assign(cluster_.nodes().rows(), 0);
  const Maxima maxima = find_maxima(feasible, totals_);
  trace_->best.clear();
  feasible.for_each([&](NodeRow row) {
    trace_->totals[row] = totals_[row];
    if (totals_[row] == maxima.total) trace_->best.push_back(row);
  });
}

void NodeSearch::trace_end(const SearchResult& result) {
  trace_->outcome = result.outcome;
  if (result.outcome.ok()) trace_->chosen = result.row;
}

}  // namespace berth
