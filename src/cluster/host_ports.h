// Host ports that are in use on a node (core.md §1.4).
#pragma once

#include <cstdint>
#include <vector>

#include "api/pod.h"

namespace berth {

struct HostPort {
  Symbol ip;        // "0.0.0.0" where the pod names none
  Symbol protocol;  // "TCP" where the pod names none
  std::int32_t port = 0;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// The host ports that a pod takes: of its sidecars, then of its containers.
std::vector<HostPort> host_ports_of(const PodSpec& spec);

// Without making a list of them.
bool has_host_ports(const PodSpec& spec);

// Parity: a set, without counting users. Of two pods that use the same port (they cannot have been
// scheduled like that, but they can be there) the first to go frees it for both.
void take_host_ports(std::vector<HostPort>& used, const PodSpec& spec);
void free_host_ports(std::vector<HostPort>& used, const PodSpec& spec);

}  // namespace berth
