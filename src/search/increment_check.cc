#include "search/increment_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace berth {
namespace {

// The row's last entry in the log of changed rows.
std::string last_change(const NodeTable& nodes, NodeRow row) {
  constexpr std::pair<RowChange, const char*> kNames[] = {
      {RowChange::kPods, "pods"},     {RowChange::kAllocatable, "allocatable"},
      {RowChange::kLabels, "labels"}, {RowChange::kTaints, "taints"},
      {RowChange::kOther, "other"},   {RowChange::kMembership, "membership"}};
  for (std::uint64_t position = nodes.log_end(); position > 0; --position) {
    const auto changes = nodes.changes_since(position - 1);
    if (!changes) break;
    if (changes->front().row != row) continue;
    std::vector<std::string> names;
    for (const auto& [change, name] : kNames)
      if (changes->front().changes & static_cast<std::uint8_t>(change)) names.emplace_back(name);
    return fmt::format("its last change, {} entries ago: {}", nodes.log_end() - position,
                       fmt::join(names, ", "));
  }
  return "it has not changed of late";
}

std::string scores_in_words(const Cycle& cycle, const Framework& framework, const NodeSet& feasible,
                            NodeRow row) {
  std::vector<std::string> parts;
  std::vector<Score> totals(cycle.nodes().rows());
  const Outcome scored =
      framework.run_scores(cycle, feasible, totals, [&](const PluginScores& scores) {
        parts.push_back(fmt::format("{} {}", scores.plugin->name(), scores.weighted[row]));
      });
  return scored.ok() ? fmt::format("{}", fmt::join(parts, ", ")) : scored.message();
}

}  // namespace

std::optional<std::string> find_difference(const Cycle& cycle, const Framework& framework,
                                           const Evaluation& kept, const NodeSet& feasible,
                                           std::span<const Score> totals) {
  const NodeTable& nodes = cycle.nodes();
  const auto about = [&](NodeRow row, const std::string& what) {
    return fmt::format("pod {}, node {}: {}; {}", cycle.pod().full_name(), nodes.name_text(row),
                       what, last_change(nodes, row));
  };
  for (NodeRow row = 0; row < nodes.rows(); ++row) {
    if (kept.feasible.contains(row) == feasible.contains(row)) continue;
    if (feasible.contains(row)) return about(row, "kept as rejected, but it fits");
    const Outcome why = framework.explain(cycle, cycle.scratch()->verdicts[row]);
    return about(row, fmt::format("kept as fitting, but {} says: {}", why.plugin, why.message()));
  }
  if (!kept.verdicts.empty())
    for (const NodeRow row : nodes.order()) {
      if (!nodes.has_node(row)) continue;
      const Status& before = kept.verdicts[row];
      const Status& now = cycle.scratch()->verdicts[row];
      if (before.code == now.code && before.plugin == now.plugin && before.reason == now.reason &&
          (now.reason == Status::kListed ? kept.listed_reasons[before.argument] ==
                                               cycle.scratch()->listed_reasons[now.argument]
                                         : before.argument == now.argument))
        continue;
      const Outcome why = framework.explain(cycle, now);
      return about(row, fmt::format("kept with another verdict than that of {}: {}", why.plugin,
                                    why.message()));
    }
  if (feasible.count() < 2) return std::nullopt;
  for (NodeRow row = 0; row < nodes.rows(); ++row)
    if (feasible.contains(row) && kept.totals[row] != totals[row])
      return about(row, fmt::format("kept total {}, but it is {} ({})", kept.totals[row],
                                    totals[row], scores_in_words(cycle, framework, feasible, row)));
  return std::nullopt;
}

}  // namespace berth
