#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "explain/decision_text.h"
#include "explain/paragraphs.h"

namespace berth::explain {
namespace {

// The best nodes side by side, a line per plugin.
std::string score_table(const PodDecision& decision) {
  std::vector<std::pair<std::string, std::int64_t>> nodes(decision.totals.begin(),
                                                          decision.totals.end());
  std::ranges::sort(nodes, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> plugins;
  if (const auto found = decision.scores.find(decision.chosen); found != decision.scores.end())
    for (const auto& [plugin, score] : found->second) plugins.push_back(plugin);
  std::size_t label = std::string_view("total").size();
  for (const std::string& plugin : plugins) label = std::max(label, plugin.size());

  std::vector<std::size_t> widths;
  std::size_t used = 4 + label;
  for (const auto& [node, total] : nodes) {
    const std::size_t width = std::max(node.size(), std::to_string(total).size());
    if (!widths.empty() && used + 2 + width > kWidth) break;
    widths.push_back(width);
    used += 2 + width;
  }
  const auto line = [&](std::string_view name, const auto& cell) {
    std::string text = fmt::format("    {:<{}}", name, label);
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += fmt::format("  {:>{}}", cell(nodes[i]), widths[i]);
    return text + '\n';
  };
  std::string text = line("", [](const auto& node) { return node.first; });
  for (const std::string& plugin : plugins)
    text += line(plugin, [&](const auto& node) {
      return std::to_string(decision.scores.at(node.first).at(plugin));
    });
  text += line("total", [](const auto& node) { return std::to_string(node.second); });
  if (widths.size() < nodes.size())
    text +=
        fmt::format("    and {} with lower scores\n", plural(nodes.size() - widths.size(), "node"));
  return text;
}

// Nodes by what was said about them, the most common first.
std::string rejections(const PodDecision& decision) {
  using Verdicts = std::vector<Verdict>;
  std::map<Verdicts, std::vector<std::string>> by_verdicts;
  for (const auto& [node, first] : decision.rejected) {
    Verdicts verdicts{first};
    if (const auto others = decision.also_rejected.find(node);
        others != decision.also_rejected.end())
      verdicts.insert(verdicts.end(), others->second.begin(), others->second.end());
    by_verdicts[verdicts].push_back(node);
  }
  std::vector<std::pair<Verdicts, std::vector<std::string>>> groups(by_verdicts.begin(),
                                                                    by_verdicts.end());
  std::ranges::sort(groups, [](const auto& a, const auto& b) {
    return a.second.size() != b.second.size() ? a.second.size() > b.second.size()
                                              : a.first < b.first;
  });
  std::string text;
  for (const auto& [verdicts, nodes] : groups) {
    std::string head = fmt::format("    {:>4}  ", nodes.size());
    for (const Verdict& verdict : verdicts) {
      const bool helpless = verdict.code == Code::kUnschedulableAndUnresolvable;
      const std::string why =
          fmt::format("{}: {}{}", verdict.plugin, fmt::join(verdict.reasons, ", "),
                      helpless ? " (preemption cannot help)" : "");
      text += wrapped(head, words_of(why), 10);
      head.assign(10, ' ');
    }
    text += wrapped(std::string(10, ' '), listed(nodes), 10);
  }
  return text;
}

std::string preemption(const PreemptionOutcome& preempt) {
  if (preempt.node.empty()) return {};  // why not is part of the pod's message
  return wrapped(fmt::format("  preemption makes room on {} by evicting {}: ", preempt.node,
                             plural(preempt.victims.size(), "pod")),
                 listed(preempt.victims));
}

}  // namespace

std::string to_paragraph(const PodDecision& decision) {
  std::string text =
      fmt::format("{}  ->  {}\n", decision.pod,
                  !decision.chosen.empty() ? decision.chosen : std::string("no node"));
  if (!decision.error.empty()) text += wrapped("  failed: ", words_of(decision.error));
  if (decision.pre_filter)
    text += wrapped(
        fmt::format("  PreFilter{}{} turned it away: ",
                    decision.pre_filter->plugin.empty() ? "" : " of ", decision.pre_filter->plugin),
        words_of(fmt::format("{}", fmt::join(decision.pre_filter->reasons, ", "))));
  if (decision.narrowed)
    text += wrapped(fmt::format("  {} left {} of {}: ", fmt::join(decision.narrowed->by, ", "),
                                decision.narrowed->to.size(), plural(decision.all_nodes, "node")),
                    listed(decision.narrowed->to));
  if (!decision.totals.empty()) {
    text += fmt::format("  {} of {} fit{}{}\n", decision.totals.size(),
                        plural(decision.all_nodes, "node"), decision.totals.size() == 1 ? "s" : "",
                        decision.best.size() > 1
                            ? fmt::format(", {} equally well", decision.best.size())
                            : std::string());
    text += score_table(decision);
  } else if (!decision.chosen.empty()) {
    text +=
        fmt::format("  1 of {} fits; nothing to choose from\n", plural(decision.all_nodes, "node"));
  }
  if (!decision.rejected.empty()) {
    text += fmt::format("  {} of {} {} not\n", decision.rejected.size(),
                        plural(decision.all_nodes, "node"),
                        decision.rejected.size() == 1 ? "does" : "do");
    text += rejections(decision);
  }
  if (!decision.message.empty()) text += wrapped("  ", words_of(decision.message));
  if (!decision.unschedulable_plugins.empty())
    text += wrapped("  rejected by: ", listed(decision.unschedulable_plugins));
  if (!decision.pending_plugins.empty())
    text += wrapped("  pending at: ", listed(decision.pending_plugins));
  if (decision.preempt) text += preemption(*decision.preempt);
  return text;
}

std::string to_table(std::span<const PodDecision> decisions) {
  std::string text;
  std::size_t placed = 0;
  for (const PodDecision& decision : decisions) {
    text += to_paragraph(decision) + '\n';
    if (!decision.chosen.empty()) ++placed;
  }
  return text + fmt::format("{}: {} with a node, {} without\n",
                            plural(decisions.size(), "pending pod"), placed,
                            decisions.size() - placed);
}

}  // namespace berth::explain
