// NodeSearch: finds a node for a pod: Filter, extenders, Score, select (core.md §7.2 to §7.6).
//
// Pods of a known class are decided by ClassSearch from kept results; all others, and pods without
// a feasible node whose reasons are not kept, from scratch. With a trace every node is searched
// from scratch, and the two decisions are compared.
//
// Where berth differs from upstream on purpose: without a percentage every node is searched, and
// ties among the best are broken by a seeded, uniform draw.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "berth/random.h"
#include "berth/search_trace.h"
#include "berth/task.h"
#include "berth/views.h"
#include "framework/extender.h"
#include "framework/framework.h"
#include "framework/kept_check.h"
#include "search/class_search.h"

namespace berth {

// How many feasible nodes are enough among `nodes`; a percentage of 0 means all.
std::size_t feasible_nodes_to_find(std::size_t nodes, std::int32_t percentage);

struct SearchResult {
  Outcome outcome;       // Success, or why there is no node (with a FitError: none fits)
  NodeRow row = kNoRow;  // with Success
  std::int64_t score = 0;
  std::size_t evaluated = 0;
  std::size_t feasible = 0;
  bool pre_filtered = false;             // PreFilter succeeded
  bool from_class = false;               // decided from kept results
  std::optional<Nominating> nominating;  // without success: how the nomination changes
  std::optional<TimePoint> filtered;     // when (Loop::tick); nullopt if no filter ran
  std::optional<TimePoint> scored;
};

// How the scheduler searches. `berth evaluate` uses other values.
struct SearchPolicy {
  // Search all nodes even where fewer would do: with a nominated node, a percentage, or no Score
  // plugin.
  bool all_nodes = false;
  bool post_filter = true;         // run PostFilter when no node fits
  bool draws_ties = true;          // false, with a trace: the first of the best by name
  bool first_makes_class = false;  // a class begins with its first pod, not its second
  bool scores_single = false;  // with a trace: score a single feasible node, too; an error counts
};

class NodeSearch {
 public:
  NodeSearch(Cluster& cluster, Random& random, std::vector<Extender*> extenders, Observer& observer,
             SearchPolicy policy = {})
      : cluster_(cluster),
        random_(random),
        extenders_(std::move(extenders)),
        observer_(observer),
        policy_(policy),
        classes_(cluster, random) {}

  // From now on every decision from kept results is made from scratch, too, and compared. Plugins
  // that keep results do the same, and report to `plugins`.
  void verify_increments(std::shared_ptr<KeptCheck> plugins = nullptr);
  // The first difference that was found, which is a bug.
  const std::optional<std::string>& difference() const { return difference_; }

  // How many searches were decided from kept results.
  std::size_t decided_from_kept() const { return decided_from_kept_; }

  // One at a time. The cycle's verdicts stay readable until the next search. `trace`, unless null,
  // is filled.
  Task<SearchResult> run(Cycle& cycle, const Framework& framework, std::int32_t percentage,
                         SearchTrace* trace = nullptr);
  // The same for a pod of a group whose other pods are tried with it: PostFilter does not run, and
  // with a placement only its nodes are looked at.
  Task<SearchResult> run_in_group(Cycle& cycle, const Framework& framework, std::int32_t percentage,
                                  const NodeSet* placement);

