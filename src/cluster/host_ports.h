// Host ports that are in use on a node (core.md §1.4).
#pragma once

#include <span>
#include <vector>

#include "berth/pod.h"
#include "berth/views.h"

namespace berth {

// The host ports that a pod's sidecars and containers take: sorted, each once.
std::vector<HostPort> host_ports_of(const PodSpec& spec);

// Without making a list of them.
bool has_host_ports(const PodSpec& spec);

// `used` is sorted, each port once.
// Parity: a set, without counting users. Of two pods that use the same port (they cannot have been
// scheduled like that, but they can be there) the first to go frees it for both.
void take_host_ports(std::vector<HostPort>& used, const PodSpec& spec);
void free_host_ports(std::vector<HostPort>& used, const PodSpec& spec);

// Whether a port of one list is the same as one of the other; both are sorted.
// Parity: only 0.0.0.0 means all addresses; `::` is one like any other.
bool ports_conflict(std::span<const HostPort> wanted, std::span<const HostPort> used);

}  // namespace berth
