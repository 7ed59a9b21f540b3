#include "capacity/more_fit_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::capacity {
namespace {

constexpr std::size_t kShownLacks = 5;

JsonValue number(std::int64_t value) { return JsonValue::of_int(value); }
JsonValue number(std::size_t value) { return JsonValue::of_int(static_cast<std::int64_t>(value)); }

std::string_view type_text(Ending::Type type) {
  switch (type) {
    case Ending::Type::kUnschedulable: return "Unschedulable";
    case Ending::Type::kLimitReached: return "LimitReached";
    case Ending::Type::kError: return "SchedulerError";
  }
  return "";
}

JsonValue summary_json(const Ending& ending) {
  JsonValue summary = JsonValue::array();
  for (const auto& [reason, count] : ending.reasons) {
    JsonValue item = JsonValue::object();
    item.add("reason", JsonValue::of_text(reason));
    item.add("count", number(count));
    summary.items.push_back(std::move(item));
  }
  return summary;
}

JsonValue shape_json(const ShapeCount& shape, const Ending& ending) {
  JsonValue json = JsonValue::object();
  json.add("podName", JsonValue::of_text(shape.name));
  json.add("ratio", number(shape.in_round));
  json.add("replicas", number(shape.pods));
  JsonValue nodes = JsonValue::array();
  for (const auto& [node, pods] : shape.by_node) {
    JsonValue item = JsonValue::object();
    item.add("nodeName", JsonValue::of_text(node));
    item.add("replicas", number(pods));
    nodes.items.push_back(std::move(item));
  }
  json.add("replicasOnNodes", std::move(nodes));
  if (ending.shape == shape.name && !ending.reasons.empty())
    json.add("failSummary", summary_json(ending));
  return json;
}

JsonValue lack_json(const Lack& lack) {
  JsonValue json = JsonValue::object();
  json.add("plugin", JsonValue::of_text(lack.plugin));
  json.add(lack.resource ? "resource" : "obstacle", JsonValue::of_text(lack.subject));
  json.add("nodes", number(lack.nodes));
  json.add("nodesLackingNothingElse", number(lack.alone));
  return json;
}

JsonValue ending_json(const Ending& ending) {
  JsonValue json = JsonValue::object();
  json.add("failType", JsonValue::of_text(type_text(ending.type)));
  json.add("failMessage", JsonValue::of_text(ending.message));
  if (!ending.shape.empty()) json.add("podName", JsonValue::of_text(ending.shape));
  if (!ending.plugins.empty()) {
    JsonValue plugins = JsonValue::object();
    for (const auto& [plugin, nodes] : ending.plugins) plugins.add(plugin, number(nodes));
    json.add("nodesRejectedBy", std::move(plugins));
  }
  return json;
}

std::string lack_line(const Lack& lack, std::size_t nodes) {
  std::string line =
      fmt::format("{} ({}) on {} of {} nodes", lack.subject, lack.plugin, lack.nodes, nodes);
  if (lack.alone > 0)
    line += lack.alone == lack.nodes ? ", which lack nothing else"
                                     : fmt::format(", {} of which lack nothing else", lack.alone);
  return line;
}

std::string headline(const MoreFit& fit) {
  if (fit.shapes.size() == 1)
    return fmt::format("{} more pods like {} fit", fit.pods, fit.shapes.front().name);
  std::vector<std::string> parts, ratio;
  for (const ShapeCount& shape : fit.shapes) {
    parts.push_back(fmt::format("{} like {}", shape.pods, shape.name));
    ratio.push_back(std::to_string(shape.in_round));
  }
  return fmt::format("{} more pods fit at {}: {}; {} complete rounds", fit.pods,
                     fmt::join(ratio, ":"), fmt::join(parts, ", "), fit.rounds);
}

std::string distribution(const MoreFit& fit) {
  std::vector<std::pair<std::string, std::string>> names{{"POD", "NODE"}};
  std::vector<std::string> counts{"PODS"};
  for (const ShapeCount& shape : fit.shapes)
    for (const auto& [node, pods] : shape.by_node) {
      names.emplace_back(shape.name, node);
      counts.push_back(std::to_string(pods));
    }
  if (counts.size() == 1) return "";
  std::size_t pod_width = 0, node_width = 0;
  for (const auto& [pod, node] : names) {
    pod_width = std::max(pod_width, pod.size());
    node_width = std::max(node_width, node.size());
  }
  std::string text = "\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{:<{}}  {:<{}}  {:>5}\n", names[i].first, pod_width, names[i].second,
                        node_width, counts[i]);
  return text;
}

}  // namespace

JsonValue to_json_tree(const MoreFit& fit) {
  JsonValue status = JsonValue::object();
  status.add("replicas", number(fit.pods));
  status.add("rounds", number(fit.rounds));
  status.add("nodes", number(fit.nodes));
  status.add("failReason", ending_json(fit.ending));
  JsonValue lacks = JsonValue::array();
  for (const Lack& lack : fit.ending.lacks) lacks.items.push_back(lack_json(lack));
  if (!lacks.items.empty()) {
    status.add("bottleneck", lacks.items.front());
    status.add("lacking", std::move(lacks));
  }
  JsonValue pods = JsonValue::array();
  for (const ShapeCount& shape : fit.shapes) pods.items.push_back(shape_json(shape, fit.ending));
  status.add("pods", std::move(pods));
  JsonValue json = JsonValue::object();
  json.add("status", std::move(status));
  return json;
}

std::string to_table(const MoreFit& fit) {
  const Ending& ending = fit.ending;
  std::string text = headline(fit) + "\n" + distribution(fit) + "\n";
  if (ending.type == Ending::Type::kLimitReached)
    return text + fmt::format("Ended by --max: {}\n", ending.message);
  text += fmt::format("Ended because {} {}\n  {}\n", ending.shape,
                      ending.type == Ending::Type::kError ? "failed" : "fits on no node",
                      ending.message);
  for (const auto& [plugin, nodes] : ending.plugins)
    text += fmt::format("  {} rejects {} of {} nodes\n", plugin, nodes, fit.nodes);
  if (ending.lacks.empty()) return text;
  text += fmt::format("Bottleneck: {}\n", lack_line(ending.lacks.front(), fit.nodes));
  for (std::size_t i = 1; i < std::min(ending.lacks.size(), kShownLacks); ++i)
    text += fmt::format("  also lacking: {}\n", lack_line(ending.lacks[i], fit.nodes));
  if (ending.lacks.size() > kShownLacks)
    text += fmt::format("  and {} more\n", ending.lacks.size() - kShownLacks);
  return text;
}

}  // namespace berth::capacity
