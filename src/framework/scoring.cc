// PreScore and Score: what every plugin thinks of the feasible nodes, weighed and added up.
#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/vector_clones.h"
#include "framework/framework.h"

namespace berth {

Outcome Framework::run_pre_score(Cycle& cycle, const NodeSet& feasible) const {
  const PointTimer timer(measured_, Point::kPreScore);
  Outcome outcome = ask_pre_scores(cycle, feasible);
  timer.ended(outcome.code);
  return outcome;
}

Outcome Framework::ask_pre_scores(Cycle& cycle, const NodeSet& feasible) const {
  cycle.skip_score.clear();
  for (const Placed<PreScorePlugin>& placed : plugins_.pre_score)
    if (Outcome outcome = ask_pre_score(placed, cycle, feasible); !outcome.ok()) return outcome;
  return {};
}

Outcome Framework::ask_pre_score(const Placed<PreScorePlugin>& placed, Cycle& cycle,
                                 const NodeSet& feasible) const {
  const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPreScore);
  Outcome outcome = guarded(*placed.plugin, [&] { return placed->pre_score(cycle, feasible); });
  timer.ended(outcome.code);
  if (outcome.code == Code::kSkip) {
    cycle.skip_score.set(placed.index);
    outcome.code = Code::kSuccess;
    return outcome;
  }
  evaluated(placed.index, Point::kPreScore, 1);
  if (!outcome.ok())
    outcome = wrap_failure(fmt::format("running PreScore plugin \"{}\": ", placed->name()), outcome,
                           placed->name());
  return outcome;
}

namespace {

// Adds the scores, times weight, to the totals and leaves them weighted. False, with nothing
// changed, when one is out of range. For rows that all count.
BERTH_VECTOR_CLONES bool add_weighted(std::int64_t weight, std::size_t rows, Score* scores,
                                      Score* totals) {
  static_assert(kMinScore == 0);
  std::uint64_t out_of_range = 0;
  for (std::size_t i = 0; i < rows; ++i)
    out_of_range |= static_cast<std::uint64_t>(scores[i]) > std::uint64_t{kMaxScore} ? 1 : 0;
  if (out_of_range != 0) return false;
  for (std::size_t i = 0; i < rows; ++i) {
    scores[i] *= weight;
    totals[i] += scores[i];
  }
  return true;
}

// The same for the feasible rows; it ends at the first score that is out of range.
bool add_weighted(std::int64_t weight, const NodeSet& feasible, std::span<Score> scores,
                  std::span<Score> totals) {
  constexpr std::size_t kWord = 64;
  bool in_range = true;
  feasible.for_each_word([&](std::size_t word, std::uint64_t rest) {
    if (!in_range) return;
    const std::size_t first = word * kWord;
    if (rest == ~std::uint64_t{0} && add_weighted(weight, kWord, &scores[first], &totals[first]))
      return;
    for (; rest != 0; rest &= rest - 1) {
      const std::size_t row = first + static_cast<std::size_t>(std::countr_zero(rest));
      in_range = scores[row] >= kMinScore && scores[row] <= kMaxScore;
      if (!in_range) return;
      scores[row] *= weight;
      totals[row] += scores[row];
    }
  });
  return in_range;
}

}  // namespace

// One plugin's scores of the feasible rows, normalised.
Outcome Framework::score_rows(const Placed<ScorePlugin>& placed, const Cycle& cycle,
                              const NodeSet& feasible, std::span<Score> raw) const {
  if (Outcome outcome = ask_score(placed, cycle, feasible, raw); !outcome.ok()) return outcome;
  return ask_normalize(placed, cycle, feasible, raw);
}

Outcome Framework::ask_score(const Placed<ScorePlugin>& placed, const Cycle& cycle,
                             const NodeSet& feasible, std::span<Score> raw) const {
  if (measured_) evaluated(placed.index, Point::kScore, feasible.count());
  const PluginTimer scoring = time_plugin(cycle, placed.index, Point::kScore);
  Outcome outcome = guarded(*placed.plugin, [&] { return placed->score(cycle, feasible, raw); });
  scoring.ended(outcome.code);
  if (!outcome.ok())
    outcome = wrap_failure(
        fmt::format("running Score plugins: plugin \"{}\" failed with: ", placed->name()), outcome,
        placed->name());
  return outcome;
}

Outcome Framework::ask_normalize(const Placed<ScorePlugin>& placed, const Cycle& cycle,
                                 const NodeSet& feasible, std::span<Score> raw) const {
  const PluginTimer normalizing = time_plugin(cycle, placed.index, Point::kScoreExtensionNormalize);
  Outcome outcome =
      guarded(*placed.plugin, [&] { return placed->normalize(cycle, feasible, raw); });
  normalizing.ended(outcome.code);
  if (!outcome.ok())
    outcome =
        wrap_failure(fmt::format("running Normalize on Score plugins: plugin \"{}\" failed with: ",
                                 placed->name()),
                     outcome, placed->name());
  return outcome;
}

// Some score is out of range; this finds the one that upstream would name: of the first node in
// snapshot order, and there of the first plugin. Everything is asked again, for it never happens.
Outcome Framework::invalid_score(const Cycle& cycle, const NodeSet& feasible,
                                 std::span<Score> raw) const {
  const std::span<const NodeRow> order = cycle.nodes().order();
  std::size_t first = order.size();
  Outcome found = Outcome::failure("a score is out of range");
  for (const Placed<ScorePlugin>& placed : plugins_.score) {
    if (cycle.skip_score.test(placed.index)) continue;
    if (Outcome outcome = score_rows(placed, cycle, feasible, raw); !outcome.ok()) return outcome;
    for (std::size_t i = 0; i < first; ++i) {
      if (!feasible.contains(order[i])) continue;
      const Score score = raw[order[i]];
      if (score >= kMinScore && score <= kMaxScore) continue;
      first = i;
      found =
          Outcome::failure(
              fmt::format("applying score defaultWeights on Score plugins: plugin \"{}\" returns"
                          " an invalid score {}, it should in the range of [0, 100] after"
                          " normalizing",
                          placed->name(), score))
              .by(placed->name());
    }
  }
  return found;
}

Outcome Framework::run_scores(const Cycle& cycle, const NodeSet& feasible, std::span<Score> totals,
                              const ScoreVisitor& visit) const {
  const PointTimer timer(measured_, Point::kScore);
  Outcome outcome = ask_scores(cycle, feasible, totals, visit);
  timer.ended(outcome.code);
  return outcome;
}

Outcome Framework::ask_scores(const Cycle& cycle, const NodeSet& feasible, std::span<Score> totals,
                              const ScoreVisitor& visit) const {
  feasible.for_each([&](NodeRow row) { totals[row] = 0; });
  raw_scores_.resize(totals.size());
  const std::span<Score> scores(raw_scores_);
  std::vector<Score> raw, normalized;  // copies for the visitor
  for (const Placed<ScorePlugin>& placed : plugins_.score) {
    if (cycle.skip_score.test(placed.index)) continue;
    if (Outcome outcome = ask_score(placed, cycle, feasible, scores); !outcome.ok()) return outcome;
    if (visit) raw = raw_scores_;
    if (Outcome outcome = ask_normalize(placed, cycle, feasible, scores); !outcome.ok())
      return outcome;
    if (visit) normalized = raw_scores_;
    if (!add_weighted(placed.weight, feasible, scores, totals))
      return invalid_score(cycle, feasible, scores);
    if (visit) visit({placed.plugin, raw, normalized, scores});
  }
  return {};
}

}  // namespace berth
