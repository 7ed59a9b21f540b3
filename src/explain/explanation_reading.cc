// Explanations from the JSON that another program wrote: what explanation_json.cc does, the other way.
#include <charconv>
#include <concepts>
#include <utility>

#include "base/time_text.h"
#include "explain/explanation_text.h"

namespace berth::explain {
namespace {

// Every read is lenient about what is missing, and about what it does not know: the scheduler may be
// older or newer than who asks it.
std::string read_text(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kString ? value->text : std::string();
}

template <typename Number>
Number read_number(const JsonValue& object, std::string_view name) {
  Number number{};
  const JsonValue* value = object.find(name);
  if (value && value->kind == JsonValue::Kind::kNumber)
    std::from_chars(value->text.data(), value->text.data() + value->text.size(), number);
  return number;
}

std::vector<std::string> read_texts(const JsonValue& object, std::string_view name) {
  std::vector<std::string> texts;
  if (const JsonValue* list = object.find(name))
    for (const JsonValue& item : list->items) texts.push_back(item.text);
  return texts;
}

template <typename Read>
auto read_list(const JsonValue& object, std::string_view name, Read read) {
  std::vector<decltype(read(object))> things;
  if (const JsonValue* list = object.find(name))
    for (const JsonValue& item : list->items) things.push_back(read(item));
  return things;
}

std::optional<WallTime> read_time(const JsonValue& object, std::string_view name) {
  const Result<WallTime> time = parse_rfc3339(read_text(object, name));
  if (!time) return std::nullopt;
  return *time;
}

NodeObstacle read_obstacle(const JsonValue& tree) {
  NodeObstacle by;
  by.plugin = read_text(tree, "plugin");
  by.obstacle.code = read_text(tree, "code");
  by.obstacle.reason = read_text(tree, "reason");
  by.obstacle.subject = read_text(tree, "subject");
  by.obstacle.text = read_text(tree, "text");
  if (const JsonValue* facts = tree.find("facts"))
    for (const JsonMember& fact : facts->members)
      by.obstacle.facts.emplace(fact.name, fact.value.text);
  const std::string status = read_text(tree, "status");
  for (const Code code : {Code::kUnschedulableAndUnresolvable, Code::kError})
    if (status == to_string(code)) by.code = code;
  if (const JsonValue* pre_filter = tree.find("preFilter")) by.pre_filter = pre_filter->boolean;
  return by;
}

Change read_change(const JsonValue& tree) {
  Change change;
  const std::string op = read_text(tree, "op");
  change.op = op == "create"   ? Change::Op::kCreate
              : op == "delete" ? Change::Op::kDelete
                               : Change::Op::kPatch;
  change.kind = read_text(tree, "kind");
  change.namespace_name = read_text(tree, "namespace");
  change.name = read_text(tree, "name");
  if (const JsonValue* value = tree.find(op == "create" ? "object" : "patch"))
    change.value = *value;
  return change;
}

Suggestion read_suggestion(const JsonValue& tree) {
  Suggestion suggestion;
  suggestion.code = read_text(tree, "code");
  suggestion.summary = read_text(tree, "summary");
  suggestion.cost = read_number<double>(tree, "cost");
  suggestion.nodes = read_texts(tree, "nodes");
  suggestion.changes = read_list(tree, "changes", read_change);
  suggestion.commands = read_texts(tree, "commands");
  suggestion.victims = read_texts(tree, "victims");
  return suggestion;
}

NodeScore read_score(const JsonValue& tree) {
  NodeScore score;
  score.node = read_text(tree, "node");
  score.total = read_number<std::int64_t>(tree, "total");
  score.plugins = read_list(tree, "plugins", [](const JsonValue& points) {
    return PluginPoints{read_text(points, "plugin"), read_number<std::int64_t>(points, "raw"),
                        read_number<std::int64_t>(points, "normalized"),
                        read_number<std::int64_t>(points, "weighted")};
  });
  return score;
}

Explanation::Preemption read_preemption(const JsonValue& tree) {
  Explanation::Preemption preemption;
  preemption.node = read_text(tree, "node");
  preemption.victims = read_texts(tree, "victims");
  preemption.message = read_text(tree, "message");
  preemption.reasons = read_list(tree, "reasons", [](const JsonValue& reason) {
    return Explanation::PreemptionReason{read_text(reason, "code"), read_text(reason, "text"),
                                         read_texts(reason, "nodes")};
  });
  return preemption;
}

Explanation::Queue read_queue(const JsonValue& tree) {
  Explanation::Queue queue;
  queue.place = read_text(tree, "place");
  queue.since = read_time(tree, "since");
  queue.until = read_time(tree, "until");
  queue.attempts = read_number<std::int32_t>(tree, "attempts");
  queue.rejected_by = read_texts(tree, "rejectedBy");
  queue.missed = read_texts(tree, "missed");
  return queue;
}

Explanation::Permit read_permit(const JsonValue& tree) {
  Explanation::Permit permit;
  permit.node = read_text(tree, "node");
  permit.since = read_time(tree, "since").value_or(WallTime{});
  permit.holders = read_list(tree, "holders", [](const JsonValue& holder) {
    return Explanation::Permit::Holder{read_text(holder, "plugin"),
                                       read_time(holder, "until").value_or(WallTime{})};
  });
  return permit;
}

Explanation read_explanation(const JsonValue& tree) {
  Explanation explanation;
  explanation.pod = read_text(tree, "pod");
  explanation.alike = read_texts(tree, "alike");
  explanation.verdict = read_text(tree, "verdict");
  explanation.message = read_text(tree, "message");
  explanation.gate = read_text(tree, "gate");
  explanation.notes = read_texts(tree, "notes");
  explanation.all_nodes = read_number<std::size_t>(tree, "nodes");
  explanation.rejections = read_list(tree, "rejections", [](const JsonValue& group) {
    return NodeGroup{read_texts(group, "nodes"), read_list(group, "plugins", read_obstacle)};
  });
  explanation.nominated = read_list(tree, "nominated", [](const JsonValue& nominated) {
    return Explanation::Nominated{read_text(nominated, "node"), read_texts(nominated, "pods")};
  });
  explanation.suggestions = read_list(tree, "suggestions", read_suggestion);
  explanation.tried = read_texts(tree, "tried");
  explanation.chosen = read_text(tree, "chosen");
  explanation.ties = read_texts(tree, "ties");
  if (tree.find("margin")) explanation.margin = read_number<std::int64_t>(tree, "margin");
  explanation.scores = read_list(tree, "scores", read_score);
  if (const JsonValue* value = tree.find("preemption"))
    explanation.preemption = read_preemption(*value);
  if (const JsonValue* value = tree.find("queue")) explanation.queue = read_queue(*value);
  if (const JsonValue* value = tree.find("permit")) explanation.permit = read_permit(*value);
  if (const JsonValue* wakes = tree.find("wakes"))
    for (const JsonMember& plugin : wakes->members)
      explanation.wakes[plugin.name] = read_texts(*wakes, plugin.name);
  return explanation;
}

}  // namespace

Result<std::vector<Explanation>> read_explanations(const JsonValue& tree) {
  const JsonValue* pods = tree.find("pods");
  if (!pods || pods->kind != JsonValue::Kind::kArray)
    return fail(ErrorKind::kInvalid, "it has no list of pods");
  std::vector<Explanation> explanations;
  for (const JsonValue& pod : pods->items) explanations.push_back(read_explanation(pod));
  return explanations;
}

}  // namespace berth::explain
