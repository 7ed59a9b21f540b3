#include <utility>

#include "base/time_text.h"
#include "explain/explanation_text.h"
#include "wire/json_text.h"

namespace berth::explain {
namespace {

void add_text(JsonValue& object, std::string_view name, std::string_view text) {
  if (!text.empty()) object.add(name, JsonValue::of_text(text));
}

void add_texts(JsonValue& object, std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  JsonValue list = JsonValue::array();
  for (const std::string& text : texts) list.items.push_back(JsonValue::of_text(text));
  object.add(name, std::move(list));
}

template <typename T, typename ToTree>
void add_list(JsonValue& object, std::string_view name, const std::vector<T>& things,
              ToTree to_tree) {
  if (things.empty()) return;
  JsonValue list = JsonValue::array();
  for (const T& thing : things) list.items.push_back(to_tree(thing));
  object.add(name, std::move(list));
}

JsonValue tree_of(const NodeObstacle& by) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "plugin", by.plugin);
  add_text(tree, "code", by.obstacle.code);
  add_text(tree, "reason", by.obstacle.reason);
  add_text(tree, "subject", by.obstacle.subject);
  add_text(tree, "text", by.obstacle.text);
  if (!by.obstacle.facts.empty()) {
    JsonValue facts = JsonValue::object();
    for (const auto& [name, value] : by.obstacle.facts) facts.add(name, JsonValue::of_text(value));
    tree.add("facts", std::move(facts));
  }
  add_text(tree, "status", to_string(by.code));
  if (by.pre_filter) tree.add("preFilter", JsonValue::of_bool(true));
  return tree;
}

JsonValue tree_of(const NodeGroup& group) {
  JsonValue tree = JsonValue::object();
  add_texts(tree, "nodes", group.nodes);
  add_list(tree, "plugins", group.obstacles, [](const NodeObstacle& by) { return tree_of(by); });
  return tree;
}

JsonValue tree_of(const Change& change) {
  JsonValue tree = JsonValue::object();
  if (change.op == Change::Op::kCreate) {
    add_text(tree, "op", "create");
    tree.add("object", change.value);
    return tree;
  }
  const bool patch = change.op == Change::Op::kPatch;
  add_text(tree, "op", patch ? "patch" : "delete");
  add_text(tree, "kind", change.kind);
  add_text(tree, "namespace", change.namespace_name);
  add_text(tree, "name", change.name);
  if (patch) tree.add("patch", change.value);
  return tree;
}

JsonValue tree_of(const Suggestion& suggestion) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "code", suggestion.code);
  add_text(tree, "summary", suggestion.summary);
  tree.add("cost", JsonValue::of_number(go_float(suggestion.cost)));
  add_texts(tree, "nodes", suggestion.nodes);
  add_list(tree, "changes", suggestion.changes,
           [](const Change& change) { return tree_of(change); });
  add_texts(tree, "commands", suggestion.commands);
  add_texts(tree, "victims", suggestion.victims);
  return tree;
}

JsonValue tree_of(const NodeScore& score) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "node", score.node);
  tree.add("total", JsonValue::of_int(score.total));
  add_list(tree, "plugins", score.plugins, [](const PluginPoints& points) {
    JsonValue of_plugin = JsonValue::object();
    add_text(of_plugin, "plugin", points.plugin);
    of_plugin.add("raw", JsonValue::of_int(points.raw));
    of_plugin.add("normalized", JsonValue::of_int(points.normalized));
    of_plugin.add("weighted", JsonValue::of_int(points.weighted));
    return of_plugin;
  });
  return tree;
}

JsonValue tree_of(const Explanation::Preemption& preemption) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "node", preemption.node);
  add_texts(tree, "victims", preemption.victims);
  add_text(tree, "message", preemption.message);
  add_list(tree, "reasons", preemption.reasons, [](const Explanation::PreemptionReason& reason) {
    JsonValue why = JsonValue::object();
    add_text(why, "code", reason.code);
    add_text(why, "text", reason.text);
    add_texts(why, "nodes", reason.nodes);
    return why;
  });
  return tree;
}

void add_time(JsonValue& object, std::string_view name, WallTime time) {
  object.add(name, JsonValue::of_text(rfc3339(time)));
}

JsonValue tree_of(const Explanation::Queue& queue) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "place", queue.place);
  if (queue.since) add_time(tree, "since", *queue.since);
  if (queue.until) add_time(tree, "until", *queue.until);
  if (queue.attempts > 0) tree.add("attempts", JsonValue::of_int(queue.attempts));
  add_texts(tree, "rejectedBy", queue.rejected_by);
  add_texts(tree, "missed", queue.missed);
  return tree;
}

JsonValue tree_of(const Explanation::Permit& permit) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "node", permit.node);
  add_time(tree, "since", permit.since);
  add_list(tree, "holders", permit.holders, [](const Explanation::Permit::Holder& holder) {
    JsonValue by = JsonValue::object();
    add_text(by, "plugin", holder.plugin);
    add_time(by, "until", holder.until);
    return by;
  });
  return tree;
}

JsonValue tree_of(const Explanation& explanation) {
  JsonValue tree = JsonValue::object();
  add_text(tree, "pod", explanation.pod);
  add_texts(tree, "alike", explanation.alike);
  add_text(tree, "verdict", explanation.verdict);
  add_text(tree, "message", explanation.message);
  add_text(tree, "gate", explanation.gate);
  add_texts(tree, "notes", explanation.notes);
  tree.add("nodes", JsonValue::of_int(static_cast<std::int64_t>(explanation.all_nodes)));
  add_list(tree, "rejections", explanation.rejections,
           [](const NodeGroup& group) { return tree_of(group); });
  add_list(tree, "nominated", explanation.nominated, [](const Explanation::Nominated& nominated) {
    JsonValue there = JsonValue::object();
    add_text(there, "node", nominated.node);
    add_texts(there, "pods", nominated.pods);
    return there;
  });
  add_list(tree, "suggestions", explanation.suggestions,
           [](const Suggestion& suggestion) { return tree_of(suggestion); });
  add_texts(tree, "tried", explanation.tried);
  add_text(tree, "chosen", explanation.chosen);
  add_texts(tree, "ties", explanation.ties);
  if (explanation.margin) tree.add("margin", JsonValue::of_int(*explanation.margin));
  add_list(tree, "scores", explanation.scores,
           [](const NodeScore& score) { return tree_of(score); });
  if (explanation.preemption) tree.add("preemption", tree_of(*explanation.preemption));
  if (explanation.queue) tree.add("queue", tree_of(*explanation.queue));
  if (explanation.permit) tree.add("permit", tree_of(*explanation.permit));
  if (!explanation.wakes.empty()) {
    JsonValue wakes = JsonValue::object();
    for (const auto& [plugin, events] : explanation.wakes) add_texts(wakes, plugin, events);
    tree.add("wakes", std::move(wakes));
  }
  return tree;
}

}  // namespace

JsonValue to_json_tree(std::span<const Explanation> explanations) {
  JsonValue pods = JsonValue::array();
  for (const Explanation& explanation : explanations) pods.items.push_back(tree_of(explanation));
  JsonValue tree = JsonValue::object();
  tree.add("pods", std::move(pods));
  return tree;
}

}  // namespace berth::explain
