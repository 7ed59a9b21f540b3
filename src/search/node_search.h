// NodeSearch: which node for this pod? Filter, extenders, score, select (core.md §7.2 to §7.6).
//
// Pods like others before them are decided by ClassSearch from what it keeps; all others, and those
// that fit nowhere for reasons that are not kept, from scratch. Whoever asks for a trace has every
// node looked at, and both ways compared.
//
// Where berth differs from upstream on purpose: without a percentage every node is looked at, and
// ties among the best are broken by a seeded, uniform draw.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/task.h"
#include "cluster/cluster.h"
#include "framework/extender.h"
#include "framework/framework.h"
#include "framework/kept_check.h"
#include "framework/search_trace.h"
#include "search/class_search.h"

namespace berth {

// How many feasible nodes are enough among `nodes`; `percentage` 0 means all.
std::size_t feasible_nodes_to_find(std::size_t nodes, std::int32_t percentage);

struct SearchResult {
  Outcome outcome;       // Success, or why there is no node (with a FitError: none fits)
  NodeRow row = kNoRow;  // with Success
  std::int64_t score = 0;
  std::size_t evaluated = 0;
  std::size_t feasible = 0;
  bool pre_filtered = false;             // PreFilter let it pass
  bool from_class = false;               // decided without a look at all nodes
  std::optional<Nominating> nominating;  // without success: what becomes of the nomination
  std::optional<TimePoint> filtered;     // when (Loop::tick), unless it was known without asking
  std::optional<TimePoint> scored;
};

// How the scheduler searches. Whoever judges pods one by one, offline, differs.
struct SearchPolicy {
  // Also where fewer would do: one that was promised to the pod, a percentage, any one where nobody
  // scores.
  bool all_nodes = false;
  bool post_filter = true;         // asked when nothing fits
  bool draws_ties = true;          // with a trace, otherwise: the first of the best by name
  bool first_makes_class = false;  // not the second pod of a class
  bool scores_single = false;      // with a trace: also the only feasible node; an error counts
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

  // From now on every decision from what is kept is also made from scratch, and compared. Plugins
  // that keep something do likewise, and tell `plugins`.
  void verify_increments(std::shared_ptr<KeptCheck> plugins = nullptr);
  // The first difference that was found: a bug.
  const std::optional<std::string>& difference() const { return difference_; }

  // How many searches ended without a look at everything.
  std::size_t decided_from_kept() const { return decided_from_kept_; }

  // One at a time. The cycle's verdicts stay readable until the next search. `trace`, unless null,
  // is filled.
  Task<SearchResult> run(Cycle& cycle, const Framework& framework, std::int32_t percentage,
                         SearchTrace* trace = nullptr);

 private:
  struct Found {
    NodeSet feasible;
    Diagnosis diagnosis;
  };
  // What PreFilter left; decided from what is kept, where that is possible.
  std::optional<SearchResult> from_class(Cycle& cycle, const Framework& framework,
                                         const PreFilterRun& pre, std::int32_t percentage);
  // What is left to do after that when no node fits, or when it is to be verified.
  Task<void> finish_kept(Cycle& cycle, const Framework& framework, const PreFilterRun& pre,
                         SearchResult& result);
  // All nodes looked at. Not a part of run(): its frame is large, and most pods do without it.
  Task<SearchResult> search_afresh(Cycle& cycle, const Framework& framework,
                                   const PreFilterRun& pre, std::int32_t percentage);
  Task<Outcome> verify(Cycle& cycle, const Framework& framework, const PreFilterRun& pre,
                       const SearchResult& result);
  // No node fits: in words, and with what PostFilter makes of it.
  Task<void> fits_nowhere(Cycle& cycle, const Framework& framework, const Diagnosis& diagnosis,
                          SearchResult& result);
  Task<Outcome> find_feasible(Cycle& cycle, const Framework& framework, const PreFilterRun& pre,
                              std::int32_t percentage, Found& found);
  Task<bool> try_nominated(Cycle& cycle, const Framework& framework, Found& found);
  Task<Outcome> filter(Cycle& cycle, const Framework& framework, const std::vector<NodeRow>* only,
                       std::size_t limit, Found& found);
  Task<Outcome> filter_in_turn(Cycle& cycle, const Framework& framework, std::vector<NodeRow> order,
                               std::size_t limit, Found& found);
  // The rows that a filter has put off, until it has decided about all of them; those that pass
  // come back to `feasible`.
  Task<Outcome> ask_deferred(Cycle& cycle, const Framework& framework, NodeSet& feasible);
  // A plugin could not answer: one node at a time, up to the first error.
  Outcome filter_until_error(Cycle& cycle, const Framework& framework, const NodeSet& asked);
  std::optional<Outcome> note_rejections(Cycle& cycle, const Framework& framework,
                                         const NodeSet& looked_at, Found& found);
  Task<Outcome> ask_extenders(Cycle& cycle, const Framework& framework, Found& found);
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
  void trace_end(SearchResult& result);
  NodeRow row_of(std::string_view node_name) const;
  std::size_t enough(const Framework& framework, std::size_t nodes, std::int32_t percentage) const;

  Cluster& cluster_;
  Random& random_;
  std::vector<Extender*> extenders_;
  Observer& observer_;
  const SearchPolicy policy_;

  ClassSearch classes_;
  CycleScratch scratch_;
  std::vector<Score> totals_;
  SearchTrace* trace_ = nullptr;  // of the search under way
  std::size_t decided_from_kept_ = 0;
  bool verify_ = false;
  std::shared_ptr<KeptCheck> plugins_check_;
  Evaluation kept_;  // with verify_: what the last decision was made of
  std::optional<std::string> difference_;
  std::size_t next_start_ = 0;  // where the next sampled search begins, for fairness
};

}  // namespace berth
