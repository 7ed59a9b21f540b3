#include "search/class_search.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace berth {

PodClass* ClassSearch::class_of(const Framework& framework, const PodSpec& spec,
                                const PodMeta& meta) {
  const std::size_t hash = PodClass::hash_of(framework, spec, meta);
  if (PodClass* found = classes_.find(
          hash, [&](const PodClass& known) { return known.is_of(framework, spec, meta); }))
    return found;
  if (seen_before_.insert(hash)) return nullptr;  // the first pod of its class
  return &classes_.insert(hash, std::make_unique<PodClass>(framework, spec, meta, asked_));
}

// The pod's spec without its group. No Filter or Score plugin asks which group it is, and a gang of
// three would otherwise be a class of its own.
const PodSpec& ClassSearch::without_group(const Pod& pod) {
  if (last_of_group_ == pod.spec_ref()) return *last_groupless_;
  auto spec = make_ref<PodSpec>(pod.spec());
  spec->scheduling_group = {};
  const std::size_t hash = hash_of(*spec);
  last_of_group_ = pod.spec_ref();
  const auto [first, end] = groupless_.equal_range(hash);
  for (auto known = first; known != end; ++known)
    if (*known->second == *spec) return *(last_groupless_ = known->second);
  if (groupless_.size() == kMostGroupless) groupless_.clear();
  last_groupless_ = groupless_.emplace(hash, std::move(spec))->second;
  return *last_groupless_;
}

bool ClassSearch::can_keep(Cycle& cycle, const Framework& framework) try {
  const auto declares = [](const Plugin& plugin) {
    return plugin.dependence() != Dependence::kAnything;
  };
  for (const Placed<FilterPlugin>& placed : framework.plugins().filter)
    if (!cycle.skip_filter.test(placed.index) && !declares(*placed.plugin)) return false;
  RowKeys keys;
  return std::ranges::all_of(framework.plugins().score, [&](const Placed<ScorePlugin>& placed) {
    switch (placed->dependence()) {
      case Dependence::kDomain:
      case Dependence::kObjects: return true;
      case Dependence::kRow: placed->score_keys(cycle, keys); break;
      case Dependence::kAnything:
        if (!cycle.skip_filter.test(placed.index) || !placed->score_keys(cycle, keys)) return false;
    }
    return keys.labels.empty() && keys.numbers.empty();
  });
} catch (...) {  // a plugin's: it is asked about every row, where its errors are the pod's
  return false;
}

std::optional<ClassSearch::Choice> ClassSearch::run(Cycle& cycle, const Framework& framework,
                                                    Evaluation* evaluation, bool groups_alike) {
  // Pods with resources in their status never share a class.
  const PodExtra* const extra = cycle.pod().extra();
  if ((extra && extra->has_resources()) || framework.plugins().score.empty() ||
      !can_keep(cycle, framework))
    return std::nullopt;
  const Pod& pod = cycle.pod();
  PodClass* const kept =
      class_of(framework, groups_alike ? without_group(pod) : pod.spec(), pod.meta());
  if (!kept || kept->is_nominated(cycle.pod()) || !kept->catch_up(cycle, cluster_))
    return std::nullopt;
  hidden_.clear();
  std::optional<Choice> found;
  if (kept->is_final()) {
    found = kept->fits().empty() ? no_feasible_node(cycle, *kept, evaluation)
                                 : choose(cycle, framework, *kept);
    if (found && found->feasible == 0) return found;
  } else if (hide_rows_full_of_nominated(cycle, framework, *kept))
    found = choose(cycle, framework, *kept);
  if (found && evaluation) copy_verdicts(*kept, *evaluation);
  for (const Hidden& hidden : hidden_) kept->show(hidden.row, hidden.score);
  return found;
}

std::optional<ClassSearch::Choice> ClassSearch::no_feasible_node(Cycle& cycle, PodClass& kept,
                                                                 Evaluation* evaluation) {
  if (!kept.write_verdicts(cycle, cluster_)) return std::nullopt;
  if (evaluation) {
    *evaluation = {NodeSet(cluster_.nodes().rows()), {}, {}, kept.listed_reasons()};
    evaluation->verdicts.assign(kept.verdicts().begin(), kept.verdicts().end());
  }
  return Choice{};
}

