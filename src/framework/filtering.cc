// Framework: the extension points that decide which nodes are feasible (PreFilter, Filter), and
// PostFilter, which runs when none is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/check.h"
#include "framework/framework.h"
#include "framework/what_if.h"

namespace berth {

// ---- PreFilter

namespace {

// "node(s) didn't satisfy plugin A", or of several: "plugin(s) [A B] simultaneously".
std::string emptied_by(const std::set<std::string>& restricting) {
  if (restricting.size() == 1)
    return fmt::format("node(s) didn't satisfy plugin {}", *restricting.begin());
  return fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously",
                     fmt::join(restricting, " "));
}

void intersect(std::optional<std::vector<Symbol>>& nodes, std::vector<Symbol> others) {
  if (!nodes) {
    nodes = std::move(others);
    return;
  }
  std::vector<Symbol> common;
  std::ranges::set_intersection(*nodes, others, std::back_inserter(common));
  nodes = std::move(common);
}

// Returned as it is: a dozen plugins have no result for most pods, which should cost nothing.
PreFilterResult guarded_pre_filter(const PreFilterPlugin& plugin, Cycle& cycle) {
  try {
    return plugin.pre_filter(cycle);
  } catch (...) {
    return thrown_by(plugin);
  }
}

}  // namespace

PreFilterRun Framework::run_pre_filter(Cycle& cycle) const {
  const PointTimer timer(measured_, Point::kPreFilter);
  PreFilterRun run = ask_pre_filter(cycle);
  timer.ended(run.outcome.code);
  return run;
}

PreFilterResult Framework::ask_pre_filter(const Placed<PreFilterPlugin>& placed,
                                          Cycle& cycle) const {
  const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPreFilter);
  PreFilterResult result = guarded_pre_filter(*placed.plugin, cycle);
  timer.ended(result.outcome.code);
  if (result.outcome.code != Code::kSkip) evaluated(placed.index, Point::kPreFilter, 1);
  return result;
}

PreFilterRun Framework::ask_pre_filter(Cycle& cycle) const {
  PreFilterRun run;
  cycle.skip_filter.clear();
  for (const Placed<PreFilterPlugin>& placed : plugins_.pre_filter) {
    PreFilterResult result = ask_pre_filter(placed, cycle);
    switch (result.outcome.code) {
      case Code::kSkip: cycle.skip_filter.set(placed.index); continue;
      case Code::kSuccess: break;
      case Code::kUnschedulable:
        // The others run all the same: preemption needs what they leave behind.
        run.outcome = std::move(result.outcome).by(placed->name());
        continue;
      case Code::kUnschedulableAndUnresolvable:
        // Parity: those who narrowed the nodes before do not count as rejectors then.
        run = {std::move(result.outcome).by(placed->name()), {}, {}};
        return run;
      default:
        run.outcome = wrap_failure(fmt::format("running PreFilter plugin \"{}\": ", placed->name()),
                                   result.outcome, placed->name());
        return run;
    }
    if (!result.nodes) continue;
    run.restricting.insert(placed.name());
    intersect(run.nodes, std::move(*result.nodes));
    if (run.nodes->empty()) {
      run.outcome = Outcome::of(Code::kUnschedulableAndUnresolvable, emptied_by(run.restricting));
      return run;
    }
  }
  return run;
}

Outcome Framework::run_add_pod(Cycle& cycle, const Pod& pod, NodeRow row) const {
  for (const Placed<PreFilterPlugin>& placed : plugins_.pre_filter) {
    if (cycle.skip_filter.test(placed.index) || !placed->has_extensions()) continue;
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPreFilterExtensionAddPod);
    const Outcome outcome =
        guarded(*placed.plugin, [&] { return placed->add_pod(cycle, pod, row); });
    timer.ended(outcome.code);
    if (!outcome.ok())
      return wrap_failure(
          fmt::format("running AddPod on PreFilter plugin \"{}\": ", placed->name()), outcome,
          placed->name());
  }
  return {};
}

