#include "plugins/node_ports/node_ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "cluster/host_ports.h"
#include "plugins/event_objects.h"
#include "plugins/obstacles.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kTaken };
constexpr std::string_view kNodePortsReasons[] = {
    "node(s) didn't have free ports for the requested pod ports"};

// What PreFilter leaves for Filter.
struct WantedPorts {
  std::vector<HostPort> ports;
};

// The first pod that has the port; null: none of these.
const Pod* user_of(std::span<const HostPort, 1> port, std::span<const Ref<const Pod>> pods) {
  for (const Ref<const Pod>& pod : pods)
    if (has_host_ports(pod->spec()) && ports_conflict(port, host_ports_of(pod->spec())))
      return pod.get();
  return nullptr;
}

Obstacle taken(const HostPort& port, const Pod* user, const Symbols& symbols) {
  const std::string ip(symbols.text(port.ip)), protocol(symbols.text(port.protocol));
  const bool any_address = port.ip == names::kAnyAddress;
  Obstacle obstacle{
      .code = "HostPortTaken",
      .reason = std::string(kNodePortsReasons[kTaken]),
      .subject = fmt::format("{}{}{}/{}", any_address ? "" : ip, any_address ? "" : ":", port.port,
                             protocol),
      .text = {},
      .facts = {{"port", std::to_string(port.port)}, {"protocol", protocol}, {"hostIP", ip}}};
  obstacle.text = fmt::format("host port {} is taken", obstacle.subject);
  if (user) {
    obstacle.facts["takenBy"] = user->full_name();
    obstacle.text += " by " + user->full_name();
  }
  return obstacle;
}

Result<QueueingHint> after_port_pod_delete(const Pod& pod, const AnyObject& before,
                                           const AnyObject&) {
  Result<const Pod*> found = object_in<Pod>(before);
  if (!found) return fail(found.error());
  const Pod* gone = *found;
  // One that was never going to a node took nothing from it.
  if (!gone || (gone->node().empty() && gone->nominated_node().empty())) return QueueingHint::kSkip;
  return queue_if(ports_conflict(host_ports_of(pod.spec()), host_ports_of(gone->spec())));
}

}  // namespace

Result<std::unique_ptr<Plugin>> NodePorts::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<NodePorts>();
}

std::span<const std::string_view> NodePorts::reasons() const { return kNodePortsReasons; }

PreFilterResult NodePorts::pre_filter(Cycle& cycle) const {
  if (!has_host_ports(cycle.pod().spec())) return PreFilterResult::skip();
  cycle.put(*this, WantedPorts{host_ports_of(cycle.pod().spec())});
  return PreFilterResult::success();
}

void NodePorts::filter(const Cycle& cycle, FilterPass& pass) const {
  const WantedPorts* wanted = cycle.find<WantedPorts>(*this);
  if (!wanted) {
    pass.fail_all({"reading \"PreFilterNodePorts\" from cycleState: not found"});
    return;
  }
  const NodeTable& nodes = cycle.nodes();
  pass.feasible().for_each([&](NodeRow row) {
    if (ports_conflict(wanted->ports, nodes.host_ports(row)))
      pass.reject(row, Code::kUnschedulable, kTaken);
  });
}

std::vector<Obstacle> NodePorts::obstacles(const Cycle& cycle, NodeRow row) const {
  const WantedPorts* wanted = cycle.find<WantedPorts>(*this);
  if (!wanted || row == kNoRow) return {};
  const NodeTable& nodes = cycle.nodes();
  std::vector<Obstacle> all;
  for (const HostPort& port : wanted->ports) {
    if (all.size() == kMostObstacles) break;
    const std::span<const HostPort, 1> one(&port, 1);
    if (ports_conflict(one, nodes.host_ports(row)))
      all.push_back(taken(port, user_of(one, nodes.pods(row)), cycle.symbols()));
  }
  return all;
}

std::optional<std::vector<EventRegistration>> NodePorts::events_to_register() const {
  return {{{{EventResource::kAssignedPod, action::kDelete, {}},
            after_port_pod_delete,
            HintScope::kClass},
           {{EventResource::kNode, action::kAdd, {}}, {}}}};
}

Outcome NodePorts::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  // Parity: ports only, without protocol and address, and those of all init containers.
  std::vector<std::int32_t> ports;
  const auto collect = [&](const std::vector<Container>& containers) {
    for (const Container& container : containers)
      for (const ContainerPort& port : container.ports)
        if (port.host_port != 0) ports.push_back(port.host_port);
  };
  collect(pod.spec().containers);
  collect(pod.spec().init_containers);
  std::ranges::sort(ports);
  const auto repeated = std::ranges::unique(ports);
  ports.erase(repeated.begin(), repeated.end());
  fragments.push_back({"v1.Pod.Spec.HostPorts()", fmt::format("{}", fmt::join(ports, ","))});
  return Outcome::success();
}

}  // namespace berth::plugins
