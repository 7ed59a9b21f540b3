#include "compare/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

namespace berth::compare {
namespace {

const NodeView& view_in(const ProbedDecision& decision, const std::string& node) {
  static const NodeView kNothing;
  const auto found = decision.nodes.find(node);
  return found == decision.nodes.end() ? kNothing : found->second;
}

std::int64_t points_of(const NodeView& view, const std::string& plugin) {
  const auto found = view.points.find(plugin);
  return found == view.points.end() ? 0 : found->second;
}

// The node was chosen on one side; why it was out of the question on the other.
std::optional<Cause> rejected_on(const ProbedDecision& decision, const std::string& node,
                                 const std::string& side) {
  if (node.empty()) return std::nullopt;
  const NodeView& view = view_in(decision, node);
  if (view.verdict == NodeView::Verdict::kFits) return std::nullopt;
  Cause cause;
  if (view.verdict == NodeView::Verdict::kRejected) {
    cause.type = Cause::Type::kFilter;
    cause.plugin = view.plugin;
    cause.text = fmt::format("{} rejects {} on side {}: {}", view.plugin, node, side, view.reason);
    return cause;
  }
  cause.type = Cause::Type::kNotSearched;
  if (!view.there)
    cause.text = fmt::format("there was no node {} on side {} then", node, side);
  else if (!decision.nominated.empty())
    cause.text = fmt::format(
        "on side {} the pod was nominated to {}, which fits, so that {} was not "
        "looked at",
        side, decision.nominated, node);
  else
    cause.text = fmt::format("the search on side {} did not look at {}", side, node);
  return cause;
}

std::string signed_text(std::int64_t points) { return fmt::format("{:+}", points); }

// Both nodes fit on both sides: the points decide.
Cause by_points(const ProbedDecision& there, const ProbedDecision& here, const SideNames& names) {
  const NodeView& there_a = view_in(there, there.chosen);
  const NodeView& there_b = view_in(there, here.chosen);
  const NodeView& here_a = view_in(here, there.chosen);
  const NodeView& here_b = view_in(here, here.chosen);
  const std::int64_t lead_there = there_a.total - there_b.total;
  const std::int64_t lead_here = here_b.total - here_a.total;
  Cause cause;
  if (lead_there == 0 && lead_here == 0) {
    cause.type = Cause::Type::kDraw;
    cause.text =
        fmt::format("{} and {} are equally good on both sides: the draw among equals chose",
                    there.chosen, here.chosen);
    return cause;
  }
  for (const NodeView* view : {&there_a, &there_b, &here_a, &here_b})
    for (const auto& [plugin, points] : view->points) cause.shifts[plugin] = 0;
  std::string strongest;
  for (auto& [plugin, shift] : cause.shifts) {
    shift = points_of(there_a, plugin) - points_of(there_b, plugin) -
            (points_of(here_a, plugin) - points_of(here_b, plugin));
    if (strongest.empty() || shift > cause.shifts.at(strongest)) strongest = plugin;
  }
  std::erase_if(cause.shifts, [](const auto& shift) { return shift.second == 0; });
  cause.type = Cause::Type::kScore;
  cause.plugin = strongest;
  cause.text = fmt::format(
      "{}: {} before {} by {} points on side {}, by {} on side {}; all plugins: {} and {}",
      strongest, there.chosen, here.chosen,
      signed_text(points_of(there_a, strongest) - points_of(there_b, strongest)), names.there,
      signed_text(points_of(here_a, strongest) - points_of(here_b, strongest)), names.here,
      signed_text(lead_there), signed_text(-lead_here));
  if (lead_there == 0)
    cause.text +=
        fmt::format("; on side {} they are equally good, and the draw chose", names.there);
  if (lead_here == 0)
    cause.text += fmt::format("; on side {} they are equally good, and the draw chose", names.here);
  return cause;
}

}  // namespace

std::string_view to_string(Cause::Type type) {
  switch (type) {
    case Cause::Type::kFilter: return "Filter";
    case Cause::Type::kScore: return "Score";
    case Cause::Type::kDraw: return "Draw";
    case Cause::Type::kNotSearched: return "NotSearched";
    case Cause::Type::kOrder: return "Order";
    case Cause::Type::kUnknown: return "Unknown";
  }
  return "";
}

Cause find_cause(const ProbedDecision& there, const ProbedDecision& here, const SideNames& names) {
  if (std::optional<Cause> cause = rejected_on(here, there.chosen, names.here)) return *cause;
  if (std::optional<Cause> cause = rejected_on(there, here.chosen, names.there)) return *cause;
  if (there.chosen.empty() || here.chosen.empty()) {
    // A node fits, and still there is none: a later step has failed.
    Cause cause;
    cause.text = there.chosen.empty() ? there.message : here.message;
    return cause;
  }
  return by_points(there, here, names);
}

std::size_t count_elsewhere(const ProbedDecision& there, const ProbedDecision& here) {
  std::vector<std::uint64_t> only_there, only_here;
  std::ranges::set_difference(there.placements, here.placements, std::back_inserter(only_there));
  std::ranges::set_difference(here.placements, there.placements, std::back_inserter(only_here));
  return std::max(only_there.size(), only_here.size());
}

JsonValue to_json_tree(const Cause& cause) {
  JsonValue json = JsonValue::object();
  json.add("type", JsonValue::of_text(to_string(cause.type)));
  if (!cause.plugin.empty()) json.add("plugin", JsonValue::of_text(cause.plugin));
  json.add("text", JsonValue::of_text(cause.text));
  if (!cause.shifts.empty()) {
    JsonValue shifts = JsonValue::object();
    for (const auto& [plugin, shift] : cause.shifts) shifts.add(plugin, JsonValue::of_int(shift));
    json.add("pointsByPlugin", std::move(shifts));
  }
  return json;
}

}  // namespace berth::compare