Outcome Framework::run_remove_pod(Cycle& cycle, const Pod& pod, NodeRow row) const {
  for (const Placed<PreFilterPlugin>& placed : plugins_.pre_filter) {
    if (cycle.skip_filter.test(placed.index) || !placed->has_extensions()) continue;
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPreFilterExtensionRemovePod);
    const Outcome outcome =
        guarded(*placed.plugin, [&] { return placed->remove_pod(cycle, pod, row); });
    timer.ended(outcome.code);
    if (!outcome.ok())
      return wrap_failure(
          fmt::format("running RemovePod on PreFilter plugin \"{}\": ", placed->name()), outcome,
          placed->name());
  }
  return {};
}

// ---- Filter

void Framework::run_filters(const Cycle& cycle, NodeSet& feasible) const {
  for (const Placed<FilterPlugin>& placed : plugins_.filter)
    if (!cycle.skip_filter.test(placed.index)) ask_filter(placed, cycle, feasible);
}

void Framework::ask_filter(const Placed<FilterPlugin>& placed, const Cycle& cycle,
                           NodeSet& feasible) const {
  BERTH_CHECK(cycle.scratch() != nullptr);
  FilterPass pass(placed.index, cycle, feasible, cycle.scratch()->verdicts);
  // All rows are one call, and one duration; each row that is asked about is an evaluation.
  if (measured_) evaluated(placed.index, Point::kFilter, feasible.count());
  const PluginTimer timer = time_plugin(cycle, placed.index, Point::kFilter);
  try {
    placed->filter(cycle, pass);
    timer.ended(Code::kSuccess);
  } catch (...) {  // no row it was asked about can be trusted
    const Outcome thrown = thrown_by(*placed.plugin);
    timer.ended(thrown.code);
    pass.fail_all(thrown.all_reasons());
  }
}

Status Framework::filter_row(const Cycle& cycle, NodeRow row) const {
  NodeSet feasible(cycle.nodes().rows());
  feasible.insert(row);
  cycle.scratch()->verdicts[row] = Status{};
  run_filters(cycle, feasible);
  return cycle.scratch()->verdicts[row];
}

Result<Status> Framework::filter_row_with_nominated(Cycle& cycle, Cluster& cluster,
                                                    NodeRow row) const {
  const std::vector<Ref<const Pod>> nominated =
      handle_.nominator.nominated_pods(cluster.nodes().name(row));
  const Pod& pod = cycle.pod();
  {
    WhatIf what_if(*this, cycle, cluster);
    for (const Ref<const Pod>& other : nominated) {
      if (other->priority() < pod.priority() || other->uid() == pod.uid()) continue;
      if (const Outcome added = what_if.add(other, row); !added.ok())
        return fail(ErrorKind::kInternal, added.message());
    }
    if (what_if.edits() > 0) {
      const Status with = filter_row(cycle, row);
      if (!with.ok()) return with;
    }
  }
  // Without them as well: they may never come, and it must not depend on them (pod affinity).
  return filter_row(cycle, row);
}

Outcome Framework::run_filters_with_nominated(Cycle& cycle, Cluster& cluster,
                                              NodeSet& feasible) const {
  // The rows with nominated pods are few: they are filtered one by one, all others in one batch.
  std::vector<NodeRow> apart;
  for (const Symbol node : handle_.nominator.nominated_nodes()) {
    const NodeRow row = cluster.nodes().find(node);
    if (row == kNoRow || !feasible.contains(row)) continue;
    feasible.erase(row);
    apart.push_back(row);
  }
  run_filters(cycle, feasible);
  for (const NodeRow row : apart) {
    const Result<Status> status = filter_row_with_nominated(cycle, cluster, row);
    if (!status) return Outcome::failure(status.error().message);
    if (status->ok()) feasible.insert(row);
  }
  return {};
}

Task<void> Framework::give_turn(Cycle& cycle) const {
  cycle.scratch()->deferred.clear();
  NextTurn next(handle_.loop);
  co_await next;
  ++cycle.turn;
}

