#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/time_text.h"
#include "explain/explanation_text.h"
#include "explain/paragraphs.h"

namespace berth::explain {
namespace {

std::string headline(const Explanation& explanation) {
  const std::string& pod = explanation.pod;
  if (explanation.verdict == "Scheduled")
    return fmt::format("{} is on {}\n", pod, explanation.chosen);
  if (explanation.verdict == "Schedulable")
    return fmt::format("{} fits: it would go to {}\n", pod, explanation.chosen);
  if (explanation.verdict == "Gated")
    return fmt::format("{} is gated by {}\n", pod, explanation.gate) +
           (explanation.chosen.empty()
                ? std::string()
                : fmt::format("  without the gate it would go to {}\n", explanation.chosen));
  if (explanation.verdict == "WaitingOnPermit")
    return fmt::format("{} has a place on {}, and is held before binding\n", pod,
                       explanation.chosen);
  if (explanation.verdict == "Error") return fmt::format("{} cannot be judged\n", pod);
  return fmt::format("{} fits on no node\n", pod);
}

std::string rejections(const Explanation& explanation) {
  if (explanation.rejections.empty()) return {};
  std::size_t nodes = 0, width = 0;
  for (const NodeGroup& group : explanation.rejections) {
    nodes += group.nodes.size();
    for (const NodeObstacle& by : group.obstacles) width = std::max(width, by.plugin.size());
  }
  std::string text = fmt::format("\n  Why not on {} of {}, nearest first\n", nodes,
                                 plural(explanation.all_nodes, "node"));
  for (const NodeGroup& group : explanation.rejections) {
    text += wrapped(fmt::format("    {}: ", plural(group.nodes.size(), "node")),
                    listed(group.nodes), 8);
    for (const NodeObstacle& by : group.obstacles) {
      const bool helpless = by.code == Code::kUnschedulableAndUnresolvable;
      text += wrapped(fmt::format("      {:<{}}  ", by.plugin, width),
                      words_of(by.obstacle.text + (helpless ? " (preemption cannot help)" : "")),
                      8 + width);
    }
  }
  return text;
}

std::string suggestions(const Explanation& explanation) {
  std::string text;
  if (!explanation.suggestions.empty()) text += "\n  What would help, cheapest first\n";
  std::size_t number = 0;
  for (const Suggestion& suggestion : explanation.suggestions) {
    text += wrapped(fmt::format("    {}. ", ++number),
                    words_of(fmt::format("{}: it fits on {}", suggestion.summary,
                                         fmt::join(listed(suggestion.nodes), " "))),
                    7);
    if (!suggestion.victims.empty())
      text += wrapped("       evicts ", listed(suggestion.victims), 9);
    for (const std::string& command : suggestion.commands) text += "         " + command + '\n';
  }
  if (!explanation.tried.empty())
    text += "\n" + wrapped("  Tried without success: ",
                           words_of(fmt::format("{}", fmt::join(explanation.tried, ", "))), 4);
  return text;
}

// Nodes side by side, a line per plugin: what counts.
std::string scores(const Explanation& explanation) {
  if (explanation.scores.empty()) return {};
  std::vector<NodeScore> nodes = explanation.scores;
  if (const auto chosen = std::ranges::find(nodes, explanation.chosen, &NodeScore::node);
      chosen != nodes.end())
    std::rotate(nodes.begin(), chosen, chosen + 1);
  std::size_t label = std::string_view("total").size();
  for (const PluginPoints& points : nodes.front().plugins)
    label = std::max(label, points.plugin.size());
  const auto line = [&](std::string_view name, const auto& cell) {
    std::string text = fmt::format("    {:<{}}", name, label);
    for (const NodeScore& score : nodes)
      text += fmt::format("  {:>{}}", cell(score), std::max<std::size_t>(score.node.size(), 5));
    return text + '\n';
  };
  std::string text = "\n  Scores, after normalising and weighting\n";
  text += line("", [](const NodeScore& score) { return score.node; });
  for (std::size_t i = 0; i < nodes.front().plugins.size(); ++i)
    text += line(nodes.front().plugins[i].plugin, [&](const NodeScore& score) {
      return i < score.plugins.size() ? std::to_string(score.plugins[i].weighted)
                                      : std::string("-");
    });
  text += line("total", [](const NodeScore& score) { return std::to_string(score.total); });
  if (explanation.ties.size() > 1)
    text += wrapped("    equally good: ", listed(explanation.ties), 8);
  if (explanation.margin)
    text += fmt::format("    {} more than the next lower total\n", *explanation.margin);
  return text;
}

std::string nominated(const Explanation& explanation) {
  if (explanation.nominated.empty()) return {};
  std::string text = "\n  It would fit if pods that are nominated did not come\n";
  for (const Explanation::Nominated& there : explanation.nominated)
    text += wrapped(fmt::format("    {}: ", there.node), listed(there.pods), 8);
  return text;
}

std::string preemption(const Explanation& explanation) {
  if (!explanation.preemption) return {};
  const Explanation::Preemption& preemption = *explanation.preemption;
  std::string text = "\n";
  if (preemption.node.empty()) {
    constexpr std::string_view kPrefix = "preemption: ";
    const std::string& message = preemption.message;
    text += wrapped(
        "  Preemption does not help: ",
        words_of(message.starts_with(kPrefix) ? message.substr(kPrefix.size()) : message), 4);
  } else {
    text += wrapped(fmt::format("  Preemption makes room on {} by evicting {}: ", preemption.node,
                                plural(preemption.victims.size(), "pod")),
                    listed(preemption.victims), 4);
  }
  for (const Explanation::PreemptionReason& reason : preemption.reasons) {
    text += wrapped(fmt::format("    {}: ", plural(reason.nodes.size(), "node")),
                    listed(reason.nodes), 8);
    text += wrapped("      ", words_of(reason.text), 8);
  }
  return text;
}

std::string wakes(const Explanation& explanation) {
  if (explanation.wakes.empty()) return {};
  std::string text = "\n  Tried again after\n";
  for (const auto& [plugin, events] : explanation.wakes)
    text += wrapped(fmt::format("    {}: ", plugin), listed(events), 8);
  return text;
}

std::string sentence_of(const Explanation::Queue& queue) {
  const auto at = [](const std::optional<WallTime>& time) {
    return time ? rfc3339(*time) : std::string("?");
  };
  if (queue.place == "active") return "is next in the active queue";
  if (queue.place == "backoff") return fmt::format("backs off until {}", at(queue.until));
  if (queue.place == "unschedulable")
    return fmt::format("waits for an event since {}; without one it is tried after {}",
                       at(queue.since), at(queue.until));
  if (queue.place == "gated") return fmt::format("is gated since {}", at(queue.since));
  if (queue.place == "inFlight") return "is being scheduled";
  if (queue.place == "waitingOnPermit") return "is held at Permit";
  if (queue.place == "binding") return "is being bound";
  return "is not in the queue";
}

std::string queue(const Explanation& explanation) {
  std::string text;
  if (const auto& place = explanation.queue) {
    std::string sentence = sentence_of(*place);
    if (place->attempts > 0)
      sentence +=
          fmt::format(", after {}", plural(static_cast<std::size_t>(place->attempts), "attempt"));
    text += "\n" + wrapped("  In the queue: ", words_of("the pod " + sentence), 4);
    if (!place->missed.empty())
      text += wrapped(
          "    came meanwhile, and counts when the attempt ends: ", listed(place->missed), 8);
  }
  if (const auto& permit = explanation.permit) {
    text += fmt::format("\n  Held for node {} since {}\n", permit->node, rfc3339(permit->since));
    for (const Explanation::Permit::Holder& holder : permit->holders)
      text += fmt::format("    {}: until {}, then it rejects the pod\n", holder.plugin,
                          rfc3339(holder.until));
  }
  return text;
}

}  // namespace

std::string to_table(std::span<const Explanation> explanations) {
  std::string text;
  for (const Explanation& explanation : explanations) {
    if (!text.empty()) text += "\n";
    text += headline(explanation);
    if (!explanation.alike.empty())
      text += wrapped(fmt::format("  and {} like it: ", plural(explanation.alike.size(), "pod")),
                      listed(explanation.alike), 4);
    if (!explanation.message.empty()) text += wrapped("  ", words_of(explanation.message), 4);
    for (const std::string& note : explanation.notes)
      text += wrapped("  note: ", words_of(note), 4);
    text += rejections(explanation) + nominated(explanation) + suggestions(explanation) +
            scores(explanation) + preemption(explanation) + queue(explanation) + wakes(explanation);
  }
  return text;
}

}  // namespace berth::explain
