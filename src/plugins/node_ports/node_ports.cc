#include "plugins/node_ports/node_ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/host_ports.h"
#include "plugins/event_objects.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kTaken };
constexpr std::string_view kNodePortsReasons[] = {
    "node(s) didn't have free ports for the requested pod ports"};

// What PreFilter leaves for Filter.
struct WantedPorts {
  std::vector<HostPort> ports;
};

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
