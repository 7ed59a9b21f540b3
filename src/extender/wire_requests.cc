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
  key(out, "Pod");
  out += pod;
  key(out, "Nodes");
  out += "null";
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
  key(out, "Pod");
  out += pod;
  key(out, "Nodes");
  out += R"({"metadata":{},"items":)";
  list(out, nodes, [&](std::string_view node) { out += node; });
  out += '}';
  key(out, "NodeNames");
  out += "null}";
  return out;
}

std::string binding_args(const Pod& pod, std::string_view node) {
  std::string out = "{";
  key(out, "PodName");
  append_json_string(out, pod.name());
  key(out, "PodNamespace");
  append_json_string(out, pod.namespace_name());
  key(out, "PodUID");
  append_json_string(out, pod.uid_text());
  key(out, "Node");
  append_json_string(out, node);
  out += '}';
  return out;
}

std::string preemption_args(std::string_view pod, const MetaVictimsByNode& victims) {
  std::string out = "{";
  key(out, "Pod");
  out += pod;
  key(out, "NodeNameToVictims");
  out += "null";
  key(out, "NodeNameToMetaVictims");
  out += '{';
  for (const auto& [node, of_node] : victims) {
    key(out, node);
    out += '{';
    key(out, "Pods");
    list(out, of_node.pod_uids, [&](const std::string& uid) {
      out += '{';
      key(out, "UID");
      append_json_string(out, uid);
      out += '}';
    });
    key(out, "NumPDBViolations");
    out += fmt::format("{}}}", of_node.pdb_violations);
  }
  out += "}}";
  return out;
}

std::string preemption_args(std::string_view pod, std::span<const WholeVictims> victims) {
  std::string out = "{";
  key(out, "Pod");
  out += pod;
  key(out, "NodeNameToVictims");
  out += '{';
  for (const WholeVictims& of_node : victims) {
    key(out, of_node.node);
    out += '{';
    key(out, "Pods");
    list(out, of_node.pods, [&](const std::string& victim) { out += victim; });
    key(out, "NumPDBViolations");
    out += fmt::format("{}}}", of_node.pdb_violations);
  }
  out += '}';
  key(out, "NodeNameToMetaVictims");
  out += "null}";
  return out;
}

}  // namespace berth::extender