bool ClassSearch::hide_rows_full_of_nominated(Cycle& cycle, const Framework& framework,
                                              PodClass& kept) {
  const Nominator& nominator = framework.nominator();
  const Pod& pod = cycle.pod();
  for (const Symbol node : nominator.nominated_nodes()) {
    const NodeRow row = cluster_.nodes().find(node);
    if (row == kNoRow || !kept.fits().contains(row)) continue;
    const std::vector<Ref<const Pod>> nominated = nominator.nominated_pods(node);
    if (std::ranges::none_of(nominated, [&](const Ref<const Pod>& other) {
          return other->priority() >= pod.priority() && other->uid() != pod.uid();
        }))
      continue;
    const Result<Status> status = framework.filter_row_with_nominated(cycle, cluster_, row);
    if (!status || !(status->ok() || is_rejected(status->code))) return false;
    if (status->ok()) continue;
    hidden_.push_back({row, kept.tree().scores()[row]});
    kept.hide(row);
  }
  return true;
}

std::optional<ClassSearch::Choice> ClassSearch::choose(Cycle& cycle, const Framework& framework,
                                                       PodClass& kept) {
  const std::size_t rows = cluster_.nodes().rows();
  feasible_.reserve_rows(rows);
  if (totals_.size() < rows) totals_.resize(rows);
  return kept.grouped() ? among_groups(cycle, framework, kept) : among_rows(cycle, framework, kept);
}

std::optional<ClassSearch::Choice> ClassSearch::among_groups(Cycle& cycle,
                                                             const Framework& framework,
                                                             PodClass& kept) {
  const ScoreTree& tree = kept.tree();
  feasible_.clear();
  std::size_t sampled = 0;
  for (std::size_t g = 0; g < tree.groups(); ++g)
    if (const auto group = static_cast<ScoreTree::Group>(g); tree.scored(group) > 0) {
      feasible_.insert(kept.sample(group));
      ++sampled;
    }
  if (!ask_other_filters(cycle, framework, feasible_)) return std::nullopt;
  Choice found;
  std::size_t left = 0;
  std::array<ScoreTree::Group, ScoreTree::kMaxGroups> best;
  feasible_.for_each([&](NodeRow row) {
    best[left++] = tree.group(row);
    found.feasible += tree.scored(tree.group(row));
  });
  if (found.feasible == 0) return std::nullopt;
  if (found.feasible == 1) {
    found.row = tree.nth_best(std::span(best).first(left), 0);
    return found;
  }
  feasible_.for_each([&](NodeRow row) { totals_[row] = 0; });
  const NodeSet* rows = &feasible_;
  if (kept.goes_by_numbers()) {
    // Such plugins may use how many rows are feasible, not only which groups there are.
    rows = &kept.fits();
    if (left < sampled) rows = &in_groups(kept, std::span(best).first(left));
  }
  if (!ask_other_scores(cycle, framework, kept, *rows, feasible_)) return std::nullopt;
  Maxima maxima;
  std::size_t count = 0;
  feasible_.for_each([&](NodeRow row) {
    const ScoreTree::Best& own = tree.best(tree.group(row));
    const std::int64_t total = totals_[row] + own.score;
    if (total > maxima.total) count = 0;
    maxima.add(total, own.rows);
    if (total == maxima.total) best[count++] = tree.group(row);
  });
  found.total = maxima.total;
  found.row = tree.nth_best(std::span(best).first(count), maxima.draw(random_));
  return found;
}

const NodeSet& ClassSearch::in_groups(const PodClass& kept,
                                      std::span<const ScoreTree::Group> groups) {
  std::uint64_t wanted = 0;
  static_assert(ScoreTree::kMaxGroups == 64);
  for (const ScoreTree::Group group : groups) wanted |= std::uint64_t{1} << group;
  all_feasible_ = kept.fits();
  kept.fits().for_each([&](NodeRow row) {
    if ((wanted >> kept.tree().group(row) & 1) == 0) all_feasible_.erase(row);
  });
  return all_feasible_;
}

