#include "sim/history.h"

#include <fmt/format.h>

#include <functional>
#include <utility>
#include <variant>

#include "berth/status.h"
#include "wire/json_text.h"

namespace berth::sim {
namespace {

// Milliseconds, with a fraction.
std::string milliseconds(Duration duration) {
  return go_float(std::chrono::duration<double, std::milli>(duration).count());
}

// The members of an object without the braces around them.
std::string members(const JsonLine& object) {
  const std::string json = object.done();
  return json.substr(1, json.size() - 2);
}

template <typename Item, typename Write>
std::string written_list(const std::vector<Item>& items, Write write) {
  std::string json = "[";
  for (const Item& item : items) {
    if (json.size() > 1) json += ",\n";
    json += write(item);
  }
  return json + "]";
}

std::string lines_of(const std::vector<std::string>& items) {
  return written_list(items, [](const std::string& item) { return item; });
}

// cpu in thousandths, memory and storage in bytes, everything else in units. What is 0 is left out.
JsonLine amounts_json(const Resources& amounts, const Symbols& symbols) {
  JsonLine line;
  if (amounts.milli_cpu != 0) line.number("cpu", amounts.milli_cpu);
  if (amounts.memory != 0) line.number("memory", amounts.memory);
  if (amounts.ephemeral_storage != 0) line.number("ephemeral-storage", amounts.ephemeral_storage);
  if (amounts.pods != 0) line.number("pods", amounts.pods);
  for (const ScalarAmount& scalar : amounts.scalars)
    if (scalar.amount != 0) line.number(symbols.text(scalar.name), scalar.amount);
  return line;
}

JsonLine labels_json(const LabelSet& labels, const Symbols& symbols) {
  JsonLine line;
  for (const Label& label : labels) line.text(symbols.text(label.key), symbols.text(label.value));
  return line;
}

std::string_view effect_text(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule: return "NoSchedule";
    case TaintEffect::kPreferNoSchedule: return "PreferNoSchedule";
    case TaintEffect::kNoExecute: return "NoExecute";
    case TaintEffect::kAny:
    case TaintEffect::kUnknown: break;
  }
  return "";
}

std::string taint_text(const Taint& taint, const Symbols& symbols) {
  const std::string_view value = symbols.text(taint.value);
  return fmt::format("{}{}{}:{}", symbols.text(taint.key), value.empty() ? "" : "=", value,
                     effect_text(taint.effect));
}

// What the page knows of a node, but for its name.
std::string node_members(const Node& node) {
  const Symbols& symbols = *node.symbols.table();
  std::vector<std::string> taints;
  for (const Taint& taint : node.taints) taints.push_back(taint_text(taint, symbols));
  JsonLine line;
  line.raw("labels", labels_json(node.labels, symbols).done());
  if (!taints.empty()) line.texts("taints", taints);
  if (node.unschedulable) line.flag("cordoned", true);
  line.raw("allocatable", amounts_json(node.allocatable_resources, symbols).done());
  return members(line);
}

// What the page knows of a pod and of others like it.
std::string template_json(const Pod& pod) {
  const PodSpec& spec = pod.spec();
  const Symbols& symbols = pod.symbols();
  JsonLine line;
  line.text("namespace", pod.namespace_name());
  if (const ControllerRef& owner = pod.meta().controller; !owner.empty())
    line.text("owner", fmt::format("{}/{}", pod.text(owner.kind), pod.text(owner.name)));
  line.raw("labels", labels_json(pod.labels(), symbols).done());
  line.number("priority", spec.priority);
  line.text("scheduler", pod.text(spec.scheduler_name));
  std::vector<std::string> gates;
  for (const Symbol gate : spec.scheduling_gates) gates.emplace_back(pod.text(gate));
  if (!gates.empty()) line.texts("gates", gates);
  return line.raw("requests", amounts_json(pod.usage().requests, symbols).done()).done();
}

// The number of a text in a list of distinct texts.
std::size_t place_in(std::vector<std::string>& texts,
                     std::map<std::string, std::size_t, std::less<>>& indices,
                     std::string_view text) {
  const auto known = indices.find(text);
  if (known != indices.end()) return known->second;
  texts.emplace_back(text);
  indices.emplace(text, texts.size() - 1);
  return texts.size() - 1;
}

}  // namespace

JsonLine History::change(std::string_view what) const {
  JsonLine line;
  line.raw("at", milliseconds(loop_.now().since_start));
  return line.text("what", what);
}

JsonLine History::change(std::string_view what, const Pod& pod) {
  return change(what).number("pod", index_of(pod));
}

std::size_t History::text_index(std::string_view text) {
  return place_in(texts_, text_indices_, text);
}

std::size_t History::node_index(std::string_view name) {
  const auto known = node_indices_.find(name);
  if (known != node_indices_.end()) return known->second;
  // A pod may be on a node that was never there.
  nodes_.push_back({std::string(name), R"("labels": {}, "allocatable": {})", {}});
  node_indices_.emplace(name, nodes_.size() - 1);
  return nodes_.size() - 1;
}

