#include "cluster/host_ports.h"

#include <algorithm>
#include <iterator>

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
    ports.push_back({port.host_port, port.protocol.empty() ? names::kTcp : port.protocol,
                     port.host_ip.empty() ? names::kAnyAddress : port.host_ip});
    return false;
  });
  std::ranges::sort(ports);
  const auto repeated = std::ranges::unique(ports);
  ports.erase(repeated.begin(), repeated.end());
  return ports;
}

bool has_host_ports(const PodSpec& spec) {
  return any_host_port(spec, [](const ContainerPort&) { return true; });
}

void take_host_ports(std::vector<HostPort>& used, const PodSpec& spec) {
  if (!has_host_ports(spec)) return;
  std::vector<HostPort> all;
  std::ranges::set_union(used, host_ports_of(spec), std::back_inserter(all));
  used = std::move(all);
}

void free_host_ports(std::vector<HostPort>& used, const PodSpec& spec) {
  if (!has_host_ports(spec)) return;
  std::vector<HostPort> rest;
  std::ranges::set_difference(used, host_ports_of(spec), std::back_inserter(rest));
  used = std::move(rest);
}

bool ports_conflict(std::span<const HostPort> wanted, std::span<const HostPort> used) {
  // For each of the shorter list, where its port would stand in the longer one.
  if (wanted.size() > used.size()) std::swap(wanted, used);
  return std::ranges::any_of(wanted, [used](const HostPort& port) {
    const auto has = [used](const HostPort& other) {
      return std::ranges::binary_search(used, other);
    };
    if (port.ip != names::kAnyAddress)
      return has(port) || has({port.port, port.protocol, names::kAnyAddress});
    const auto first = std::ranges::lower_bound(used, HostPort{port.port, port.protocol, Symbol()});
    return first != used.end() && first->port == port.port && first->protocol == port.protocol;
  });
}

}  // namespace berth
