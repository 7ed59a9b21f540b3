// The placements of a group (TopologyAwareWorkloadScheduling): each is tried, and the best of those
// that are feasible is taken.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cycle/group_run.h"

namespace berth {

Task<Outcome> GroupRun::decide_among_placements() {
  const NodeTable& nodes = with_.cluster.nodes();
  std::vector<Placement> placements{{"", nodes.nodes()}};
  const auto& generators = framework().plugins().placement_generate;
  if (!generators.empty()) {
    PlacementGeneratePlugin::Generated generated =
        generators.front()->generate(*group_, state_, with_.cluster);
    if (!generated.outcome.ok()) co_return std::move(generated.outcome);
    placements = std::move(generated.placements);
  }
  if (placements.empty())
    co_return Outcome::of(Code::kUnschedulable, "no feasible placements found");

  const auto& scorers = framework().plugins().placement_score;
  std::vector<std::size_t> feasible;
  std::vector<std::vector<Score>> raw(scorers.size());
  std::optional<Outcome> first;
  std::vector<Try> said_first;
  for (std::size_t at = 0; at < placements.size(); ++at) {
    const bool everywhere = placements[at].nodes.count() == nodes.node_count();
    Task<Outcome> trying = try_members(everywhere ? nullptr : &placements[at].nodes);
    Outcome verdict = co_await trying;
    if (verdict.code == Code::kError) co_return verdict;
    if (verdict.ok()) {
      if (placements.size() == 1) co_return verdict;
      feasible.push_back(at);
      show_members();
      const auto placed = static_cast<std::size_t>(std::ranges::count_if(
          members_, [](const Member& member) { return member.row != kNoRow; }));
      undo();
      for (std::size_t i = 0; i < scorers.size(); ++i)
        raw[i].push_back(scorers[i]->score_placement(
            {*group_, placements[at].nodes, scheduled_before() + placed, views_}, with_.cluster));
    }
    if (at > 0) continue;
    first = std::move(verdict);
    said_first = tries();
  }
  if (feasible.empty()) {
    restore(std::move(said_first));
    Outcome none =
        Outcome::of(Code::kUnschedulable,
                    fmt::format("0/{} placements are available, first placement status: {}",
                                placements.size(), first->error.value_or(first->message())));
    none.error = std::string(kGroupUnschedulable);
    co_return none;
  }
  const Placement& best = placements[feasible[best_of(raw)]];
  const bool everywhere = best.nodes.count() == nodes.node_count();
  Task<Outcome> placing = try_members(everywhere ? nullptr : &best.nodes);
  Outcome placed = co_await placing;
  co_return placed;
}

// The highest sum of weighted scores; of equals the first.
std::size_t GroupRun::best_of(std::vector<std::vector<Score>>& raw) const {
  const auto& scorers = framework().plugins().placement_score;
  if (raw.empty()) return 0;
  std::vector<Score> totals(raw.front().size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    scorers[i]->normalize_placements(raw[i]);
    for (std::size_t at = 0; at < totals.size(); ++at)
      totals[at] += std::clamp(raw[i][at], kMinScore, kMaxScore) * scorers[i].weight;
  }
  return static_cast<std::size_t>(std::ranges::max_element(totals) - totals.begin());
}

}  // namespace berth
