#include "sim/score_margin.h"
#include "base/stable_sort.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace berth::sim {
namespace {

std::string rejection(std::string_view node, const Outcome& by) {
  const std::vector<std::string> reasons = by.all_reasons();
  if (by.plugin.empty()) return fmt::format("{}: {}", node, fmt::join(reasons, ", "));
  return fmt::format("{}: {} ({})", node, fmt::join(reasons, ", "), by.plugin);
}

// What made the difference, the largest part first.
std::string margin(NodeRow wanted, NodeRow chosen, const SearchTrace& trace) {
  std::vector<std::pair<std::string_view, std::int64_t>> parts;
  for (const SearchTrace::Scores& scores : trace.scores) {
    const std::int64_t difference = scores.by_row[wanted].weighted - scores.by_row[chosen].weighted;
    if (difference != 0) parts.emplace_back(scores.name, difference);
  }
  sort_stably(parts,
              [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  std::vector<std::string> texts;
  for (const auto& [plugin, difference] : parts)
    texts.push_back(fmt::format("{} {:+}", plugin, difference));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string why_not_node(Symbol node, std::string_view name, const NodeTable& nodes,
                         const SearchTrace& trace) {
  const NodeRow row = nodes.find(node);
  if (row == kNoRow) return fmt::format("{} is not there", name);
  if (trace.chosen == row) return {};
  const auto rejected = std::ranges::find(trace.rejected, row, &SearchTrace::Rejected::row);
  if (rejected != trace.rejected.end()) return rejection(name, rejected->by);
  if (trace.pre_filter && trace.pre_filter->rejected()) return rejection(name, *trace.pre_filter);
  if (trace.narrowed && std::ranges::find(trace.narrowed->to, row) == trace.narrowed->to.end())
    return fmt::format("{} is not among the nodes that {} leaves", name,
                       fmt::join(trace.narrowed->by, ", "));
  if (trace.chosen == kNoRow) return trace.outcome.message();
  if (trace.totals.empty()) return fmt::format("{} was not scored", name);
  const std::string_view chosen = nodes.name_text(trace.chosen);
  const std::int64_t total = trace.totals[row];
  if (total == trace.totals[trace.chosen])
    return fmt::format("{} and {} scored {}: drawn among {} equally good nodes", name, chosen,
                       total, trace.best.size());
  return fmt::format("{} scored {}, {} {}: {}", name, total, chosen, trace.totals[trace.chosen],
                     margin(row, trace.chosen, trace));
}

}  // namespace berth::sim
