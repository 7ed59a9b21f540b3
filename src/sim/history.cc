#include "sim/history.h"

#include <fmt/format.h>

#include <functional>
#include <utility>
#include <variant>

#include "page/cluster_json.h"
#include "wire/json_text.h"

namespace berth::sim {
namespace {

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

std::size_t History::text_index(std::string_view text) {
  return place_in(texts_, text_indices_, text);
}

std::size_t History::node_index(std::string_view name) {
  const auto known = node_indices_.find(name);
  if (known != node_indices_.end()) return known->second;
  // A pod may be on a node that was never there.
  nodes_.push_back({std::string(name), R"("labels": {}, "allocatable": {})", {}, nullptr});
  node_indices_.emplace(name, nodes_.size() - 1);
  return nodes_.size() - 1;
}

History::PodEntry& History::entry_of(const Pod& pod) {
  const auto [entry, is_new] = pod_entries_.try_emplace(pod.uid());
  if (is_new) {
    entry->second.index = pods_.size();
    JsonLine line;
    line.text("name", pod.name());
    line.number("template", place_in(templates_, template_indices_, page::template_json(pod)));
    pods_.push_back(line.done());
  }
  return entry->second;
}

void History::changed(const Delta& delta) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object)) {
    pod_changed(delta.type, **pod, entry_of(**pod).stage);
  } else if (const auto* object = std::get_if<Ref<const Object>>(&delta.object)) {
    if ((*object)->kind == ObjectKind::kNode)
      node_changed(delta.type, Ref<const Node>(static_cast<const Node*>(object->get())));
    for (const std::string& name : devices_.changed(delta))
      if (const Ref<const Node> node = nodes_[node_index(name)].node) show_node(node);
  }
}

void History::node_changed(DeltaType type, const Ref<const Node>& node) {
  if (type != DeltaType::kDeleted) return show_node(node);
  const std::size_t index = node_index(node->name);
  nodes_[index].now.clear();
  nodes_[index].node = nullptr;
  add(change("nodeRemoved").number("node", index));
}

void History::show_node(const Ref<const Node>& node) {
  const bool is_new = !node_indices_.contains(node->name);
  const std::size_t index = node_index(node->name);
  NodeEntry& entry = nodes_[index];
  entry.node = node;
  std::string now = page::node_members(*node, devices_.on(node->name));
  if (now == entry.now) return;  // something that the page does not show
  if (is_new) entry.first = now;
  JsonLine line = change(entry.now.empty() ? "nodeAdded" : "nodeChanged");
  line.number("node", index);
  if (now != entry.first || !entry.now.empty()) line.raw("now", "{" + now + "}");
  entry.now = std::move(now);
  add(line);
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
    return "{" + line.members() + ", " + node.first + "}";
  };
  return fmt::format(
      "{{\"duration\": {},\n\"texts\": {},\n\"nodes\": {},\n\"templates\": {},\n\"pods\": {},\n"
      "\"changes\": {}}}",
      page::milliseconds(duration), written_list(texts_, text_json),
      written_list(nodes_, node_json), lines_of(templates_), lines_of(pods_), lines_of(changes_));
}

}  // namespace berth::sim
