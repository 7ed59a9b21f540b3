#include "extender/kept_objects.h"

#include <utility>

#include "wire/json_reader.h"
#include "wire/json_text.h"

namespace berth::extender {
namespace {

void add_member(std::string& out, std::string_view name, std::string_view value) {
  if (out.back() != '{') out += ',';
  append_json_string(out, name);
  out += ':';
  out += value;
}

// Without kind and apiVersion, which typed objects do not have.
// Parity: of pods upstream's informers throw managedFields away, of nodes they do not.
std::string bare_json(std::string_view json, bool managed_fields) {
  std::string out = "{";
  out.reserve(json.size());
  JsonReader object(json);
  object.fields([&](std::string_view name) {
    if (name == "kind" || name == "apiVersion") return;
    const std::string field(name);
    if (field != "metadata") return add_member(out, field, object.raw());
    add_member(out, field, "{");
    object.fields([&](std::string_view of_metadata) {
      if (of_metadata == "managedFields" && !managed_fields) return;
      const std::string inner(of_metadata);
      add_member(out, inner, object.raw());
    });
    out += '}';
  });
  out += '}';
  return out;
}

// The pod as it looks on a node.
std::string on_node(std::string_view json, std::string_view node) {
  std::string quoted;
  append_json_string(quoted, node);
  std::string out = "{";
  JsonReader pod(json);
  pod.fields([&](std::string_view name) {
    const std::string field(name);
    if (field != "spec") return add_member(out, field, pod.raw());
    add_member(out, field, "{");
    pod.fields([&](std::string_view of_spec) {
      const std::string inner(of_spec);
      if (inner != "nodeName") add_member(out, inner, pod.raw());
    });
    add_member(out, "nodeName", quoted);
    out += '}';
  });
  out += '}';
  return out;
}

bool says_its_node(std::string_view json) {
  bool says = false;
  JsonReader pod(json);
  pod.fields([&](std::string_view name) {
    if (name != "spec") return;
    pod.fields([&](std::string_view of_spec) { says = says || of_spec == "nodeName"; });
  });
  return says;
}

}  // namespace

ObjectNeeds needs_of(std::span<const config::ExtenderConfig> extenders) {
  ObjectNeeds needs;
  for (const config::ExtenderConfig& extender : extenders) {
    const bool filters = !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    const bool preempts = !extender.preempt_verb.empty();
    if (filters && !extender.node_cache_capable) needs.nodes = true;
    if (preempts && !extender.node_cache_capable) needs.pods = ObjectNeeds::Pods::kAll;
    if ((filters || preempts) && needs.pods == ObjectNeeds::Pods::kNone)
      needs.pods = ObjectNeeds::Pods::kUnassigned;
  }
  return needs;
}

const std::string& KeptObjects::Kept::bare(bool managed_fields) {
  if (!std::exchange(ready, true))
    text = std::make_shared<const std::string>(bare_json(*text, managed_fields));
  return *text;
}

void KeptObjects::apply(const Delta& delta, ObjectText text) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object))
    return apply_pod(**pod, delta.type, std::move(text));
  const auto* object = std::get_if<Ref<const Object>>(&delta.object);
  if (!object || (*object)->kind != ObjectKind::kNode || !needs_.nodes) return;
  if (delta.type == DeltaType::kDeleted) {
    nodes_.erase((*object)->name);
  } else if (text) {
    nodes_[(*object)->name] = {std::move(text)};
  }
}

void KeptObjects::apply_pod(const Pod& pod, DeltaType type, ObjectText text) {
  const bool needed = needs_.pods == ObjectNeeds::Pods::kAll ||
                      (needs_.pods == ObjectNeeds::Pods::kUnassigned && pod.node().empty());
  if (type == DeltaType::kDeleted || !needed) {
    pods_.erase(pod.uid());
  } else if (text) {
    pods_[pod.uid()] = {std::move(text)};
  }
}

std::optional<std::string> KeptObjects::pod(const Pod& pod) {
  const auto found = pods_.find(pod.uid());
  if (found == pods_.end()) return std::nullopt;
  const std::string& text = found->second.bare(/*managed_fields=*/false);
  if (pod.node().empty() || says_its_node(text)) return text;
  return on_node(text, pod.node_name());
}

std::optional<std::string_view> KeptObjects::node(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return std::nullopt;
  return found->second.bare(/*managed_fields=*/true);
}

}  // namespace berth::extender
