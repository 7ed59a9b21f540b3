#include "plugins/node_declared_features/node_declared_features.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/feature_gates.h"
#include "plugins/event_objects.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kLacking };
constexpr std::string_view kDeclaredFeaturesReasons[] = {
    "node(s) didn't match Pod's required features"};

// Sorted; the place of a name is its bit. The first six are declared by nodes, but no pod asks for
// them when it is scheduled.
constexpr std::string_view kFeatures[] = {
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "InPlacePodVerticalScalingMemoryBackedVolumes",
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions",
};
constexpr std::size_t kRestartAllContainers = 6;
constexpr std::size_t kUserNamespacesHostNetwork = 7;
constexpr std::size_t kVolumeBindMountOptions = 8;
static_assert(std::size(kFeatures) == NodeFeatures().size());

NodeFeatures lacking(const NodeFeatures& needed, const Node& node, const Symbols& symbols) {
  return needed & ~features_declared_by(node, symbols);
}

Result<QueueingHint> after_feature_change(const Pod&, const AnyObject& before,
                                          const AnyObject& after) {
  const auto node = change_in<Node>(before, after);
  if (!node) return fail(node.error());
  const bool same = node->before && node->after &&
                    node->before->declared_features == node->after->declared_features;
  return queue_if(!same);
}

Result<QueueingHint> after_pod_update(const Pod&, const AnyObject& before, const AnyObject& after) {
  const auto updated = change_in<Pod>(before, after);
  if (!updated) return fail(updated.error());
  if (!updated->before || !updated->after) return QueueingHint::kSkip;
  const bool same =
      features_needed_by(updated->before->spec()) == features_needed_by(updated->after->spec());
  return queue_if(!same);
}

}  // namespace

NodeFeatures features_needed_by(const PodSpec& spec) {
  const auto any = [&](bool Container::* property) {
    return std::ranges::any_of(spec.containers, property) ||
           std::ranges::any_of(spec.init_containers, property);
  };
  NodeFeatures needed;
  needed[kRestartAllContainers] = any(&Container::restarts_all);
  needed[kUserNamespacesHostNetwork] = spec.host_network && spec.own_users;
  needed[kVolumeBindMountOptions] =
      any(&Container::bind_mount_options) || spec.ephemeral_bind_mount_options;
  return needed;
}

// Parity: both lists are walked side by side, so that a name out of order may be missed.
NodeFeatures features_declared_by(const Node& node, const Symbols& symbols) {
  NodeFeatures declared;
  std::size_t bit = 0;
  for (const Symbol feature : node.declared_features) {
    const std::string_view name = symbols.text(feature);
    while (bit < declared.size() && kFeatures[bit] < name) ++bit;
    if (bit == declared.size()) break;
    if (kFeatures[bit] == name) declared.set(bit++);
  }
  return declared;
}

Result<std::unique_ptr<Plugin>> NodeDeclaredFeatures::create(const config::PluginArgs&,
                                                             const Handle& handle) {
  return std::make_unique<NodeDeclaredFeatures>(handle.gates.enabled("NodeDeclaredFeatures"));
}

std::span<const std::string_view> NodeDeclaredFeatures::reasons() const {
  return kDeclaredFeaturesReasons;
}

PreFilterResult NodeDeclaredFeatures::pre_filter(Cycle& cycle) const {
  if (!enabled_) return PreFilterResult::skip();
  const NodeFeatures needed = features_needed_by(cycle.pod().spec());
  if (needed.none()) return PreFilterResult::skip();
  cycle.put(*this, needed);
  return PreFilterResult::success();
}

void NodeDeclaredFeatures::filter(const Cycle& cycle, FilterPass& pass) const {
  if (!enabled_) return;
  const NodeFeatures* needed = cycle.find<NodeFeatures>(*this);
  if (!needed) {
    pass.fail_all({"error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found"});
    return;
  }
  const NodeTable& nodes = cycle.nodes();
  pass.feasible().for_each([&](NodeRow row) {
    if (lacking(*needed, nodes.node(row), cycle.symbols()).any())
      pass.reject(row, Code::kUnschedulableAndUnresolvable, kLacking);
  });
}

std::vector<Obstacle> NodeDeclaredFeatures::obstacles(const Cycle& cycle, NodeRow row) const {
  const NodeFeatures* needed = cycle.find<NodeFeatures>(*this);
  if (!needed || row == kNoRow) return {};
  const NodeFeatures missing = lacking(*needed, cycle.nodes().node(row), cycle.symbols());
  std::vector<Obstacle> all;
  for (std::size_t bit = 0; bit < missing.size(); ++bit)
    if (missing.test(bit))
      all.push_back(
          {.code = "FeatureNotDeclared",
           .reason = std::string(kDeclaredFeaturesReasons[kLacking]),
           .subject = std::string(kFeatures[bit]),
           .text = fmt::format("the node's kubelet does not declare feature {}", kFeatures[bit]),
           .facts = {{"feature", std::string(kFeatures[bit])}}});
  return all;
}

std::optional<std::vector<EventRegistration>> NodeDeclaredFeatures::events_to_register() const {
  if (!enabled_) return std::vector<EventRegistration>{};
  return {
      {{{EventResource::kNode, action::kAdd | action::kUpdateNodeDeclaredFeature, {}},
        after_feature_change,
        HintScope::kClass},
       {{EventResource::kTargetPod, action::kUpdate, {}}, after_pod_update, HintScope::kClass}}};
}

Outcome NodeDeclaredFeatures::sign(const Pod& pod,
                                   std::vector<SignatureFragment>& fragments) const {
  if (!enabled_) return Outcome::failure("target version cannot be nil");
  // The first feature comes first; a bitset's own text begins with the last.
  std::string needed = features_needed_by(pod.spec()).to_string();
  std::ranges::reverse(needed);
  fragments.push_back({"v1.Pod.Spec.RequiredFeatures()", std::move(needed)});
  return Outcome::success();
}

}  // namespace berth::plugins
