#include "explain/new_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "api/devices.h"
#include "api/names.h"
#include "base/stable_sort.h"
#include "explain/node_edits.h"
#include "explain/pod_edits.h"

namespace berth::explain {
namespace {

std::string free_node_name(const UnplacedPod& unplaced, std::string_view like) {
  for (int i = 1;; ++i) {
    std::string name = fmt::format("{}-new{}", like, i == 1 ? std::string() : std::to_string(i));
    const Symbol symbol = unplaced.cluster().symbols().find(name);
    if (symbol.empty() || unplaced.nodes().find(symbol) == kNoRow) return name;
  }
}

// Metadata as of an object that nobody has stored yet.
void forget_identity(PatchedObject& object, const std::string& name) {
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "generation",
                            "managedFields", "ownerReferences", "selfLink"})
    object.remove({"metadata", field});
  object.set({"metadata", "name"}, JsonValue::of_text(name));
}

JsonValue node_like(const JsonValue& like, std::string_view old_name, const std::string& name) {
  PatchedObject node(like);
  forget_identity(node, name);
  const std::vector<JsonMember> labels = members_at(like, {"metadata", "labels"});
  for (const JsonMember& label : labels)
    if (label.value.text == old_name)
      node.set({"metadata", "labels", label.name}, JsonValue::of_text(name));
  node.set({"metadata", "labels", "kubernetes.io/hostname"}, JsonValue::of_text(name));
  for (const char* field : {"providerID", "podCIDR", "podCIDRs"}) node.remove({"spec", field});
  for (const char* field : {"addresses", "images", "volumesInUse", "volumesAttached"})
    node.remove({"status", field});
  return node.object();
}

std::optional<JsonValue> csi_node_like(const UnplacedPod& unplaced, std::string_view old_name,
                                       const std::string& name) {
  std::optional<JsonValue> like = unplaced.texts().of("CSINode", {}, old_name);
  if (!like) return std::nullopt;
  PatchedObject csi_node(*std::move(like));
  forget_identity(csi_node, name);
  return csi_node.object();
}

std::vector<JsonValue> slices_like(const UnplacedPod& unplaced, Symbol old_name,
                                   const std::string& name) {
  std::vector<JsonValue> slices;
  for (const Ref<const Object>& object : unplaced.cluster().list(ObjectKind::kResourceSlice)) {
    const auto& offered = static_cast<const ResourceSlice&>(*object);
    if (offered.nodes.node_name != old_name) continue;
    std::optional<JsonValue> like = unplaced.texts().of("ResourceSlice", {}, offered.name);
    if (!like) continue;
    PatchedObject slice(*std::move(like));
    forget_identity(slice, fmt::format("{}-{}", offered.name, name));
    slice.set({"spec", "nodeName"}, JsonValue::of_text(name));
    const std::string_view pool = offered.symbols.text(offered.pool.name);
    slice.set({"spec", "pool", "name"},
              JsonValue::of_text(offered.pool.name == old_name ? name
                                                               : fmt::format("{}-{}", pool, name)));
    slices.push_back(slice.object());
  }
  return slices;
}

// What makes nodes alike: size, labels but those that name the node, taints, cordon.
std::string kind_text(const UnplacedPod& unplaced, NodeRow row) {
  const Node& node = unplaced.nodes().node(row);
  std::string text = fmt::format("{}/{}/{}/{}", node.allocatable_resources.milli_cpu,
                                 node.allocatable_resources.memory, node.allocatable_resources.pods,
                                 node.unschedulable);
  for (const ScalarAmount& scalar : node.allocatable_resources.scalars)
    text += fmt::format(" {}={}", scalar.name.id, scalar.amount);
  for (const Label& label : node.labels)
    if (label.value != node.symbol && label.key != names::kHostname)
      text += fmt::format(" {}:{}", label.key.id, label.value.id);
  for (const Taint& taint : node.taints)
    text += fmt::format(" {}:{}:{}", taint.key.id, taint.value.id, static_cast<int>(taint.effect));
  return text;
}

bool is_large_enough(const Node& node, const Resources& wanted) {
  const Resources& has = node.allocatable_resources;
  return has.milli_cpu >= wanted.milli_cpu && has.memory >= wanted.memory &&
         has.ephemeral_storage >= wanted.ephemeral_storage && has.pods >= 1;
}

}  // namespace

std::optional<Edit> add_node_like(const UnplacedPod& unplaced, NodeRow row, NewNodeParts parts) {
  const std::string_view like = unplaced.nodes().name_text(row);
  const std::optional<JsonValue> json = unplaced.texts().of("Node", {}, like);
  if (!json) return std::nullopt;
  const std::string name = free_node_name(unplaced, like);
  Edit edit;
  edit.code = "AddNode";
  edit.summary = fmt::format("add a node like {}", like);
  edit.cost = 50;
  edit.commands = {fmt::format(
      "# add a node with the size, labels and taints of {}, for example to its node group", like)};
  edit.created.push_back(node_like(*json, like, name));
  if (parts == NewNodeParts::kCsiNode) {
    std::optional<JsonValue> csi_node = csi_node_like(unplaced, like, name);
    if (!csi_node) return std::nullopt;
    edit.created.push_back(*std::move(csi_node));
  } else if (parts == NewNodeParts::kResourceSlices) {
    std::vector<JsonValue> slices = slices_like(unplaced, unplaced.nodes().name(row), name);
    if (slices.empty()) return std::nullopt;
    edit.summary += fmt::format(", with its devices");
    for (JsonValue& slice : slices) edit.created.push_back(std::move(slice));
  }
  return edit;
}

std::vector<NodeRow> kinds_of_nodes(const UnplacedPod& unplaced) {
  const NodeTable& nodes = unplaced.nodes();
  std::map<std::string, NodeRow> first;  // of each kind, by name
  nodes.nodes().for_each([&](NodeRow row) {
    const auto [known, is_new] = first.try_emplace(kind_text(unplaced, row), row);
    if (!is_new && nodes.name_text(row) < nodes.name_text(known->second)) known->second = row;
  });
  const PodSpec& spec = unplaced.spec();
  const RequiredNodeAffinity affinity(
      spec.node_selector, spec.affinity && spec.affinity->node ? &*spec.affinity->node : nullptr,
      unplaced.cluster().symbols());
  struct Ranked {
    int lacks;         // of size, labels, tolerations
    std::size_t turn;  // so that zones take turns
    std::int64_t size;
    std::string_view name;
    NodeRow row;
  };
  std::vector<Ranked> ranked;
  for (const auto& [text, row] : first) {
    const Node& node = nodes.node(row);
    const int lacks = (is_large_enough(node, unplaced.pod()->usage().requests) ? 0 : 1) +
                      (affinity.matches(node, unplaced.cluster().symbols()) ? 0 : 1) +
                      static_cast<int>(taints_against(unplaced, row).size());
    ranked.push_back({lacks, 0, node.allocatable_resources.milli_cpu, nodes.name_text(row), row});
  }
  std::ranges::sort(ranked, {},
                    [](const Ranked& one) { return std::tuple(one.lacks, one.size, one.name); });
  std::map<Symbol, std::size_t> turns;
  for (Ranked& one : ranked) one.turn = turns[nodes.node(one.row).labels.get(names::kZone)]++;
  sort_stably(ranked, {}, [](const Ranked& one) { return std::tuple(one.lacks, one.turn); });
  std::vector<NodeRow> rows;
  for (const Ranked& one : ranked) rows.push_back(one.row);
  return rows;
}

}  // namespace berth::explain
