// ClassSearch: finds a node for a pod of a known class, at the cost of what changed since the last
// one.
//
// It decides what NodeSearch would decide from scratch, or does not decide: when the pod is the
// first of its class, when no node fits and not only row plugins filter (each row's reason is
// needed), when a plugin does not declare what its answers depend on, or fails. Part of NodeSearch.
// World thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "berth/random.h"
#include "cluster/kept_answers.h"
#include "search/increment_check.h"
#include "search/pod_class.h"
#include "search/seen_before.h"
#include "search/selection.h"

namespace berth {

class ClassSearch {
 public:
  ClassSearch(Cluster& cluster, Random& random) : cluster_(cluster), random_(random) {}

  struct Choice {
    NodeRow row = kNoRow;
    std::int64_t total = 0;    // 0 when there was no choice
    std::size_t feasible = 0;  // 0: no node fits, for the reasons in the cycle's verdicts
  };

  // After PreFilter, which must not have narrowed the nodes. `evaluation`, unless null, is filled
  // with all rows. nullopt: not decided.
  // `groups_alike`: pods of several PodGroups that differ in nothing else share a class.
  std::optional<Choice> run(Cycle& cycle, const Framework& framework, Evaluation* evaluation,
                            bool groups_alike = false);

  void begin_cycle() { classes_.begin_cycle(); }
  std::size_t classes() const { return classes_.size(); }

 private:
  // ---- in the order of run()
  // The kept class of the pod; null for the first pod of a class, which only leaves its hash.
  PodClass* class_of(const Framework& framework, const PodSpec& spec, const PodMeta& meta);
  const PodSpec& without_group(const Pod& pod);
  // Whether every plugin that runs for this pod declares what its answers depend on.
  static bool can_keep(Cycle& cycle, const Framework& framework);
  // No row fits: writes each row's kept verdict into the cycle's scratch. nullopt: not all are kept.
  std::optional<Choice> no_feasible_node(Cycle& cycle, PodClass& kept, Evaluation* evaluation);
  // A row with nominated pods of the same or higher priority must fit together with these. Rows that
  // do not are taken out of the class until run() ends. False: a filter failed.
  bool hide_rows_full_of_nominated(Cycle& cycle, const Framework& framework, PodClass& kept);

  // ---- the choice among the rows that fit; nullopt when a plugin fails or no row is left
  std::optional<Choice> choose(Cycle& cycle, const Framework& framework, PodClass& kept);
  // All other plugins are asked about one row of each group: at most 64 rows.
  std::optional<Choice> among_groups(Cycle& cycle, const Framework& framework, PodClass& kept);
  // All other plugins are asked about every row that fits.
  std::optional<Choice> among_rows(Cycle& cycle, const Framework& framework, PodClass& kept);
  // The rows of the class that fit and are in one of these groups.
  const NodeSet& in_groups(const PodClass& kept, std::span<const ScoreTree::Group> groups);

  // ---- plugins whose answers are not kept
  // Erases the rows that such a Filter plugin rejects. False: one failed.
  bool ask_other_filters(const Cycle& cycle, const Framework& framework, NodeSet& rows);
  // Adds to the totals of `rows` what is not kept: the scores of plugins that look further than a
  // row, and those that have to be normalized. `rows` are all of `feasible`, or a sample of each
  // group. False: a plugin failed.
  bool ask_other_scores(Cycle& cycle, const Framework& framework, const PodClass& kept,
                        const NodeSet& feasible, const NodeSet& rows);
  // Normalizes the kept scores that cannot be kept normalized, and adds them to the totals.
  bool normalize_kept(const Cycle& cycle, const Framework& framework, const PodClass& kept,
                      const NodeSet& rows);
  // Adds weighted scores to the totals. False: a score is out of range.
  bool add(const Placed<ScorePlugin>& placed, const NodeSet& rows, std::span<const Score> scores);
  // Writes down the rows that fit and their totals, for the comparison with a search from scratch.
  void copy_verdicts(const PodClass& kept, Evaluation& evaluation) const;

  Cluster& cluster_;
  Random& random_;
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  PodClass::AskedRows asked_;
  KeptAnswers<PodClass> classes_{kMaxBytes};
  SeenBefore seen_before_;

  // Specs without their group, each once, by content; and the last that was asked for.
  static constexpr std::size_t kMostGroupless = 256;
  std::unordered_multimap<std::size_t, Ref<const PodSpec>> groupless_;
  Ref<const PodSpec> last_of_group_, last_groupless_;

  // ---- buffers, reused from pod to pod
  // A row that is hidden for the pod at hand, and its own score in the class.
  struct Hidden {
    NodeRow row;
    std::int32_t score;
  };
  std::vector<Hidden> hidden_;
  NodeSet looked_at_, feasible_, all_feasible_;
  std::vector<Score> totals_;
};

}  // namespace berth
