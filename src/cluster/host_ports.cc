#include "cluster/host_ports.h"

#include <algorithm>

#include "api/names.h"

namespace berth {
namespace {

// Calls `visit(port)` for every port that is opened on the node, until it returns true.
template <typename Visit>
bool any_host_port(const PodSpec& spec, Visit visit) {
  const auto any_in = [&visit](const Container& container) {
    return std::any_of(container.ports.begin(), container.ports.end(),
                       [&visit](const ContainerPort& p) { return p.host_port > 0 && visit(p); });
  };
  for (const Container& container : spec.init_containers)
    if (container.restart_always && any_in(container)) return true;
  return std::any_of(spec.containers.begin(), spec.containers.end(), any_in);
}

}  // namespace

std::vector<HostPort> host_ports_of(const PodSpec& spec) {
  std::vector<HostPort> ports;
  any_host_port(spec, [&ports](const ContainerPort& port) {
    ports.push_back({port.host_ip.empty() ? names::kAnyAddress : port.host_ip,
                     port.protocol.empty() ? names::kTcp : port.protocol, port.host_port});
    return false;
  });
  return ports;
}

bool has_host_ports(const PodSpec& spec) {
  return any_host_port(spec, [](const ContainerPort&) { return true; });
}

void take_host_ports(std::vector<HostPort>& used, const PodSpec& spec) {
  for (const HostPort& port : host_ports_of(spec))
    if (std::find(used.begin(), used.end(), port) == used.end()) used.push_back(port);
}

void free_host_ports(std::vector<HostPort>& used, const PodSpec& spec) {
  for (const HostPort& port : host_ports_of(spec)) std::erase(used, port);
}

}  // namespace berth