Outcome Framework::explain(const Cycle& cycle, const Status& status) const {
  const Plugin* by = plugin(status.plugin);
  Outcome outcome;
  outcome.code = status.code;
  if (by) outcome.plugin = by->name();
  outcome.reasons = cycle.reasons_of(status, by);
  if (status.ok() || is_rejected(status.code)) return outcome;
  return wrap_failure(fmt::format("running \"{}\" filter plugin: ", outcome.plugin), outcome,
                      outcome.plugin);
}

std::shared_ptr<FitError> Framework::fit_error(const Cycle& cycle, const Diagnosis& diagnosis,
                                               std::size_t all_nodes) const {
  auto error = std::make_shared<FitError>();
  error->all_nodes = all_nodes;
  error->unschedulable_plugins = diagnosis.unschedulable_plugins;
  error->pending_plugins = diagnosis.pending_plugins;
  error->pre_filter_message = diagnosis.pre_filter_message;
  error->post_filter_message = diagnosis.post_filter_message;
  // Verdicts are counted as words first: five thousand nodes have a handful of different ones.
  std::map<std::uint64_t, std::size_t> counts;
  std::size_t explicit_count = 0;
  std::uint64_t last = 0;  // neighbouring rows often have the same verdict
  std::size_t* counted = nullptr;
  const std::vector<Status>& verdicts = cycle.scratch()->verdicts;
  diagnosis.explicit_nodes.for_each([&](NodeRow row) {
    const auto word = std::bit_cast<std::uint64_t>(verdicts[row]);
    if (!counted || word != last) {
      counted = &counts[word];
      last = word;
    }
    ++*counted;
    ++explicit_count;
  });
  for (const auto& [word, rows] : counts)
    for (std::string& reason : explain(cycle, std::bit_cast<Status>(word)).all_reasons())
      error->reasons[std::move(reason)] += rows;
  if (explicit_count < all_nodes)
    for (std::string& reason : diagnosis.absent.all_reasons())
      error->reasons[std::move(reason)] += all_nodes - explicit_count;
  return error;
}

void PreFilterRun::note_in(Diagnosis& diagnosis) const {
  diagnosis.unschedulable_plugins = restricting;
  if (outcome.rejected()) {
    diagnosis.pre_filter_message = outcome.message();
    diagnosis.add_plugin(outcome.code, outcome.plugin);
    diagnosis.absent = outcome;
  } else if (nodes) {
    diagnosis.absent = Outcome::of(
        Code::kUnschedulableAndUnresolvable,
        fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(restricting, " ")));
  }
}

// ---- PostFilter

Task<PostFilterResult> Framework::run_post_filter(Cycle& cycle, const Diagnosis& diagnosis) const {
  if (!measured_) return ask_post_filter(cycle, diagnosis);
  return timed(Point::kPostFilter, ask_post_filter(cycle, diagnosis));
}

Task<PostFilterResult> Framework::ask_post_filter(Cycle& cycle, const Diagnosis& diagnosis) const {
  PostFilterResult last;
  last.outcome.code = Code::kUnschedulable;
  cycle.framework = this;
  for (const Placed<PostFilterPlugin>& placed : plugins_.post_filter) {
    PostFilterResult result;
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPostFilter);
    try {
      Task<PostFilterResult> task = placed->post_filter(cycle, diagnosis);
      result = co_await task;
    } catch (...) {
      result.outcome = thrown_by(*placed.plugin);
    }
    timer.ended(result.outcome.code);
    if (result.outcome.ok()) co_return result;
    result.outcome.plugin = placed.name();
    if (result.outcome.code == Code::kUnschedulableAndUnresolvable) co_return result;
    if (!result.outcome.rejected()) {
      result.outcome.code = Code::kError;
      result.nominating.reset();
      co_return result;
    }
    if (result.nominating && result.nominating->mode != Nominating::Mode::kNoop)
      last.nominating = result.nominating;
    for (std::string& reason : result.outcome.all_reasons())
      last.outcome.reasons.push_back(std::move(reason));
    if (last.outcome.plugin.empty()) last.outcome.plugin = result.outcome.plugin;
  }
  co_return last;
}

}  // namespace berth