 private:
  struct FeasibleNodes {
    NodeSet feasible;
    Diagnosis diagnosis;
  };
  // Searches the nodes that PreFilter left, from kept results where that is possible.
  std::optional<SearchResult> from_class(Cycle& cycle, const Framework& framework,
                                         const PreFilterRun& pre, std::int32_t percentage);
  // Completes a search from kept results when no node fits, or when it is verified.
  Task<void> finish_kept(Cycle& cycle, const Framework& framework, const PreFilterRun& pre,
                         SearchResult& result);
  // Searches all nodes. Not a part of run(): its coroutine frame is large, and most pods do not
  // need it.
  Task<SearchResult> search_afresh(Cycle& cycle, const Framework& framework,
                                   const PreFilterRun& pre, std::int32_t percentage);
  // Searches from scratch beside a decision from kept results, and compares. Success when both are
  // the same; with verify_increments a difference fails the attempt, a trace alone changes nothing.
  Task<Outcome> verify(Cycle& cycle, const Framework& framework, const PreFilterRun& pre,
                       const SearchResult& result);
  // How the kept decision differs from the search from scratch that found `feasible` nodes and left
  // their totals; nullopt if it does not.
  std::optional<std::string> difference_from(const SearchResult& kept, Cycle& cycle,
                                             const Framework& framework, const NodeSet& feasible);
  // Replaces the node that was drawn by the first of the trace's best nodes by name.
  void fail_if_plugins_differ(SearchResult& result);
  void take_first_by_name(SearchResult& result) const;
  // No node fits: builds the FitError and runs PostFilter.
  Task<void> no_feasible_node(Cycle& cycle, const Framework& framework, const Diagnosis& diagnosis,
                              SearchResult& result);
  Task<Outcome> find_feasible(Cycle& cycle, const Framework& framework, const PreFilterRun& pre,
                              std::int32_t percentage, FeasibleNodes& found);
  Task<bool> try_nominated(Cycle& cycle, const Framework& framework, FeasibleNodes& found);
  Task<Outcome> filter(Cycle& cycle, const Framework& framework, const std::vector<NodeRow>* only,
                       std::size_t limit, FeasibleNodes& found);
  Task<Outcome> filter_in_turn(Cycle& cycle, const Framework& framework, std::vector<NodeRow> order,
                               std::size_t limit, FeasibleNodes& found);
  // Runs a filter again on the rows that it deferred, until it has decided all of them; rows that
  // pass are added to `feasible` again.
  Task<Outcome> ask_deferred(Cycle& cycle, const Framework& framework, NodeSet& feasible);
  // A plugin failed: filters one node at a time, up to the first error.
  Outcome filter_until_error(Cycle& cycle, const Framework& framework, const NodeSet& asked);
  std::optional<Outcome> note_rejections(Cycle& cycle, const Framework& framework,
                                         const NodeSet& looked_at, FeasibleNodes& found);
  Task<Outcome> ask_extenders(Cycle& cycle, const Framework& framework, FeasibleNodes& found);
  Result<NodeSet> rows_of(const ExtenderVerdicts& verdicts, const Extender& extender,
                          const NodeSet& asked) const;
  bool to_be_scored(std::size_t feasible) const {
    return feasible > 1 || (feasible == 1 && trace_ && policy_.scores_single);
  }
  Task<Outcome> prioritize(Cycle& cycle, const Framework& framework, const NodeSet& feasible);
  Task<Outcome> ask_extenders_to_prioritize(Cycle& cycle, const NodeSet& feasible);
  // ---- for the trace
  void trace_pre_filter(const PreFilterRun& pre);
  void trace_rejections(Cycle& cycle, const Framework& framework, const NodeSet& rejected);
  ScoreVisitor trace_scores(const NodeSet& feasible);
  void trace_totals(const NodeSet& feasible);
  void trace_end(const SearchResult& result);
  std::size_t nodes_in_question() const {
    return placement_ ? placement_->count() : cluster_.nodes().node_count();
  }
  bool in_placement(Symbol node) const;
  std::vector<NodeRow> rows_in_placement(const PreFilterRun& pre) const;
  NodeRow row_of(std::string_view node_name) const;
  std::size_t enough(const Framework& framework, std::size_t nodes, std::int32_t percentage) const;

  Cluster& cluster_;
  Random& random_;
  std::vector<Extender*> extenders_;
  Observer& observer_;
  const SearchPolicy policy_;

  ClassSearch classes_;
  internal::CycleScratch scratch_;
  std::vector<Score> totals_;
  SearchTrace* trace_ = nullptr;  // of the search under way
  std::size_t decided_from_kept_ = 0;
  bool verify_ = false;
  std::shared_ptr<KeptCheck> plugins_check_;
  Evaluation kept_;  // with verify_: the rows and totals of the last decision
  std::optional<std::string> difference_;
  bool in_group_ = false;               // the search under way is for a pod of a group
  const NodeSet* placement_ = nullptr;  // with in_group_: the nodes to look at; null: all
  std::size_t next_start_ = 0;          // where the next sampled search begins, for fairness
};

}  // namespace berth
