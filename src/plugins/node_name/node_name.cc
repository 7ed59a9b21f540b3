#include "plugins/node_name/node_name.h"

#include <fmt/format.h>

#include "plugins/obstacles.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kOtherNode };
constexpr std::string_view kNodeNameReasons[] = {"node(s) didn't match the requested node name"};

}  // namespace

Result<std::unique_ptr<Plugin>> NodeName::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<NodeName>();
}

std::span<const std::string_view> NodeName::reasons() const { return kNodeNameReasons; }

PreFilterResult NodeName::pre_filter(Cycle& cycle) const {
  const Symbol node = cycle.pod().node();
  if (node.empty()) return PreFilterResult::success();
  return {Outcome::success(), {node}};
}

void NodeName::filter(const Cycle& cycle, FilterPass& pass) const {
  if (cycle.pod().node().empty()) return;
  const NodeRow wanted = cycle.nodes().find(cycle.pod().node());
  pass.feasible().for_each([&](NodeRow row) {
    if (row != wanted) pass.reject(row, Code::kUnschedulableAndUnresolvable, kOtherNode);
  });
}

std::vector<Obstacle> NodeName::obstacles(const Cycle& cycle, NodeRow row) const {
  const Pod& pod = cycle.pod();
  if (pod.node().empty() || row == cycle.nodes().find(pod.node())) return {};
  const std::string wanted(pod.node_name());
  return {{.code = "OtherNodeName",
           .reason = left_out_sentence(name()),
           .subject = wanted,
           .text = fmt::format("the pod is for node {} alone (spec.nodeName)", wanted),
           .facts = {{"wanted", wanted}}}};
}

std::optional<std::vector<EventRegistration>> NodeName::events_to_register() const {
  return {{{{EventResource::kNode, action::kAdd, {}}, {}}}};
}

Outcome NodeName::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  fragments.push_back({"v1.Pod.Spec.NodeName", std::string(pod.node_name())});
  return Outcome::success();
}

}  // namespace berth::plugins
