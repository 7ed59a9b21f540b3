// The requests to an extender.
#include <fmt/format.h>

#include <utility>

#include "extender/wire.h"
#include "wire/json_text.h"

namespace berth::extender {
namespace {

// `"key":`, with a comma where one belongs.
void key(std::string& out, std::string_view name) {
  if (out.back() != '{') out += ',';
  append_json_string(out, name);
  out += ':';
}

void add_json(std::string& out, std::string_view name, std::string_view json) {
  key(out, name);
  out += json;
}

void add_text(std::string& out, std::string_view name, std::string_view text) {
  key(out, name);
  append_json_string(out, text);
}

template <typename Items, typename Append>
void list(std::string& out, const Items& items, Append append) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) out += ',';
    append(item);
  }
  out += ']';
}

}  // namespace

std::string args_with_names(std::string_view pod, std::span<const std::string> names) {
  std::string out = "{";
  add_json(out, "Pod", pod);
  add_json(out, "Nodes", "null");
  key(out, "NodeNames");
  list(out, names, [&](const std::string& name) { append_json_string(out, name); });
  out += '}';
  return out;
}

std::string args_with_nodes(std::string_view pod, std::span<const std::string_view> nodes) {
  constexpr std::size_t kRest = 100;
  std::size_t size = pod.size() + kRest;
  for (const std::string_view node : nodes) size += node.size() + 1;
  std::string out;
  out.reserve(size);
  out += '{';
  add_json(out, "Pod", pod);
  add_json(out, "Nodes", R"({"metadata":{},"items":)");
  list(out, nodes, [&](std::string_view node) { out += node; });
  out += '}';
  add_json(out, "NodeNames", "null}");
  return out;
}

std::string binding_args(const Pod& pod, std::string_view node) {
  std::string out = "{";
  add_text(out, "PodName", pod.name());
  add_text(out, "PodNamespace", pod.namespace_name());
  add_text(out, "PodUID", pod.uid_text());
  add_text(out, "Node", node);
  out += '}';
  return out;
}

std::string preemption_args(std::string_view pod, const MetaVictimsByNode& victims) {
  std::string out = "{";
  add_json(out, "Pod", pod);
  add_json(out, "NodeNameToVictims", "null");
  add_json(out, "NodeNameToMetaVictims", "{");
  for (const auto& [node, of_node] : victims) {
    add_json(out, node, "{");
    key(out, "Pods");
    list(out, of_node.pod_uids, [&](const std::string& uid) {
      out += '{';
      add_text(out, "UID", uid);
      out += '}';
    });
    add_json(out, "NumPDBViolations", fmt::format("{}}}", of_node.pdb_violations));
  }
  out += "}}";
  return out;
}

std::string preemption_args(std::string_view pod, std::span<const WholeVictims> victims) {
  std::string out = "{";
  add_json(out, "Pod", pod);
  add_json(out, "NodeNameToVictims", "{");
  for (const WholeVictims& of_node : victims) {
    add_json(out, of_node.node, "{");
    key(out, "Pods");
    list(out, of_node.pods, [&](const std::string& victim) { out += victim; });
    add_json(out, "NumPDBViolations", fmt::format("{}}}", of_node.pdb_violations));
  }
  out += '}';
  add_json(out, "NodeNameToMetaVictims", "null}");
  return out;
}

}  // namespace berth::extender