std::optional<ClassSearch::Choice> ClassSearch::among_rows(Cycle& cycle, const Framework& framework,
                                                           PodClass& kept) {
  feasible_ = kept.fits();
  if (!ask_other_filters(cycle, framework, feasible_)) return std::nullopt;
  Choice found;
  found.feasible = feasible_.count();
  if (found.feasible == 0) return std::nullopt;
  if (found.feasible == 1) {
    found.row = feasible_.first();
    return found;
  }
  const std::span<const std::int32_t> own = kept.tree().scores();
  feasible_.for_each([&](NodeRow row) { totals_[row] = own[row]; });
  if (!ask_other_scores(cycle, framework, kept, feasible_, feasible_)) return std::nullopt;
  const Selection selected = select(feasible_, totals_, random_);
  found.row = selected.row;
  found.total = selected.total;
  return found;
}

bool ClassSearch::ask_other_filters(const Cycle& cycle, const Framework& framework, NodeSet& rows) {
  bool all_decided = true;
  for (const Placed<FilterPlugin>& placed : framework.plugins().filter) {
    if (is_row_plugin(*placed.plugin) || cycle.skip_filter.test(placed.index)) continue;
    looked_at_ = rows;
    framework.ask_filter(placed, cycle, rows);
    looked_at_ -= rows;
    looked_at_.for_each(
        [&](NodeRow row) { all_decided &= is_rejected(cycle.scratch()->verdicts[row].code); });
  }
  return all_decided;
}

bool ClassSearch::ask_other_scores(Cycle& cycle, const Framework& framework, const PodClass& kept,
                                   const NodeSet& feasible, const NodeSet& rows) {
  for (const Placed<PreScorePlugin>& placed : framework.plugins().pre_score)
    if (!is_row_plugin(*placed.plugin) && !framework.ask_pre_score(placed, cycle, feasible).ok())
      return false;
  if (!normalize_kept(cycle, framework, kept, rows)) return false;
  std::vector<Score>& scores = cycle.scratch()->scores;
  for (const Placed<ScorePlugin>& placed : framework.plugins().score) {
    if (is_row_plugin(*placed.plugin) || cycle.skip_score.test(placed.index)) continue;
    if (!framework.ask_score(placed, cycle, rows, scores).ok() ||
        !framework.ask_normalize(placed, cycle, rows, scores).ok() || !add(placed, rows, scores))
      return false;
  }
  return true;
}

bool ClassSearch::normalize_kept(const Cycle& cycle, const Framework& framework,
                                 const PodClass& kept, const NodeSet& rows) {
  std::vector<Score>& scores = cycle.scratch()->scores;
  for (const PodClass::Unscaled& unscaled : kept.unscaled()) {
    if (unscaled.is_uniform()) {  // the same for all rows
      const NodeRow first = rows.first();
      looked_at_.clear();
      looked_at_.reserve_rows(cluster_.nodes().rows());
      looked_at_.insert(first);
      scores[first] = unscaled.at(first);
      if (!framework.ask_normalize(*unscaled.plugin, cycle, looked_at_, scores).ok()) return false;
      const Score score = scores[first];
      rows.for_each([&](NodeRow row) { scores[row] = score; });
    } else {
      rows.for_each([&](NodeRow row) { scores[row] = unscaled.at(row); });
      if (!framework.ask_normalize(*unscaled.plugin, cycle, rows, scores).ok()) return false;
    }
    if (!add(*unscaled.plugin, rows, scores)) return false;
  }
  return true;
}

void ClassSearch::copy_verdicts(const PodClass& kept, Evaluation& evaluation) const {
  const ScoreTree& tree = kept.tree();
  evaluation.verdicts.clear();
  evaluation.feasible = NodeSet(cluster_.nodes().rows());
  evaluation.totals.assign(cluster_.nodes().rows(), 0);
  kept.fits().for_each([&](NodeRow row) {
    const NodeRow asked = kept.grouped() ? kept.sample(tree.group(row)) : row;
    if (!feasible_.contains(asked)) return;
    evaluation.feasible.insert(row);
    evaluation.totals[row] = kept.grouped() ? totals_[asked] + tree.scores()[row] : totals_[row];
  });
}

bool ClassSearch::add(const Placed<ScorePlugin>& placed, const NodeSet& rows,
                      std::span<const Score> scores) {
  bool in_range = true;
  rows.for_each([&](NodeRow row) {
    in_range &= scores[row] >= kMinScore && scores[row] <= kMaxScore;
    totals_[row] += scores[row] * placed.weight;
  });
  return in_range;
}

}  // namespace berth