History::PodEntry& History::entry_of(const Pod& pod) {
  const auto [entry, is_new] = pod_entries_.try_emplace(pod.uid());
  if (is_new) {
    entry->second.index = pods_.size();
    JsonLine line;
    line.text("name", pod.name());
    line.number("template", place_in(templates_, template_indices_, template_json(pod)));
    pods_.push_back(line.done());
  }
  return entry->second;
}

void History::changed(const Delta& delta) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object)) {
    pod_changed(delta.type, **pod);
  } else if (const auto* object = std::get_if<Ref<const Object>>(&delta.object)) {
    if ((*object)->kind == ObjectKind::kNode)
      node_changed(delta.type, static_cast<const Node&>(**object));
  }
}

void History::node_changed(DeltaType type, const Node& node) {
  const bool is_new = !node_indices_.contains(node.name);
  const std::size_t index = node_index(node.name);
  NodeEntry& entry = nodes_[index];
  if (type == DeltaType::kDeleted) {
    entry.now.clear();
    add(change("nodeRemoved").number("node", index));
    return;
  }
  std::string now = node_members(node);
  if (now == entry.now) return;  // something that the page does not show
  if (is_new) entry.first = now;
  JsonLine line = change(entry.now.empty() ? "nodeAdded" : "nodeChanged");
  line.number("node", index);
  if (now != entry.first || !entry.now.empty()) line.raw("now", "{" + now + "}");
  entry.now = std::move(now);
  add(line);
}

void History::pod_changed(DeltaType type, const Pod& pod) {
  PodEntry& entry = entry_of(pod);
  if (type == DeltaType::kDeleted) {
    add(change("deleted", pod));  // its entry stays: the scheduler learns of it later
    return;
  }
  if (type == DeltaType::kAdded) add(change("created", pod));
  if (!pod.node().empty() && !std::exchange(entry.bound, true))
    add(change("bound", pod).number("node", node_index(pod.node_name())));
  if (pod.finished() && !std::exchange(entry.finished, true))
    add(change("finished", pod).flag("failed", pod.phase() == PodPhase::kFailed));
  if (pod.terminating() && !std::exchange(entry.terminating, true)) add(change("terminating", pod));
}

void History::note(std::string_view what, std::string_view about, std::string_view detail) {
  const std::string text =
      detail.empty() ? std::string(about) : fmt::format("{}: {}", about, detail);
  add(change(what).number("text", text_index(text)));
}

void History::queued(const Pod& pod, QueueName queue, std::string_view event) {
  add(change("queued", pod).text("queue", to_string(queue)).number("event", text_index(event)));
}

void History::attempt_started(const Pod& pod, std::int32_t attempt) {
  add(change("attempt", pod).number("attempt", attempt));
}

void History::decided(const Decision& decision) {
  JsonLine line = change("decided", *decision.pod);
  line.text("outcome", to_string(decision.outcome.code));
  if (!decision.node.empty()) line.number("node", node_index(decision.node));
  line.number("evaluated", decision.evaluated_nodes).number("feasible", decision.feasible_nodes);
  if (decision.outcome.ok()) line.number("score", decision.score);
  if (const FitError* error = decision.outcome.fit_error.get())
    line.texts("plugins",
               {error->unschedulable_plugins.begin(), error->unschedulable_plugins.end()});
  add(line);
}

void History::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  JsonLine timeouts;
  for (const PermitHold& hold : holds) timeouts.raw(hold.plugin, milliseconds(hold.timeout));
  add(change("waiting", pod).raw("holds", timeouts.done()));
}

void History::wait_ended(const Pod& pod, const Outcome& outcome, Duration /*waited*/) {
  JsonLine line = change("settled", pod);
  line.text("outcome", to_string(outcome.code)).text_if("plugin", outcome.plugin);
  if (const std::string message = outcome.message(); !message.empty())
    line.number("message", text_index(message));
  add(line);
}

void History::failed(const Pod& pod, const Outcome& outcome) {
  add(change("failed", pod)
          .text("outcome", to_string(outcome.code))
          .text_if("plugin", outcome.plugin)
          .number("message", text_index(outcome.message())));
}

void History::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  add(change("preempted", victim)
          .number("by", index_of(preemptor))
          .number("node", node_index(node)));
}

std::string History::json(Duration duration) const {
  const auto text_json = [](const std::string& text) {
    std::string json;
    append_json_string(json, text);
    return json;
  };
  const auto node_json = [](const NodeEntry& node) {
    JsonLine line;
    line.text("name", node.name);
    return "{" + members(line) + ", " + node.first + "}";
  };
  return fmt::format(
      "{{\"duration\": {},\n\"texts\": {},\n\"nodes\": {},\n\"templates\": {},\n\"pods\": {},\n"
      "\"changes\": {}}}",
      milliseconds(duration), written_list(texts_, text_json), written_list(nodes_, node_json),
      lines_of(templates_), lines_of(pods_), lines_of(changes_));
}

}  // namespace berth::sim
