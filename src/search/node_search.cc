#include "search/node_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "berth/observer.h"
#include "search/objections.h"

namespace berth {
namespace {

constexpr std::size_t kMinFeasibleNodesToFind = 100;
// An extender's scores go to 10, plugins' to 100.
constexpr std::int64_t kExtenderScale = kMaxScore / 10;

SearchResult no_nodes(SearchTrace* trace) {
  SearchResult result;
  result.outcome.code = Code::kUnschedulableAndUnresolvable;
  result.outcome.error = std::string(kNoNodesAvailable);
  result.nominating = Nominating::clear();
  if (trace) trace->outcome = result.outcome;
  return result;
}

}  // namespace

std::size_t feasible_nodes_to_find(std::size_t nodes, std::int32_t percentage) {
  if (percentage <= 0 || percentage >= 100 || nodes < kMinFeasibleNodesToFind) return nodes;
  return std::max(kMinFeasibleNodesToFind, nodes * static_cast<std::size_t>(percentage) / 100);
}

Task<SearchResult> NodeSearch::run(Cycle& cycle, const Framework& framework,
                                   std::int32_t percentage, SearchTrace* trace) {
  trace_ = trace;
  scratch_.begin(cluster_.nodes().rows());
  cycle.lend(&scratch_);
  cycle.may_suspend = true;
  if (cluster_.nodes().node_count() == 0) co_return no_nodes(trace);
  if (trace && trace->every_objection)
    trace->objections = find_objections(cycle.pod_ref(), cluster_, framework);
  const PreFilterRun pre = framework.run_pre_filter(cycle);
  if (trace) trace_pre_filter(pre);
  std::optional<SearchResult> result = from_class(cycle, framework, pre, percentage);
  if (!result) {
    Task<SearchResult> searching = search_afresh(cycle, framework, pre, percentage);
    result = co_await searching;
  } else if (verify_ || trace || result->feasible == 0) {
    Task<void> finishing = finish_kept(cycle, framework, pre, *result);
    co_await finishing;
  }
  fail_if_plugins_differ(*result);
  if (trace) {
    if (!policy_.draws_ties) take_first_by_name(*result);
    trace_end(*result);
  }
  result->pre_filtered = pre.outcome.ok();
  co_return std::move(*result);
}

Task<SearchResult> NodeSearch::run_in_group(Cycle& cycle, const Framework& framework,
                                            std::int32_t percentage, const NodeSet* placement) {
  in_group_ = true;
  placement_ = placement;
  Task<SearchResult> running = run(cycle, framework, percentage);
  SearchResult result = co_await running;
  in_group_ = false;
  placement_ = nullptr;
  co_return result;
}

void NodeSearch::take_first_by_name(SearchResult& result) const {
  if (!result.outcome.ok() || trace_->best.empty()) return;
  result.row = *std::ranges::min_element(
      trace_->best, {}, [&](NodeRow row) { return cluster_.nodes().name_text(row); });
}

Task<void> NodeSearch::finish_kept(Cycle& cycle, const Framework& framework,
                                   const PreFilterRun& pre, SearchResult& result) {
  if (verify_ || trace_) {
    Task<Outcome> verifying = verify(cycle, framework, pre, result);
    result.outcome = co_await verifying;
  }
  if (result.feasible > 0 || !result.outcome.ok()) co_return;
  FeasibleNodes none{NodeSet(cluster_.nodes().rows()), {}};
  pre.note_in(none.diagnosis);
  if (trace_) trace_->rejected.clear();  // filled again from the kept verdicts
  note_rejections(cycle, framework, cluster_.nodes().nodes(), none);
  Task<void> failing = no_feasible_node(cycle, framework, none.diagnosis, result);
  co_await failing;
}

Task<SearchResult> NodeSearch::search_afresh(Cycle& cycle, const Framework& framework,
                                             const PreFilterRun& pre, std::int32_t percentage) {
  SearchResult result;
  // If only a few nodes are filtered, only their verdicts are valid.
  if (!pre.nodes) scratch_.reset(cluster_.nodes().rows());
  FeasibleNodes found{NodeSet(cluster_.nodes().rows()), {}};
  found.diagnosis.explicit_nodes = NodeSet(cluster_.nodes().rows());
  Task<Outcome> finding = find_feasible(cycle, framework, pre, percentage, found);
  Outcome outcome = co_await finding;
  result.feasible = found.feasible.count();
  result.evaluated = result.feasible + found.diagnosis.explicit_nodes.count();
  result.filtered = framework.tick();
  if (trace_ && outcome.ok()) trace_->feasible = found.feasible;
  if (outcome.ok() && to_be_scored(result.feasible)) {
    Task<Outcome> scoring = prioritize(cycle, framework, found.feasible);
    outcome = co_await scoring;
    result.scored = framework.tick();
  }
  if (!outcome.ok()) {
    result.outcome = std::move(outcome);
    result.nominating = Nominating::clear();
    co_return result;
  }
  if (result.feasible == 1) {
    found.feasible.for_each([&](NodeRow row) { result.row = row; });
    co_return result;
  }
  if (result.feasible > 1) {
    const Selection selected = select(found.feasible, totals_, random_);
    result.row = selected.row;
    result.score = selected.total;
    co_return result;
  }

  Task<void> failing = no_feasible_node(cycle, framework, found.diagnosis, result);
  co_await failing;
  co_return result;
}

Task<void> NodeSearch::no_feasible_node(Cycle& cycle, const Framework& framework,
                                        const Diagnosis& diagnosis, SearchResult& result) {
  // The message is built before PostFilter, whose trials overwrite the verdicts.
  std::shared_ptr<FitError> error = framework.fit_error(cycle, diagnosis, nodes_in_question());
  if (in_group_) {
    // What could help is asked about the group as a whole.
  } else if (!policy_.post_filter || framework.plugins().post_filter.empty()) {
    result.nominating = Nominating::clear();
  } else {
    Task<PostFilterResult> helping = framework.run_post_filter(cycle, diagnosis);
    PostFilterResult helped = co_await helping;
    error->post_filter_message = helped.outcome.message();
    result.nominating = std::move(helped.nominating);
    if (trace_)
      trace_->post_filter = {result.nominating ? result.nominating->node_name : std::string(),
                             error->post_filter_message};
  }
  result.outcome.code = Code::kUnschedulable;
  result.outcome.error = error->message();
  result.outcome.fit_error = std::move(error);
}

// What plugins keep, and have compared.
void NodeSearch::fail_if_plugins_differ(SearchResult& result) {
  if (!plugins_check_ || !plugins_check_->difference || difference_) return;
  difference_ = plugins_check_->difference;
  observer_.internal_error("increments differ: " + *difference_);
  result.outcome = Outcome::failure("increments differ: " + *difference_);
}

void NodeSearch::verify_increments(std::shared_ptr<KeptCheck> plugins) {
  verify_ = true;
  plugins_check_ = std::move(plugins);
  if (plugins_check_) plugins_check_->on = true;
}

std::optional<SearchResult> NodeSearch::from_class(Cycle& cycle, const Framework& framework,
                                                   const PreFilterRun& pre,
                                                   std::int32_t percentage) {
  const std::size_t nodes = cluster_.nodes().node_count();
  if (!pre.outcome.ok() || pre.nodes || placement_ || !cycle.pod().nominated_node().empty() ||
      !extenders_.empty() || enough(framework, nodes, percentage) < nodes)
    return std::nullopt;
  classes_.begin_cycle();
  Evaluation* const evaluation = verify_ || trace_ ? &kept_ : nullptr;
  std::optional<ClassSearch::Choice> found = classes_.run(cycle, framework, evaluation, in_group_);
  if (!found && policy_.first_makes_class)
    found = classes_.run(cycle, framework, evaluation, in_group_);
  if (!found) return std::nullopt;
  ++decided_from_kept_;
  SearchResult result;
  result.from_class = true;
  result.row = found->row;
  result.score = found->total;
  result.evaluated = nodes;
  result.feasible = found->feasible;
  return result;
}

std::optional<std::string> NodeSearch::difference_from(const SearchResult& kept, Cycle& cycle,
                                                       const Framework& framework,
                                                       const NodeSet& feasible) {
  std::optional<std::string> difference =
      find_difference(cycle, framework, kept_, feasible, totals_);
  if (difference || feasible.count() < 2) return difference;
  // Ties are drawn, so the node may be another; its points may not.
  const std::int64_t best = find_maxima(feasible, totals_).total;
  if (kept.score == best && totals_[kept.row] == best) return std::nullopt;
  return fmt::format("pod {}: node {} was taken for {} points; it has {}, the best {}",
                     cycle.pod().full_name(), cluster_.nodes().name_text(kept.row), kept.score,
                     totals_[kept.row], best);
}

Task<Outcome> NodeSearch::verify(Cycle& cycle, const Framework& framework, const PreFilterRun& pre,
                                 const SearchResult& result) {
  scratch_.reset(cluster_.nodes().rows());
  FeasibleNodes found{NodeSet(cluster_.nodes().rows()), {}};
  found.diagnosis.explicit_nodes = NodeSet(cluster_.nodes().rows());
  Task<Outcome> finding = find_feasible(cycle, framework, pre, 0, found);
  const Outcome filtered = co_await finding;
  if (trace_ && filtered.ok()) trace_->feasible = found.feasible;
  Outcome scored;
  if (filtered.ok() && to_be_scored(found.feasible.count())) {
    Task<Outcome> scoring = prioritize(cycle, framework, found.feasible);
    scored = co_await scoring;
  }
  const Outcome& searched = filtered.ok() ? scored : filtered;
  // A single feasible node is scored for the trace only: an error there is no difference.
  const bool fails = !filtered.ok() || (!scored.ok() && found.feasible.count() > 1);
  const std::optional<std::string> difference =
      fails ? fmt::format("pod {}: decided from what is kept, but {}", cycle.pod().full_name(),
                          searched.message())
            : difference_from(result, cycle, framework, found.feasible);
  if (!difference) co_return scored;
  observer_.internal_error("increments differ: " + *difference);
  if (!difference_) difference_ = difference;
  co_return verify_ ? Outcome::failure("increments differ: " + *difference) : Outcome::success();
}

NodeRow NodeSearch::row_of(std::string_view node_name) const {
  const Symbol symbol = cluster_.symbols().find(node_name);
  const NodeRow row = symbol.empty() ? kNoRow : cluster_.nodes().find(symbol);
  return row != kNoRow && cluster_.nodes().has_node(row) ? row : kNoRow;
}

// The nodes that the extender returned; each must be one that was sent to it.
Result<NodeSet> NodeSearch::rows_of(const ExtenderVerdicts& verdicts, const Extender& extender,
                                    const NodeSet& asked) const {
  NodeSet passed(cluster_.nodes().rows());
  for (const std::string& name : verdicts.nodes) {
    const NodeRow row = row_of(name);
    if (row == kNoRow || !asked.contains(row))
      return fail(ErrorKind::kInvalid,
                  fmt::format("extender \"{}\" claims a filtered node \"{}\" which is not found in "
                              "the input node list",
                              extender.name(), name));
    passed.insert(row);
  }
  return passed;
}

Task<Outcome> NodeSearch::ask_extenders(Cycle& cycle, const Framework& framework,
                                        FeasibleNodes& found) {
  const NodeTable& nodes = cluster_.nodes();
  const std::size_t before = found.feasible.count();
  for (Extender* extender : extenders_) {
    if (found.feasible.empty()) break;
    if (!extender->filters() || !extender->interested_in(cycle.pod())) continue;
    std::vector<std::string> names;
    for (const NodeRow row : nodes.order())
      if (found.feasible.contains(row)) names.emplace_back(nodes.name_text(row));
    Task<Result<ExtenderVerdicts>> asking = extender->filter(cycle.pod_ref(), names);
    const Result<ExtenderVerdicts> verdicts = co_await asking;
    Result<NodeSet> passed = verdicts ? rows_of(*verdicts, *extender, found.feasible)
                                      : Result<NodeSet>(fail(verdicts.error()));
    if (!passed) {
      if (!extender->ignorable()) co_return Outcome::failure(passed.error().message);
      observer_.internal_error(passed.error().message);
      continue;
    }
    const auto note = [&](const std::string& name, Code code, const std::string& why) {
      const NodeRow row = row_of(name);
      if (row == kNoRow) return;
      found.diagnosis.explicit_nodes.insert(row);
      scratch_.verdicts[row] = {code, Status::kListed, Status::kNoPlugin,
                                cycle.list_reasons({why})};
    };
    for (const auto& [name, why] : verdicts->failed_unresolvable)
      note(name, Code::kUnschedulableAndUnresolvable, why);
    for (const auto& [name, why] : verdicts->failed)
      if (!verdicts->failed_unresolvable.contains(name)) note(name, Code::kUnschedulable, why);
    if (trace_) {
      NodeSet rejected = found.feasible;
      rejected -= *passed;
      trace_rejections(cycle, framework, rejected);
    }
    found.feasible = *std::move(passed);
  }
  if (found.feasible.count() < before) found.diagnosis.unschedulable_plugins.insert("Extender");
  co_return Outcome::success();
}

Task<Outcome> NodeSearch::prioritize(Cycle& cycle, const Framework& framework,
                                     const NodeSet& feasible) {
  const NodeTable& nodes = cluster_.nodes();
  totals_.resize(nodes.rows());
  if (extenders_.empty() && framework.plugins().score.empty()) {
    feasible.for_each([&](NodeRow row) { totals_[row] = 1; });
    if (trace_) trace_totals(feasible);
    co_return Outcome::success();
  }
  if (Outcome outcome = framework.run_pre_score(cycle, feasible); !outcome.ok()) co_return outcome;
  Outcome outcome = framework.run_scores(cycle, feasible, totals_, trace_scores(feasible));
  if (outcome.ok() && !extenders_.empty()) {
    Task<Outcome> asking = ask_extenders_to_prioritize(cycle, feasible);
    outcome = co_await asking;
  }
  if (trace_ && outcome.ok()) trace_totals(feasible);
  if (trace_ && !outcome.ok()) trace_->scores.clear();
  co_return outcome;
}

Task<Outcome> NodeSearch::ask_extenders_to_prioritize(Cycle& cycle, const NodeSet& feasible) {
  const NodeTable& nodes = cluster_.nodes();
  std::vector<Extender*> asked;
  std::vector<Task<Result<std::vector<ExtenderScore>>>> asking;
  for (Extender* extender : extenders_) {
    if (!extender->prioritizes() || !extender->interested_in(cycle.pod())) continue;
    std::vector<std::string> names;
    for (const NodeRow row : nodes.order())
      if (feasible.contains(row)) names.emplace_back(nodes.name_text(row));
    asked.push_back(extender);
    asking.push_back(extender->prioritize(cycle.pod_ref(), std::move(names)));
  }
  if (asked.empty()) co_return Outcome::success();
  Observer* const measured = observer_.measuring();
  if (measured) measured->extenders_prioritizing(asked.size());
  WhenAll<Result<std::vector<ExtenderScore>>> all(std::move(asking));
  const std::vector<Result<std::vector<ExtenderScore>>> answers = co_await all;
  if (measured) measured->extenders_prioritizing(0);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!answers[i]) {  // only this extender's scores are missing
      observer_.internal_error(answers[i].error().message);
      continue;
    }
    SearchTrace::Scores traced;
    if (trace_) traced = {SearchTrace::Scorer::kExtender, std::string(asked[i]->name()), {}};
    if (trace_) traced.by_row.resize(nodes.rows());
    for (const ExtenderScore& score : *answers[i]) {
      const NodeRow row = row_of(score.node);
      if (row == kNoRow || !feasible.contains(row)) continue;
      const std::int64_t weighted = score.score * asked[i]->weight() * kExtenderScale;
      totals_[row] += weighted;
      if (trace_) traced.by_row[row] = {score.score, score.score, weighted};
    }
    if (trace_) trace_->scores.push_back(std::move(traced));
  }
  co_return Outcome::success();
}

}  // namespace berth
