// NodeSearch: which nodes are feasible (core.md §7.4).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/check.h"
#include "berth/measurements.h"
#include "framework/step_timers.h"
#include "search/node_search.h"

namespace berth {

Task<Outcome> NodeSearch::find_feasible(Cycle& cycle, const Framework& framework,
                                        const PreFilterRun& pre, std::int32_t percentage,
                                        FeasibleNodes& found) {
  Diagnosis& diagnosis = found.diagnosis;
  pre.note_in(diagnosis);
  if (pre.outcome.rejected()) co_return Outcome::success();
  if (!pre.outcome.ok()) co_return pre.outcome;

  if (!policy_.all_nodes && !cycle.pod().nominated_node().empty() &&
      (!placement_ || in_placement(cycle.pod().nominated_node()))) {
    Task<bool> trying = try_nominated(cycle, framework, found);
    if (co_await trying) co_return Outcome::success();
  }

  std::vector<NodeRow> named;
  const bool only_some = pre.nodes || placement_;
  if (placement_) {
    named = rows_in_placement(pre);
    for (const NodeRow row : named) scratch_.verdicts[row] = Status{};
  } else if (pre.nodes) {
    for (const Symbol name : *pre.nodes)
      if (const NodeRow row = cluster_.nodes().find(name);
          row != kNoRow && cluster_.nodes().has_node(row)) {
        named.push_back(row);
        scratch_.verdicts[row] = Status{};
      }
  }
  const std::size_t candidates = only_some ? named.size() : cluster_.nodes().node_count();
  const PointTimer timer(framework.measurements(), Point::kFilter);
  Task<Outcome> filtering = filter(cycle, framework, only_some ? &named : nullptr,
                                   enough(framework, candidates, percentage), found);
  Outcome filtered = co_await filtering;
  timer.ended(filtered.code);
  next_start_ = (next_start_ + found.feasible.count() + diagnosis.explicit_nodes.count()) %
                cluster_.nodes().node_count();
  if (!filtered.ok()) co_return filtered;
  Task<Outcome> asking = ask_extenders(cycle, framework, found);
  Outcome asked = co_await asking;
  co_return asked;
}

bool NodeSearch::in_placement(Symbol node) const {
  const NodeRow row = cluster_.nodes().find(node);
  return row != kNoRow && cluster_.nodes().has_node(row) && placement_->contains(row);
}

// The placement's nodes that PreFilter left, in the order of the snapshot.
std::vector<NodeRow> NodeSearch::rows_in_placement(const PreFilterRun& pre) const {
  const NodeTable& nodes = cluster_.nodes();
  std::vector<NodeRow> rows;
  for (const NodeRow row : nodes.order())
    if (nodes.has_node(row) && placement_->contains(row) &&
        (!pre.nodes || std::ranges::find(*pre.nodes, nodes.name(row)) != pre.nodes->end()))
      rows.push_back(row);
  return rows;
}

std::size_t NodeSearch::enough(const Framework& framework, std::size_t nodes,
                               std::int32_t percentage) const {
  if (policy_.all_nodes) return nodes;
  const bool choice_matters = !framework.plugins().score.empty() ||
                              std::ranges::any_of(extenders_, [](const Extender* extender) {
                                return extender->filters() || extender->prioritizes();
                              });
  return choice_matters ? feasible_nodes_to_find(nodes, percentage) : 1;
}

// Tries the pod's nominated node before all others. Errors are not fatal here: the full search
// follows and will find them again.
Task<bool> NodeSearch::try_nominated(Cycle& cycle, const Framework& framework,
                                     FeasibleNodes& found) {
  const NodeRow row = cluster_.nodes().find(cycle.pod().nominated_node());
  if (row == kNoRow || !cluster_.nodes().has_node(row)) {
    observer_.internal_error(fmt::format("nominated node \"{}\" of pod {} does not exist",
                                         cycle.pod().nominated_node_name(),
                                         cycle.pod().full_name()));
    co_return false;
  }
  const PointTimer timer(framework.measurements(), Point::kFilter);
  Result<Status> status = framework.filter_row_with_nominated(cycle, cluster_, row);
  while (status && status->code == Code::kWait) {
    Task<void> giving = framework.give_turn(cycle);
    co_await giving;
    status = framework.filter_row_with_nominated(cycle, cluster_, row);
  }
  timer.ended(status ? Code::kSuccess : Code::kError);
  if (!status) {
    observer_.internal_error(status.error().message);
    co_return false;
  }
  if (!status->ok()) {
    const Outcome why = framework.explain(cycle, *status);
    if (!why.rejected()) {
      observer_.internal_error(why.message());
      co_return false;
    }
    found.diagnosis.explicit_nodes.insert(row);
    // Parity: a plugin that only asks to wait (Pending) is remembered here as a plain rejector.
    found.diagnosis.unschedulable_plugins.insert(why.plugin);
    co_return false;
  }
  FeasibleNodes alone{NodeSet(cluster_.nodes().rows()), {}};
  alone.diagnosis.explicit_nodes = NodeSet(cluster_.nodes().rows());
  alone.feasible.insert(row);
  Task<Outcome> asking = ask_extenders(cycle, framework, alone);
  const Outcome asked = co_await asking;
  if (!asked.ok()) {
    observer_.internal_error(asked.message());
    co_return false;
  }
  if (alone.feasible.contains(row)) {
    found.feasible.insert(row);
    co_return true;
  }
  found.diagnosis.explicit_nodes.insert(row);
  co_return false;
}

Task<Outcome> NodeSearch::filter(Cycle& cycle, const Framework& framework,
                                 const std::vector<NodeRow>* only, std::size_t limit,
                                 FeasibleNodes& found) {
  const std::size_t candidates = only ? only->size() : cluster_.nodes().node_count();
  if (limit < candidates) {
    const std::span<const NodeRow> order = only ? std::span(*only) : cluster_.nodes().order();
    Task<Outcome> sampling =
        filter_in_turn(cycle, framework, {order.begin(), order.end()}, limit, found);
    Outcome sampled = co_await sampling;
    co_return sampled;
  }
  if (only)
    for (const NodeRow row : *only) found.feasible.insert(row);
  else
    found.feasible = cluster_.nodes().nodes();
  found.feasible.reserve_rows(cluster_.nodes().rows());
  const NodeSet looked_at = found.feasible;
  Outcome outcome = framework.run_filters_with_nominated(cycle, cluster_, found.feasible);
  if (outcome.ok() && !scratch_.deferred.empty()) {
    Task<Outcome> asking = ask_deferred(cycle, framework, found.feasible);
    outcome = co_await asking;
  }
  if (outcome.ok()) {
    outcome = note_rejections(cycle, framework, looked_at, found).value_or(Outcome::success());
  } else if (Outcome first = filter_until_error(cycle, framework, looked_at); !first.ok()) {
    outcome = std::move(first);
  }
  co_return outcome;
}

// Runs the filters one node at a time, to find the first error in order.
Outcome NodeSearch::filter_until_error(Cycle& cycle, const Framework& framework,
                                       const NodeSet& asked) {
  const bool may_suspend = std::exchange(cycle.may_suspend, false);
  scratch_.reset(cluster_.nodes().rows());
  NodeSet rejected(cluster_.nodes().rows());
  Outcome outcome;
  for (const NodeRow row : cluster_.nodes().order()) {
    if (!asked.contains(row)) continue;
    const Result<Status> status = framework.filter_row_with_nominated(cycle, cluster_, row);
    if (status && status->ok()) continue;
    if (!status)
      outcome = Outcome::failure(status.error().message);
    else if (!is_rejected(status->code))
      outcome = framework.explain(cycle, *status);
    if (!outcome.ok()) break;
    rejected.insert(row);
  }
  if (trace_) trace_rejections(cycle, framework, rejected);
  cycle.may_suspend = may_suspend;
  return outcome;
}

Task<Outcome> NodeSearch::ask_deferred(Cycle& cycle, const Framework& framework,
                                       NodeSet& feasible) {
  while (!scratch_.deferred.empty()) {
    NodeSet asked(cluster_.nodes().rows());
    for (const NodeRow row : scratch_.deferred) {
      asked.insert(row);
      scratch_.verdicts[row] = Status{};
    }
    Task<void> giving = framework.give_turn(cycle);
    co_await giving;
    Outcome outcome = framework.run_filters_with_nominated(cycle, cluster_, asked);
    if (!outcome.ok()) co_return outcome;
    feasible |= asked;
  }
  co_return Outcome::success();
}

// Sampling: visits nodes in order, from where the last search stopped, until enough are feasible.
// As upstream's, the search only ends when one more than enough was found; the extra one is not
// used.
Task<Outcome> NodeSearch::filter_in_turn(Cycle& cycle, const Framework& framework,
                                         std::vector<NodeRow> order, std::size_t limit,
                                         FeasibleNodes& found) {
  if (framework.plugins().filter.empty()) {
    for (std::size_t i = 0; i < limit; ++i)
      found.feasible.insert(order[(next_start_ + i) % order.size()]);
    co_return Outcome::success();
  }
  std::vector<NodeRow> accepted;
  std::size_t visited = 0;
  while (accepted.size() <= limit && visited < order.size()) {
    // Only as many as are needed at least, so that no node is filtered that upstream would not
    // reach.
    const std::size_t take = std::min(limit + 1 - accepted.size(), order.size() - visited);
    NodeSet batch(cluster_.nodes().rows());
    for (std::size_t i = 0; i < take; ++i)
      batch.insert(order[(next_start_ + visited + i) % order.size()]);
    const NodeSet looked_at = batch;
    Outcome outcome = framework.run_filters_with_nominated(cycle, cluster_, batch);
    if (outcome.ok() && !scratch_.deferred.empty()) {
      Task<Outcome> asking = ask_deferred(cycle, framework, batch);
      outcome = co_await asking;
    }
    if (!outcome.ok()) co_return outcome;
    for (std::size_t i = 0; i < take; ++i) {
      const NodeRow row = order[(next_start_ + visited + i) % order.size()];
      if (!batch.contains(row)) continue;
      accepted.push_back(row);
      if (accepted.size() <= limit) found.feasible.insert(row);
    }
    NodeSet rejected_or_extra = looked_at;
    if (accepted.size() > limit) rejected_or_extra.erase(accepted.back());
    if (std::optional<Outcome> error = note_rejections(cycle, framework, rejected_or_extra, found))
      co_return std::move(*error);
    visited += take;
  }
  co_return Outcome::success();
}

// Records the verdicts of the rows that were filtered out. An Error among them ends the attempt; of
// several the first in snapshot order counts.
std::optional<Outcome> NodeSearch::note_rejections(Cycle& cycle, const Framework& framework,
                                                   const NodeSet& looked_at, FeasibleNodes& found) {
  internal::PluginMask seen, seen_pending;
  bool error = false;
  NodeSet rejected = looked_at;
  rejected -= found.feasible;
  found.diagnosis.explicit_nodes |= rejected;
  if (trace_) trace_rejections(cycle, framework, rejected);
  auto last =
      std::bit_cast<std::uint64_t>(Status{});  // neighbouring rows often have the same verdict
  const std::span<const Status> verdicts = scratch_.verdicts;
  rejected.for_each([&](NodeRow row) {
    const Status status = verdicts[row];
    const auto word = std::bit_cast<std::uint64_t>(status);
    if (word == last && !status.ok()) return;
    last = word;
    if (!is_rejected(status.code)) {
      error = true;
      return;
    }
    internal::PluginMask& mask = status.code == Code::kPending ? seen_pending : seen;
    if (status.plugin >= internal::PluginMask::kCapacity || mask.test(status.plugin)) return;
    mask.set(status.plugin);
    found.diagnosis.add_plugin(status.code, std::string(framework.plugin(status.plugin)->name()));
  });
  if (!error) return std::nullopt;
  for (const NodeRow row : cluster_.nodes().order()) {
    const Status status = scratch_.verdicts[row];
    if (looked_at.contains(row) && !status.ok() && !is_rejected(status.code))
      return framework.explain(cycle, status);
  }
  BERTH_CHECK(false);
  return std::nullopt;
}

}  // namespace berth
